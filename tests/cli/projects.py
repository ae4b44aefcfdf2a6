"""Projects and recorded runs to point commands at: real files, written by the real writer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from reeval.cli.app import app
from reeval.record.compile import write_record
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.observation import CheckStatus
from reeval.schema.plan import (
    Plan,
    PlannedCell,
    PlannedEval,
    PlannedHarness,
    PlannedSandbox,
    Selection,
    plan_data,
    planned_attempts,
)
from reeval.schema.record import SCHEMA_VERSION, AttemptRecord, CheckRecord, Outcome, RunEnd, RunStart, RunState
from reeval.secrets import Masker

CONFIG = """
[harness.scripted]
kind = "fake"
"""
EVAL = """
from reeval import Attempt, evaluate, includes

@evaluate("greets by name")
async def greets(c: Attempt) -> None:
    turn = await c.send("Greet.")
    c.check(turn.message, includes("Done"))
"""


def project(root: Path, **files: str) -> Path:
    """Make a project; a keyword is a file of ``evals``, by its stem."""
    (root / "evals").mkdir(parents=True)
    (root / "reeval.config.toml").write_text(files.pop("config", CONFIG))
    for stem, text in (files or {"greet": EVAL}).items():
        (root / "evals" / f"{stem}.eval.py").write_text(text)
    return root


@dataclass(frozen=True)
class Done:
    """What a command did."""

    exit_code: int
    stdout: str
    stderr: str


def reeval(*arguments: str) -> Done:
    """Run a command in this process, as the shell would."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    return Done(result.exit_code, result.stdout, result.stderr)


def planned(name: str = "greets by name", runs: int = 2, *, file: str = "evals/greet.eval.py") -> PlannedEval:
    return PlannedEval(
        id=f"{file}::{name}",
        file=file,
        path=(name,),
        slug=name.replace(" ", "-"),
        line=1,
        kind="pass-fail",
        mode="run",
        runs=runs,
        cells=(PlannedCell(key="terse/-/fake", harness="terse", environment="-", sandbox="fake"),),
    )


def plan_of(*evals: PlannedEval) -> Plan:
    return Plan(
        kind="pass-fail",
        evals=evals,
        harnesses={"terse": PlannedHarness(id="terse", kind="fake")},
        sandboxes={"fake": PlannedSandbox(id="fake", kind="local", isolated=False)},
        environments={},
        max_concurrent=10,
        selection=Selection(tags=("smoke",)),
    )


def start_of(run_id: str, plan: Plan, **more: Any) -> RunStart:
    return RunStart(
        schema_version=SCHEMA_VERSION,
        run_id=run_id,
        created_at=int(time.time() * 1000),
        created_by="ada",
        project="demo",
        reeval_version="0.1.0",
        python_version="3.11",
        platform="linux",
        host="box",
        pid=1,
        command=["reeval", "run"],
        plan=plan_data(plan),
        **more,
    )


def finished(plan: Plan, *, failing: int | None = 2) -> list[AttemptRecord]:
    """Return a record for every attempt; run number ``failing`` fails."""
    return [
        AttemptRecord(
            eval=one.eval.id,
            attempt=one.id,
            outcome=Outcome.FAIL if one.run == failing else Outcome.PASS,
            started_at=0,
            duration=0.1,
            harness=one.cell.harness,
            sandbox=one.cell.sandbox,
            run=one.run,
            checks=[failed_check()] if one.run == failing else [],
        )
        for one in planned_attempts(plan)
    ]


def failed_check() -> CheckRecord:
    message = "expected text that includes 'Ada'\ngot ''"
    return CheckRecord(
        label="greets Ada", match="includes", status=CheckStatus.MISMATCHED, gate=True, holds=False, message=message
    )


def recorded(root: Path, *evals: PlannedEval, ended: bool = True, compiled: bool = True) -> RunDirectory:
    """Record a run of ``evals``; ``ended=False`` is what a killed process leaves."""
    plan = plan_of(*(evals or (planned(),)))
    with RunStore(root).create(Masker()) as writer:
        run = RunDirectory(writer.directory)
        writer.start(start_of(run.id, plan))
        for record in finished(plan)[: None if ended else -1]:
            writer.attempt(record)
        if ended:
            writer.end(RunEnd(state=RunState.COMPLETED, ended_at=int(time.time() * 1000)))
    if ended and compiled:
        write_record(run)
    return run

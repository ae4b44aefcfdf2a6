"""Records for the tests of this folder: small, whole and easy to vary."""

from __future__ import annotations

from typing import Any

import msgspec

from reeval.record.store import RunDirectory, RunStore
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import Plan, PlannedAttempt, PlannedCell, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import SCHEMA_VERSION, AttemptRecord, CheckRecord, Outcome, RunEnd, RunStart, RunState
from reeval.schema.transcript import ToolCall, Turn
from reeval.secrets import Masker

EVAL = "evals/greet.eval.py::greets by name"


def planned_eval(
    name: str = "greets by name", *, runs: int = 2, harnesses: tuple[str, ...] = ("terse",), **more: Any
) -> PlannedEval:
    cells = tuple(
        PlannedCell(key=f"{harness}/-/fake", harness=harness, environment="-", sandbox="fake") for harness in harnesses
    )
    fields: dict[str, Any] = {
        "id": f"evals/greet.eval.py::{name}",
        "file": "evals/greet.eval.py",
        "path": (name,),
        "slug": f"greet.{name.replace(' ', '-')}",
        "line": 3,
        "kind": "pass-fail",
        "mode": "run",
        "cells": cells,
        "runs": runs,
        "gate": ResolvedGate(rule="all"),
        "task": "task1",
    }
    return PlannedEval(**{**fields, **more})


def plan(*evals: PlannedEval) -> Plan:
    chosen = evals or (planned_eval(),)
    harnesses = {cell.harness for one in chosen for cell in one.cells}
    return Plan(
        kind=chosen[0].kind,
        evals=chosen,
        harnesses={name: PlannedHarness(id=name, kind="fake") for name in harnesses},
        sandboxes={"fake": PlannedSandbox(id="fake", kind="local", isolated=False)},
        environments={},
        max_concurrent=10,
    )


def start(run_id: str, planned: Plan | None = None, **more: Any) -> RunStart:
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "created_at": 1_790_000_000_000,
        "project": "demo",
        "reeval_version": "0.1.0",
        "python_version": "3.11.7",
        "platform": "Linux",
        "host": "here",
        "pid": 1,
        "command": ["reeval", "run"],
        "plan": msgspec.to_builtins(planned or plan()),
    }
    return RunStart(**{**fields, **more})


def check(label: str = "includes 'Hello'", *, holds: bool = True, **more: Any) -> CheckRecord:
    fields: dict[str, Any] = {"match": "includes", "gate": True, "holds": holds, "line": 5}
    return CheckRecord(label=label, status="matched" if holds else "mismatched", **{**fields, **more})


def turn(prompt: str = "Say hello", message: str = "Hello", **more: Any) -> Turn:
    return Turn(prompt=prompt, message=message, started=0.001, duration=0.002, **more)


def attempt(run: int = 1, *, outcome: Outcome = Outcome.PASS, **more: Any) -> AttemptRecord:
    harness = more.get("harness", "terse")
    case = more.get("case")
    cell = f"{harness}/-/fake" + ("" if case is None else f"[{case}]")
    fields: dict[str, Any] = {
        "eval": EVAL,
        "attempt": f"{cell}#{run}",
        "started_at": 1_790_000_000_000 + run,
        "duration": 0.25,
        "harness": "terse",
        "sandbox": "fake",
        "run": run,
        "checks": [check(holds=outcome is Outcome.PASS)],
        "turns": [turn()],
        "task": "task1",
        "subject": "subject1",
    }
    return AttemptRecord(outcome=outcome, **{**fields, **more})


def big_turn(size: int = 100_000) -> Turn:
    return turn(events=(ToolCall(name="shell", input={"command": "cat big"}, output="x" * size, ok=True),))


def planned_attempt(run: int = 1, planned: PlannedEval | None = None) -> PlannedAttempt:
    one = planned or planned_eval()
    return PlannedAttempt(eval=one, cell=one.cells[0], case=one.cases[0] if one.cases else None, run=run)


def record(
    store: RunStore,
    *attempts: AttemptRecord,
    planned: Plan | None = None,
    state: RunState | None = RunState.COMPLETED,
    **head: Any,
) -> RunDirectory:
    """Write a whole run; a ``state`` of None leaves it as a kill would."""
    with store.create(Masker()) as writer:
        writer.start(start(writer.directory.name, planned, **head))
        for one in attempts:
            writer.attempt(one)
        if state is not None:
            writer.end(RunEnd(state=state, ended_at=1_790_000_005_000))
        return RunDirectory(writer.directory)

"""Records to report on, made by hand: small, readable, and hostile where it matters."""

from __future__ import annotations

from typing import Any

from reeval.errors import Phase
from reeval.schema.observation import CheckStatus
from reeval.schema.plan import Plan, PlannedAttempt, PlannedCell, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import (
    SCHEMA_VERSION,
    AttemptEntry,
    AttemptFailure,
    AttemptRecord,
    CellRecord,
    CheckRecord,
    EvalRecord,
    FileRef,
    GateResult,
    Outcome,
    RunRecord,
    RunStart,
    RunState,
    Totals,
)
from reeval.schema.recorded.answers import JudgmentRecord
from reeval.schema.recorded.data import DataRecord
from reeval.schema.transcript import Turn

CREATED = 1_796_048_701_000
"""2026-11-30 14:25:01 UTC."""
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\r| <img src=x onerror=alert(1)> `x` ``` [a](http://evil) @team #1\n# head"
)


def gate(*, holds: bool | None = True, **more: Any) -> GateResult:
    return GateResult(rule=more.pop("rule", "all"), holds=holds, **more)


def cell(key: str = "terse/-/fake", **more: Any) -> CellRecord:
    harness, environment, sandbox = key.split("/")
    more.setdefault("gate", gate())
    more.setdefault("planned", sum(more.get(name, 0) for name in ("passed", "failed", "review", "error", "scored")))
    return CellRecord(key=key, harness=harness, environment=environment, sandbox=sandbox, **more)


def entry(attempt: str = "terse/-/fake#1", outcome: Outcome = Outcome.PASS, **more: Any) -> AttemptEntry:
    return AttemptEntry(attempt=attempt, outcome=outcome, duration=0.34, line=more.pop("line", (0, 0)), **more)


def evaluated(name: str = "greets by name", *cells: CellRecord, **more: Any) -> EvalRecord:
    file = more.pop("file", "evals/greet.eval.py")
    more.setdefault("kind", "pass-fail")
    return EvalRecord(
        id=f"{file}::{name}", file=file, path=(name,), slug=name.replace(" ", "-"), cells=list(cells), **more
    )


def check(label: str = "names the file", holds: bool | None = True, **more: Any) -> CheckRecord:
    more.setdefault("status", CheckStatus.MATCHED if holds else CheckStatus.MISMATCHED)
    more.setdefault("match", "includes")
    return CheckRecord(label=label, gate=more.pop("gate", True), holds=holds, **more)


def attempt(outcome: Outcome = Outcome.PASS, **more: Any) -> AttemptRecord:
    more.setdefault("eval", "evals/greet.eval.py::greets by name")
    more.setdefault("attempt", "terse/-/fake#1")
    return AttemptRecord(
        outcome=outcome,
        started_at=CREATED,
        duration=more.pop("duration", 0.34),
        harness="terse",
        sandbox="fake",
        run=1,
        **more,
    )


def failed_attempt(**more: Any) -> AttemptRecord:
    message = "expected text that includes 'greet.js'\ngot 'Done.'"
    more.setdefault("checks", [check(), check("mentions Ada", holds=False, message=message, line=12)])
    more.setdefault("log", "starting\nasked the agent\n")
    return attempt(Outcome.FAIL, **more)


def errored_attempt(**more: Any) -> AttemptRecord:
    more.setdefault("attempt", "terse/-/fake#2")
    failure = AttemptFailure(reason="npm ci exited with 1", phase=Phase.SETUP, detail="npm ERR! missing: left-pad")
    return attempt(Outcome.ERROR, failure=more.pop("failure", failure), **more)


def run(*evals: EvalRecord, **more: Any) -> RunRecord:
    more.setdefault("state", RunState.COMPLETED)
    more.setdefault("exit_code", 0)
    more.setdefault("kind", "pass-fail")
    more.setdefault("totals", totals(evals))
    return RunRecord(
        schema_version=SCHEMA_VERSION,
        run_id=more.pop("run_id", "20261130-142501-x7f3"),
        created_at=CREATED,
        ended_at=more.pop("ended_at", CREATED + 3200),
        project="demo",
        reeval_version="0.1.0",
        python_version="3.11.7",
        platform="Linux-6.1-x86_64",
        host="box",
        command=["reeval", "run"],
        selection=more.pop("selection", ""),
        evals=list(evals),
        **more,
    )


def totals(evals: tuple[EvalRecord, ...]) -> Totals:
    cells = [cell for planned in evals for cell in planned.cells]
    names = ("planned", "passed", "failed", "review", "error", "skipped", "scored")
    return Totals(**{name: sum(getattr(cell, name) for cell in cells) for name in names})


def start(**more: Any) -> RunStart:
    return RunStart(
        schema_version=SCHEMA_VERSION,
        run_id="20261130-142501-x7f3",
        created_at=CREATED,
        project="demo",
        reeval_version="0.1.0",
        python_version="3.11.7",
        platform="Linux-6.1-x86_64",
        host="box",
        pid=1,
        command=["reeval", "run"],
        plan={},
        **more,
    )


def plan(*evals: PlannedEval) -> Plan:
    return Plan(
        kind="pass-fail",
        evals=evals,
        harnesses={"terse": PlannedHarness(id="terse", kind="fake")},
        sandboxes={"fake": PlannedSandbox(id="fake", kind="local", isolated=False)},
        environments={},
        max_concurrent=10,
    )


def planned(name: str = "greets by name", runs: int = 1, **more: Any) -> PlannedEval:
    more.setdefault("cells", (PlannedCell(key="terse/-/fake", harness="terse", environment="-", sandbox="fake"),))
    file = "evals/greet.eval.py"
    return PlannedEval(
        id=f"{file}::{name}",
        file=file,
        path=(name,),
        slug=name.replace(" ", "-"),
        line=1,
        kind=more.pop("kind", "pass-fail"),
        mode=more.pop("mode", "run"),
        runs=runs,
        **more,
    )


def planned_attempt(name: str = "greets by name", number: int = 1) -> PlannedAttempt:
    one = planned(name)
    return PlannedAttempt(eval=one, cell=one.cells[0], case=None, run=number)


class Reader:
    """A run's directory in memory: attempts by the offset of their line, big parts as given."""

    def __init__(self, *records: AttemptRecord, **parts: Any) -> None:
        self.records = records
        self.parts = parts
        self.read: list[int] = []

    def attempt_at(self, offset: int, length: int) -> AttemptRecord:
        self.read.append(offset)
        return self.records[offset]

    def _part(self, name: str, inline: Any) -> Any:
        return self.parts[name] if isinstance(inline, FileRef) else inline

    def judgments(self, record: AttemptRecord) -> list[JudgmentRecord]:
        return list(self._part("judgments", record.judgments))

    def checks(self, record: AttemptRecord) -> list[CheckRecord]:
        return list(self._part("checks", record.checks))

    def turns(self, record: AttemptRecord) -> list[Turn]:
        return list(self._part("turns", record.turns))

    def data(self, record: AttemptRecord) -> list[DataRecord]:
        return list(self._part("data", record.data))

    def diff(self, record: AttemptRecord) -> str:
        return str(self._part("diff", record.diff))

    def log(self, record: AttemptRecord) -> str:
        return str(self._part("log", record.log))

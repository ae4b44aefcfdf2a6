"""Two runs to compare, made by hand: plans, and attempts that came out as told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reeval.errors import Phase
from reeval.grade.versus.sides import RunFold, RunSide
from reeval.schema.environment import Environment
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import (
    SCHEMA_VERSION,
    AttemptFailure,
    AttemptRecord,
    Outcome,
    RunRecord,
    RunState,
    ScoreState,
    SpenderUsage,
    Totals,
)
from reeval.usage import Usage

EARLIER, LATER = "20261129-142501-aaaa", "20261130-142501-bbbb"
CREATED = 1_796_048_701_000
"""2026-11-30 14:25:01 UTC."""
FILE = "evals/greet.eval.py"
MARKS = {"p": Outcome.PASS, "f": Outcome.FAIL, "r": Outcome.REVIEW, "e": Outcome.ERROR, "s": Outcome.SKIPPED}


def cell(key: str = "terse/-/fake") -> PlannedCell:
    harness, environment, sandbox = key.split("/")
    return PlannedCell(key=key, harness=harness, environment=environment, sandbox=sandbox)


def planned(name: str = "greets", *cells: str, **more: Any) -> PlannedEval:
    more.setdefault("task", "t1")
    more.setdefault("kind", "pass-fail")
    return PlannedEval(
        id=f"{FILE}::{name}",
        file=FILE,
        path=(name,),
        slug=name,
        line=1,
        mode=more.pop("mode", "run"),
        cells=tuple(map(cell, cells or ("terse/-/fake",))),
        **more,
    )


def plan(*evals: PlannedEval, environments: Sequence[Environment] = (), **more: Any) -> Plan:
    cells = [it for one in evals for it in one.cells]
    harnesses = {it.harness: PlannedHarness(id=it.harness, kind="fake") for it in cells}
    sandboxes = {it.sandbox: PlannedSandbox(id=it.sandbox, kind="local", isolated=False) for it in cells}
    return Plan(
        kind=evals[0].kind if evals else "pass-fail",
        evals=evals,
        harnesses=harnesses | more.pop("harnesses", {}),
        sandboxes=sandboxes | more.pop("sandboxes", {}),
        environments={one.name: one for one in environments},
        max_concurrent=10,
        **more,
    )


def record(run_id: str, made: Plan, **more: Any) -> RunRecord:
    values: dict[str, Any] = {
        "state": RunState.COMPLETED,
        "project": "demo",
        "reeval_version": "0.1.0",
        "python_version": "3.11.7",
        "platform": "linux x86_64",
        "host": "box",
        "command": ["reeval", "run"],
        "selection": "",
        "totals": Totals(planned=8, passed=8),
    }
    return RunRecord(
        schema_version=SCHEMA_VERSION,
        run_id=run_id,
        kind=made.kind,
        exit_code=0,
        created_at=CREATED - (86_400_000 if run_id == EARLIER else 0),
        evals=[],
        **(values | more),
    )


Came = Mapping[str, str] | str
"""Cell, or ``CELL[case]`` → a mark for each attempt, run by run; only marks: those of the only cell."""


def attempts(one: PlannedEval, came: Came, **more: Any) -> list[AttemptRecord]:
    """Return the attempts of an eval: ``p`` passed, ``f`` failed, ``r`` to review, ``e`` error, ``s`` skipped."""
    told = {one.cells[0].key: came} if isinstance(came, str) else came
    return [
        attempt(one, key, number, MARKS[mark], **more)
        for key, marks in told.items()
        for number, mark in enumerate(marks, 1)
    ]


def attempt(one: PlannedEval, key: str, number: int, outcome: Outcome, **more: Any) -> AttemptRecord:
    place, _, case = key.partition("[")
    harness, environment, sandbox = place.split("/")
    tokens = more.pop("tokens", None)
    if outcome is Outcome.ERROR:
        more.setdefault("failure", AttemptFailure(reason="broke", phase=Phase.SANDBOX))
    if tokens is not None:
        more["usage"] = [SpenderUsage(spender="agent", usage=Usage(input=tokens + number, output=0))]
    if outcome is Outcome.SCORED:
        more.setdefault("score_state", ScoreState.COMPLETE)
    return AttemptRecord(
        eval=one.id,
        attempt=f"{key}#{number}",
        outcome=outcome,
        started_at=CREATED,
        duration=more.pop("duration", 1.0),
        harness=harness,
        environment=environment,
        sandbox=sandbox,
        case=case.removesuffix("]") or None,
        run=number,
        subject=more.pop("subject", "s1"),
        **more,
    )


def run(run_id: str, made: Plan, *several: list[AttemptRecord], **more: Any) -> RunSide:
    fold = RunFold(made)
    for one in reversed([it for group in several for it in group]):  # attempts end in any order
        fold.add(one, tool_calls=None)
    return fold.run(record(run_id, made, **more))

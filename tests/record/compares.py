"""Recorded compares for tests: a letter is an attempt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reeval.errors import Phase
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.plan import Plan, PlannedCell, PlannedCompare, PlannedEval
from reeval.schema.record import AttemptFailure, AttemptRecord, Outcome, SpenderUsage
from reeval.usage import Usage
from tests.record.samples import attempt, plan, planned_eval, record

COMPARED = "evals/greet.eval.py::greets by name"
OUTCOMES = {
    "p": Outcome.PASS,
    "f": Outcome.FAIL,
    "r": Outcome.REVIEW,
    "e": Outcome.ERROR,
    "b": Outcome.ERROR,
    "s": Outcome.SKIPPED,
}
"""``b`` is an error of the eval's own body."""


def compared_eval(
    name: str = "greets by name",
    *,
    environments: tuple[str, ...] = ("plain", "house"),
    harnesses: tuple[str, ...] = ("terse",),
    runs: int = 4,
    **more: Any,
) -> PlannedEval:
    """Plan a compare whose control is the first environment."""
    cells = tuple(
        PlannedCell(
            key=f"{harness}/{environment}/fake",
            harness=harness,
            environment=environment,
            sandbox="fake",
            role="variant" if number else "control",
        )
        for harness in harnesses
        for number, environment in enumerate(environments)
    )
    compare = PlannedCompare(control=environments[0], variants=environments[1:], gate="variants")
    return planned_eval(name, **{"runs": runs, "cells": cells, "compare": compare, **more})


def compared_plan(*names: str, **more: Any) -> Plan:
    return plan(*(compared_eval(name, **more) for name in names or ("greets by name",)))


def attempts(
    planned: PlannedEval,
    sides: Mapping[str, str],
    *,
    tokens: Mapping[str, int] | None = None,
    subjects: Mapping[str, str] | None = None,
    **more: Any,
) -> Iterator[AttemptRecord]:
    """Make the attempts of an eval.

    ``sides``: environment, or harness/environment → a letter for each run, cases parted by ``|``.
    """
    for cell in planned.cells:
        letters = sides.get(f"{cell.harness}/{cell.environment}", sides.get(cell.environment, ""))
        for case, runs in zip(planned.cases or (None,), letters.split("|"), strict=False):
            for run, letter in enumerate(runs, 1):
                spent = Usage(input=tokens[cell.environment], output=0) if tokens else None
                phase = Phase.BODY if letter == "b" else Phase.SANDBOX
                fields = {
                    "eval": planned.id,
                    "attempt": f"{cell.key}{'' if case is None else f'[{case}]'}#{run}",
                    "outcome": OUTCOMES[letter],
                    "harness": cell.harness,
                    "environment": cell.environment,
                    "role": cell.role,
                    "case": case,
                    "subject": (subjects or {}).get(cell.environment, cell.environment),
                    "usage": [SpenderUsage(spender="agent", usage=spent)] if spent else [],
                    "failure": AttemptFailure(reason="x", phase=phase) if letter in "eb" else None,
                }
                yield attempt(run, **{**fields, **more})


def recorded(
    store: RunStore, sides: Mapping[str, str], *, evals: int = 1, reverse: bool = False, **more: Any
) -> RunDirectory:
    """Record a run of compares with these attempts; ``more`` goes to the plan, and to the attempts what is theirs."""
    names = ["greets by name", *(f"greets {number}" for number in range(2, evals + 1))]
    theirs = {name: more.pop(name) for name in ("tokens", "subjects", "checks", "turns") if name in more}
    environments = tuple(dict.fromkeys(side.rpartition("/")[2] for side in sides))
    planned = compared_plan(*names, **{"environments": environments, **more})
    made = [one for each in planned.evals for one in attempts(each, sides, **theirs)]
    return record(store, *(reversed(made) if reverse else made), planned=planned)

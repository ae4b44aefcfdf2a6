"""Compares to show: lifts of real attempts, as they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from reeval.grade.cells import CellFold, gate_of
from reeval.grade.comparing.recorded import CompareFold, pooled_lifts
from reeval.schema.plan import PlannedEval
from reeval.schema.record import AttemptEntry, AttemptRecord, EvalRecord
from reeval.schema.recorded.lifts import LiftRecord
from tests.record.compares import attempts, compared_eval


def evaluated(sides: Mapping[str, str], **more: Any) -> EvalRecord:
    """Return the eval of these attempts (see ``tests.record.compares``); ``more`` goes to the plan and the attempts."""
    return _folded(*_made(sides, more))


def pooled(sides: Mapping[str, str], evals: int) -> list[LiftRecord]:
    """Return the lifts over several evals with these attempts each."""
    folds = []
    for number in range(evals):
        planned, made = _made(sides, {"name": f"greets {number}"})
        fold = CompareFold(planned)
        for one in made:
            fold.add(one, tool_calls=0)
        folds.append(fold)
    return pooled_lifts(folds, scored=False, seed="run")


def _made(sides: Mapping[str, str], more: dict[str, Any]) -> tuple[PlannedEval, list[AttemptRecord]]:
    theirs = {name: more.pop(name) for name in ("tokens", "subjects", "checks") if name in more}
    environments = tuple(dict.fromkeys(side.rpartition("/")[2] for side in sides))
    planned = compared_eval(**{"environments": environments, **more})
    return planned, list(attempts(planned, sides, **theirs))


def _folded(planned: PlannedEval, made: list[AttemptRecord]) -> EvalRecord:
    cells = {(cell.harness, cell.environment): CellFold() for cell in planned.cells}
    fold = CompareFold(planned)
    for one in made:
        cells[one.harness, one.environment].add(one)
        fold.add(one, tool_calls=len(one.turns))
    count = planned.runs * (len(planned.cases) or 1)
    names = "id file path slug kind runs cases"
    return EvalRecord(
        **{name: getattr(planned, name) for name in names.split()},
        cells=[
            structs.replace(
                cells[cell.harness, cell.environment].record(cell, planned=count, gate=gate_of(planned, cell)),
                duration=None,
            )
            for cell in planned.cells
        ],
        attempts=[AttemptEntry(attempt=one.attempt, outcome=one.outcome, duration=0.3, line=(0, 0)) for one in made],
        lifts=fold.lifts("run", {}),
    )

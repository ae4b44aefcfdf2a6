"""Which lifts are there between two recorded runs? Those of ``--vs``, in the shape in which lifts are drawn."""

from __future__ import annotations

from reeval.grade.versus.results import Versus
from reeval.report.pictures.bars import Titled
from reeval.report.screen.numbers import plural
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["RUNS", "lifts_between"]

RUNS = ("the later run", "the earlier one's")
"""What is subtracted from what."""


def lifts_between(found: Versus) -> list[Titled]:
    """Return the lifts of the later run over the earlier one with what they are about: the pooled ones first."""
    control = f"run {found.earlier.run_id}"
    pooled = [
        (plural(it.lift.evals or 0, "eval"), _record(it.lift, it.cell or "all cells", control)) for it in found.pooled
    ]
    single = [
        (" › ".join(one.path), _record(it.lift, it.place.cell, control)) for one in found.evals for it in one.cells
    ]
    return [*pooled, *single]


def _record(lift: LiftRecord, cell: str, control: str) -> LiftRecord:
    """Return a lift named by its cell: both its sides have one environment."""
    return LiftRecord(
        variant=cell,
        control=control,
        scored=lift.scored,
        lift=lift.lift,
        low=lift.low,
        high=lift.high,
        said=lift.said,
    )

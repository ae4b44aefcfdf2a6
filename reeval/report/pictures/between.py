"""Which lifts are there between two recorded runs? Those of ``--vs``, in the shape in which lifts are drawn."""

from __future__ import annotations

from reeval.grade.compared.lifts import Lift
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
        (plural(it.lift.evals, "eval"), _record(it.lift, it.cell or "all cells", control, scored=found.scored))
        for it in found.pooled
    ]
    single = [
        (" › ".join(one.path), _record(it.lift, it.place.cell, control, scored=found.scored))
        for one in found.evals
        for it in one.cells
    ]
    return [*pooled, *single]


def _record(lift: Lift, cell: str, control: str, *, scored: bool) -> LiftRecord:
    low, high = lift.interval or (None, None)
    return LiftRecord(
        variant=cell, control=control, scored=scored, lift=lift.lift, low=low, high=high, said=lift.said.value
    )

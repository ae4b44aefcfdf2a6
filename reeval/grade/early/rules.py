"""Which rule stops an eval early, and what is a cell's record where it did?"""

from __future__ import annotations

from reeval.grade.cells import CellFold, gate_of
from reeval.grade.early.early import Early
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import CellRecord

__all__ = ["cell_record", "early_of", "fewest_runs"]


def early_of(planned: PlannedEval, *, seed: str) -> Early | None:
    """Return the rule of an eval, with no attempt yet; None: it makes every attempt. ``seed`` is the run's id."""
    if planned.until is None or planned.mode != "run":
        return None
    from reeval.grade.early.decided import Decided
    from reeval.grade.early.majority import Majority

    return Decided(planned, seed=seed) if planned.until == "decided" else Majority(planned)


def fewest_runs(planned: PlannedEval) -> int:
    """Return after how many runs of each cell and case an eval may stop."""
    if planned.until is None:
        return planned.runs
    from reeval.grade.compared.lifts import FEWEST_ATTEMPTS
    from reeval.grade.compared.stopping import looks

    if planned.until == "majority":
        return planned.runs // 2 + 1
    return min(looks(planned.runs, len(planned.cases))) if planned.cases else min(FEWEST_ATTEMPTS, planned.runs)


def cell_record(planned: PlannedEval, cell: PlannedCell, fold: CellFold, early: Early | None) -> CellRecord:
    """Return a cell in which an attempt that need not run is not missing."""
    gate = gate_of(planned, cell)
    if early is None:
        count = (len(planned.cases) or 1) * planned.runs if planned.mode == "run" else 0
        return fold.record(cell, planned=count, gate=gate)
    return fold.record(
        cell,
        planned=early.had_to_run(cell),
        gate=gate,
        spare_errors=early.spare_errors(cell),
        settled=early.gate(cell, gate, body_errors=fold.body_errors),
    )

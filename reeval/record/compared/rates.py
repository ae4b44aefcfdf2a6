"""At what rate did the control of a planned compare pass when it ran last?"""

from __future__ import annotations

from reeval.errors import RecordError
from reeval.record.compile import load_record
from reeval.record.store import RunStore
from reeval.schema.plan import Plan, PlannedEval
from reeval.schema.record import EvalRecord

__all__ = ["control_rates"]

_MOST_RUNS = 20
"""Runs that are looked at, the newest first: a dry run must not read a year of them."""


def control_rates(store: RunStore, plan: Plan) -> dict[str, float]:
    """Return the newest known pass rate of the control of each compare, by eval id; an eval without one is left out.

    A control counts by its environment's name, over all harnesses. Damaged records are passed over.
    """
    wanted = {planned.id: planned for planned in plan.evals if planned.compare and planned.kind == "pass-fail"}
    found: dict[str, float] = {}
    for run in store.list()[:_MOST_RUNS] if wanted else ():
        if len(found) == len(wanted):
            break
        try:
            record = load_record(run)
        except RecordError:
            continue
        for one in record.evals:
            if one.id in wanted and one.id not in found:
                rate = _rate(one, wanted[one.id])
                found |= {} if rate is None else {one.id: rate}
    return found


def _rate(record: EvalRecord, planned: PlannedEval) -> float | None:
    control = planned.compare.control if planned.compare else None
    cells = [cell for cell in record.cells if cell.environment == control]
    decided = sum(cell.decided for cell in cells)
    return sum(cell.passed for cell in cells) / decided if decided else None

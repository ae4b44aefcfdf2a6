"""What does a dry run say of the time and the cost of its plan?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeval.grade.forecast.estimate import Estimate
    from reeval.record.store import RunStore
    from reeval.schema.plan import Plan

__all__ = ["expected_of", "plan_line"]


def expected_of(store: RunStore, plan: Plan, budget: float | None) -> dict[str, str]:
    """Return the lines of the table by their names; there is none when nothing of the plan ran before."""
    from reeval.report.screen.forecast import budget_text, estimate_text

    found = _estimate(store, plan)
    lines = {} if found is None else {"estimate": estimate_text(found)}
    return lines if budget is None else {**lines, "budget": budget_text(budget, found)}


def plan_line(store: RunStore, plan: Plan) -> str:
    """Return the plan as JSON in one line, with an ``estimate`` where there is one."""
    from reeval.schema.plan import encode_plan

    line, found = encode_plan(plan).decode(), _estimate(store, plan)
    if found is None:
        return line
    import json
    from dataclasses import asdict

    return f'{line.removesuffix("}")},"estimate":{json.dumps(asdict(found))}}}'


def _estimate(store: RunStore, plan: Plan) -> Estimate | None:
    if not store.runs.is_dir():
        return None
    from reeval.grade.forecast.estimate import estimate
    from reeval.record.forecast.samples import samples

    return estimate(plan, samples(store, plan))

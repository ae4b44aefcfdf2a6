"""Can this version run a plan, or only show it?"""

from __future__ import annotations

from collections.abc import Iterator

from reeval.plan.parts.problems import LATER
from reeval.schema.plan import Plan, PlannedEval

__all__ = ["not_runnable"]

_SHOWN = 5


def not_runnable(plan: Plan) -> str | None:
    """Return why ``reeval run`` cannot run this plan, naming the evals; None when it can."""
    lines: dict[str, list[str]] = {}
    for planned in plan.evals:
        for what in _later(planned):
            lines.setdefault(what, []).append(f"{planned.file}:{planned.line} {planned.name!r}")
    if not lines:
        return None
    found = "\n".join(f"  {what}: {_some(evals)}" for what, evals in lines.items())
    return f"running what these evals ask for {LATER}; --dry-run shows their plan:\n{found}"


def _later(planned: PlannedEval) -> Iterator[str]:
    if planned.compare:
        yield "compare"
    if planned.questions:
        yield "questions"
    if planned.until:
        yield f"runs = {{{'until_decided' if planned.until == 'decided' else 'best_of'} = …}}"


def _some(evals: list[str]) -> str:
    more = f" and {len(evals) - _SHOWN} more" if len(evals) > _SHOWN else ""
    return ", ".join(evals[:_SHOWN]) + more

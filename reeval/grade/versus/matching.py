"""Where can two runs be compared at all? In the cells that both planned, of the evals whose task is the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reeval.errors import UsageError
from reeval.grade.versus.sides import Place
from reeval.schema.plan import Plan, PlannedEval

__all__ = ["Apart", "Matching", "match"]

_NAMED = 3
"""Evals or cells that an error names; the rest is counted."""


# Such rates lean to what ends a cell: a test for fixed numbers of attempts would claim too much.
_ENDS_EARLY = "its runs end as soon as their results say enough (until_decided, best_of)"


@dataclass(frozen=True, kw_only=True)
class Apart:
    """What is not compared, and why."""

    what: str
    """An eval's id, or ``EVAL@CELL``."""
    why: str


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Which cells two runs share. The earlier run is the control, the later one the variant."""

    evals: tuple[tuple[PlannedEval, tuple[Place, ...]], ...]
    """In the order of the later run."""
    apart: tuple[Apart, ...]


def match(earlier: tuple[str, Plan], later: tuple[str, Plan]) -> Matching:
    """Return what two plans share; each comes with the words that name its run.

    Raises ``UsageError`` when their kinds differ, or when there is nothing to compare: it says what there is.
    """
    (before_name, before), (name, plan) = earlier, later
    if before.kind != plan.kind:
        raise UsageError(
            f"{before_name} is {before.kind} and {name} is {plan.kind}: passes and scores cannot be compared; "
            f"name a {plan.kind} run"
        )
    olds = {planned.id: planned for planned in before.evals if planned.mode == "run"}
    news = {planned.id: planned for planned in plan.evals if planned.mode == "run"}
    found: list[tuple[PlannedEval, tuple[Place, ...]]] = []
    apart = []
    for id, planned in news.items():
        if id not in olds:
            apart.append(Apart(what=id, why=f"only in {name}"))
        elif olds[id].task != planned.task:
            apart.append(Apart(what=id, why="its task changed"))
        elif olds[id].until or planned.until:
            apart.append(Apart(what=id, why=_ENDS_EARLY))
        else:
            places = _places(olds[id]), _places(planned)
            if both := tuple(place for place in places[1] if place in places[0]):
                found.append((planned, both))
            apart += [Apart(what=f"{id}@{it.cell}", why=f"only in {name}") for it in places[1] if it not in both]
            apart += [Apart(what=f"{id}@{it.cell}", why=f"only in {before_name}") for it in places[0] if it not in both]
    apart += [Apart(what=id, why=f"only in {before_name}") for id in olds if id not in news]
    if not found:
        raise UsageError(_nothing((before_name, olds), (name, news)))
    return Matching(evals=tuple(found), apart=tuple(apart))


def _places(planned: PlannedEval) -> list[Place]:
    return [Place.of(planned, cell) for cell in planned.cells]


def _nothing(earlier: tuple[str, dict[str, PlannedEval]], later: tuple[str, dict[str, PlannedEval]]) -> str:
    (before_name, olds), (name, news) = earlier, later
    both = [id for id in news if id in olds]
    if not both:
        there = f"{name} has {_some(news)}; {before_name} has {_some(olds)}"
        return f"{name} and {before_name} have no eval in common: {there}"
    same = [id for id in both if olds[id].task == news[id].task]
    if not same:
        return (
            f"{name} and {before_name} have no task in common: {_some(both)} changed in between, and results of "
            f"different tasks say nothing about the agent; run the earlier agent on today's evals"
        )
    if all(olds[id].until or news[id].until for id in same):
        return (
            f"{name} and {before_name} have only evals in common whose runs end as soon as their results say enough "
            f"(until_decided, best_of): {_some(same)}; compare runs with a fixed number, `--runs N`"
        )
    cells = [sorted({cell.key for id in same for cell in evals[id].cells}) for evals in (news, olds)]
    return (
        f"{name} and {before_name} have no cell in common (harness/environment/sandbox): {name} has "
        f"{_some(cells[0])}; {before_name} has {_some(cells[1])}"
    )


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more if names else "none"

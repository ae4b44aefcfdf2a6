"""How long will a plan take, and what will it cost, if its attempts are as the earlier ones were?

Four of five such sums lie in the range: as a normal distribution has it, by the spread of one attempt and by how well
their mean is known, and within as many times the smallest and the largest that was seen. Of fewer than ``FEW`` earlier
attempts the smallest and the largest are the range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, fsum, hypot, sqrt
from typing import NamedTuple

from reeval.grade.early.rules import fewest_runs
from reeval.schema.plan import Plan, PlannedEval

__all__ = ["FEW", "Asked", "Estimate", "Ran", "Range", "Samples", "estimate"]

FEW = 5
_WIDTH = 1.2816
"""Standard deviations around the mean of a normal distribution that hold four fifths of it."""

Range = tuple[float, float]


@dataclass(kw_only=True)
class Ran:
    """What earlier attempts of an eval with one agent took. Errors and skipped attempts say nothing of it."""

    seconds: list[float] = field(default_factory=list)
    """Setup included."""
    costs: list[float] = field(default_factory=list)
    """Dollars of those of which all is known."""


Asked = dict[tuple[str, bool], list[float]]
"""Eval id and whether it was about pairs → dollars of each answered question."""


_NOTHING = Ran()


@dataclass(kw_only=True)
class Samples:
    """What is known of earlier attempts."""

    ran: Mapping[tuple[str, str], Ran] = field(default_factory=dict)
    """By eval id and harness id; without those of which nothing is known."""
    asked: Asked = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a plan will take, as far as it has run before."""

    seconds: Range
    cost: Range | None
    """Dollars; None: no attempt said what it cost."""
    attempts: int
    """Earlier attempts that this rests on."""
    evals: int
    """Evals of the plan that run."""
    new: int
    """Evals of which some attempts have no history with their agent: those are left out."""
    unpriced: int
    """Evals of which it is not known what some attempts cost: that is left out of the cost."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The attempts of an eval with one agent in one kind of sandbox."""

    fewest: int
    most: int
    harness: str
    sandbox: str
    ran: Ran


class _Spread(NamedTuple):
    """A sum of attempts that are alike: two means, of the fewest and the most, and how far it may be off."""

    fewest: float
    below: float
    most: float
    above: float


def estimate(plan: Plan, samples: Samples) -> Estimate | None:
    """Return what the plan will take; None: nothing of it ran before."""
    running = [planned for planned in plan.evals if planned.attempts]
    parts = {planned.id: list(_parts(planned, samples)) for planned in running}
    known = [part for found in parts.values() for part in found if part.ran.seconds]
    if not known:
        return None
    costs = [_spread(part.ran.costs, part.fewest, part.most) for part in known if part.ran.costs]
    return Estimate(
        seconds=_time(plan, known),
        cost=_sum([*costs, *_questions(running, samples)]) if costs else None,
        attempts=sum(len(ran.seconds) for ran in {id(part.ran): part.ran for part in known}.values()),
        evals=len(running),
        new=sum(any(not part.ran.seconds for part in found) for found in parts.values()),
        unpriced=sum(any(part.ran.seconds and not part.ran.costs for part in found) for found in parts.values()),
    )


def _parts(planned: PlannedEval, samples: Samples) -> Iterator[_Part]:
    cases, cells = len(planned.cases) or 1, Counter((cell.harness, cell.sandbox) for cell in planned.cells)
    for (harness, sandbox), count in cells.items():
        yield _Part(
            fewest=count * cases * fewest_runs(planned),
            most=count * cases * planned.runs,
            harness=harness,
            sandbox=sandbox,
            ran=samples.ran.get((planned.id, harness), _NOTHING),
        )


def _questions(running: Sequence[PlannedEval], samples: Samples) -> Iterator[_Spread]:
    """Yield what the answers will cost. Pairs are planned as if every attempt will pass, so that there may be none."""
    for planned in running:
        for question in planned.questions:
            paired = bool(question.across)
            if costs := samples.asked.get((planned.id, paired)):
                yield _spread(costs, 0 if paired else question.count, question.count)


def _spread(values: Sequence[float], fewest: int, most: int) -> _Spread:
    known = len(values)
    mean, few = fsum(values) / known, known < FEW
    deviation = 0.0 if few else sqrt(fsum((value - mean) ** 2 for value in values) / (known - 1))

    def off(count: int, farthest: float) -> float:
        # What one attempt adds by chance, and what all share since the mean is that of a few.
        width = _WIDTH * deviation * sqrt(count + count * count / known)
        return farthest * count if few else min(width, farthest * count)

    return _Spread(mean * fewest, off(fewest, mean - min(values)), mean * most, off(most, max(values) - mean))


def _sum(spreads: Sequence[_Spread]) -> Range:
    below, above = hypot(*(one.below for one in spreads)), hypot(*(one.above for one in spreads))
    return sum(one.fewest for one in spreads) - below, sum(one.most for one in spreads) + above


def _time(plan: Plan, parts: Sequence[_Part]) -> Range:
    """Return the seconds of all attempts under the limits of the run, its harnesses and its sandboxes."""
    lanes = [
        _lane(parts, plan.max_concurrent),
        *(_lane([one for one in parts if one.harness == it.id], it.max_concurrent) for it in plan.harnesses.values()),
        *(_lane([one for one in parts if one.sandbox == it.id], it.max_concurrent) for it in plan.sandboxes.values()),
    ]
    return max(low for low, _ in lanes), max(high for _, high in lanes)


def _lane(parts: Sequence[_Part], limit: int | None) -> Range:
    """Return the seconds of attempts of which at most ``limit`` run at once, each begun as soon as there is room."""
    if not parts or limit is None:
        return 0.0, 0.0
    low, high = _sum([_spread(part.ran.seconds, part.fewest, part.most) for part in parts])
    count = sum(part.most for part in parts)
    at_once = min(limit, count)
    longest = max(max(part.ran.seconds) for part in parts)
    shortest = max(_sum([_spread(part.ran.seconds, 1, 1)])[0] for part in parts)
    # The last to begin may be the longest; and every round of so many ends within the longest of them.
    latest = min(high / at_once + longest * (1 - 1 / at_once), longest * ceil(count / at_once))
    return max(low / at_once, shortest), max(latest, shortest)

"""Did the variant help? Its pass rate or mean score minus the control's, with what can be said of it.

``helped`` and ``made it worse`` need both: an interval that does not reach 0, and an exact test that rejects at 5 %.
The test holds the error at every number of runs, which an interval alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import fsum
from statistics import fmean

from reeval.grade.calibration.intervals import Interval
from reeval.grade.compared.boschloo import LEVEL, boschloo
from reeval.grade.compared.estimates import newcombe, welch
from reeval.grade.compared.resampling import Null, case_interval, flips, relabelings, two_sided

__all__ = [
    "FEWEST_ATTEMPTS",
    "FEWEST_CASES",
    "CaseDifference",
    "Difference",
    "Doubt",
    "Lift",
    "Part",
    "Said",
    "Side",
    "case_differences",
    "has_cases",
    "judged",
    "lift",
    "nothing",
    "of_cases",
    "part_of",
]

FEWEST_ATTEMPTS = 4
"""Decided attempts on each side."""
FEWEST_CASES = 6
"""With fewer, no way in which their signs can fall is rarer than 5 %."""


class Said(StrEnum):
    """What a lift is called."""

    HELPED = "helped"
    WORSE = "made it worse"
    OPEN = "can't tell yet"


class Doubt(StrEnum):
    """Why it cannot be told yet."""

    NOTHING = "nothing decided"
    ATTEMPTS = "few attempts"
    CASES = "few cases"
    BODY_ERRORS = "body errors"
    EARLY = "stopped early"
    """Over compares that were added to until they were decided; each of them is told alone."""
    CHANCE = "chance"
    """The difference may be chance."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """The decided attempts of one side: passes (True, False) or scores, those of each case in the order of the plan."""

    attempts: Mapping[str | None, Sequence[float]]
    """By case; an eval without cases has the one key None."""
    body_errors: bool = False
    """Whether an attempt ended in an error of the eval's own code, which may depend on what the agent did."""

    @property
    def decided(self) -> int:
        """How many attempts there are."""
        return sum(map(len, self.attempts.values()))

    @property
    def mean(self) -> float | None:
        """The pass rate or mean score of all attempts; None without any."""
        values = [value for several in self.attempts.values() for value in several]
        return fmean(values) if values else None


@dataclass(frozen=True, kw_only=True)
class Lift:
    """The variant's pass rate or mean score minus the control's."""

    lift: float | None
    """Points, -1 to 1, or points of the score. With cases the mean of theirs; of several evals the mean of theirs."""
    interval: Interval | None
    """95 %; None where a side has nothing decided, or where scores have no spread to judge by."""
    p: float | None
    """Two-sided, of the exact test."""
    said: Said
    doubt: Doubt | None
    """None: it can be told."""
    decided: tuple[int, int]
    """Attempts of the control and of the variant that count."""
    cases: int | None = None
    """With a decided attempt on both sides; None: no cases."""
    evals: int = 1
    """With a lift of their own, over which this one is pooled."""


@dataclass(frozen=True, kw_only=True)
class CaseDifference:
    """Both sides of one case."""

    control: float
    """Mean of all its attempts, as of the variant."""
    variant: float
    even: Fraction | float
    """Variant minus control of equally many attempts a side, the first ones: only these may be swapped."""
    decided: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What is known of a variant minus its control before it is judged."""

    difference: float
    interval: Interval | None
    tested: float
    """The difference as the test sees it."""
    decided: tuple[int, int]
    cases: int | None = None


@dataclass(frozen=True, kw_only=True)
class Part(Difference):
    """The difference of one eval, with what chance alone would make of it."""

    null: Null


def lift(control: Side, variant: Side, *, scored: bool = False, seed: str, level: float = LEVEL) -> Lift:
    """Return the lift of one eval on one harness; ``seed`` is the run's id.

    Passes without cases are tested by Boschloo's test, with cases by flipping the signs of theirs; scores without cases
    by exchanging attempts between the sides. A ``level`` below 5 % widens the interval of cases as well.
    """
    part = part_of(control, variant, scored=scored, seed=seed, level=level)
    if part is None:
        return nothing(control.decided, variant.decided)
    if scored or part.cases is not None:
        p = two_sided(part.tested, [(1.0, part.null)], seed=seed, size=sum(part.decided))
    else:
        passes = [int(sum(side.attempts[None])) for side in (control, variant)]
        p = boschloo((passes[0], part.decided[0]), (passes[1], part.decided[1]))
    doubt = _doubt(part, body_errors=control.body_errors or variant.body_errors)
    said, doubt = judged(part, p, doubt, level)
    return Lift(
        lift=part.difference,
        interval=part.interval,
        p=p,
        said=said,
        doubt=doubt,
        decided=part.decided,
        cases=part.cases,
    )


def nothing(control: int, variant: int) -> Lift:
    """Return the lift of sides that cannot be compared, having so many decided attempts."""
    return Lift(lift=None, interval=None, p=None, said=Said.OPEN, doubt=Doubt.NOTHING, decided=(control, variant))


def judged(part: Difference, p: float, doubt: Doubt | None, level: float = LEVEL) -> tuple[Said, Doubt | None]:
    """Return what is said of a difference that ``doubt`` does not already leave open.

    Without an interval (scores that do not vary) the test alone decides.
    """
    if doubt is None and p <= level:
        low, high = part.interval or (part.difference, part.difference)
        if low > 0 and part.tested > 0:
            return Said.HELPED, None
        if high < 0 and part.tested < 0:
            return Said.WORSE, None
    return Said.OPEN, doubt or Doubt.CHANCE


def _doubt(part: Part, *, body_errors: bool) -> Doubt | None:
    if body_errors:
        return Doubt.BODY_ERRORS
    if part.cases is not None and part.cases < FEWEST_CASES:
        return Doubt.CASES
    return Doubt.ATTEMPTS if min(part.decided) < FEWEST_ATTEMPTS else None


def part_of(control: Side, variant: Side, *, scored: bool, seed: str, level: float = LEVEL) -> Part | None:
    """Return the difference of two sides; None where nothing was decided on one of them, or in no case on both."""
    if has_cases(control) or has_cases(variant):
        return of_cases(case_differences(control, variant, scored=scored), scored=scored, seed=seed, level=level)
    values, others = control.attempts.get(None, ()), variant.attempts.get(None, ())
    if not values or not others:
        return None
    difference = fmean(others) - fmean(values)
    return Part(
        difference=difference,
        interval=welch(values, others).interval if scored else newcombe(*map(_passes, (values, others))),
        tested=difference,
        null=relabelings(values, others),
        decided=(len(values), len(others)),
    )


def has_cases(side: Side) -> bool:
    """Say whether a side's attempts belong to cases."""
    return any(case is not None for case in side.attempts)


def _passes(values: Sequence[float]) -> tuple[float, int]:
    return sum(values), len(values)


def case_differences(control: Side, variant: Side, *, scored: bool) -> dict[str | None, CaseDifference]:
    """Return both sides of each case that has a decided attempt on both."""
    found: dict[str | None, CaseDifference] = {}
    for case, values in control.attempts.items():
        others = variant.attempts.get(case, ())
        even = min(len(values), len(others))
        if even:
            # Swapping sides is fair only between equally many attempts: of 1 and of 100, the one is the extreme.
            gain = fsum(others[:even]) - fsum(values[:even])
            found[case] = CaseDifference(
                control=fmean(values),
                variant=fmean(others),
                even=gain / even if scored else Fraction(round(gain), even),
                decided=(len(values), len(others)),
            )
    return found


def of_cases(
    differences: Mapping[str | None, CaseDifference], *, scored: bool, seed: str, level: float = LEVEL
) -> Part | None:
    """Return the mean difference of cases; each counts once, however many attempts it has. None without any."""
    cases = list(differences.values())
    if not cases:
        return None
    count = len(cases)
    rates = fmean(case.control for case in cases), fmean(case.variant for case in cases)
    interval = case_interval([case.variant - case.control for case in cases], seed=seed, level=level)
    if interval is None and not scored:
        # All cases differ alike, and so leave no spread to draw from: as if each were one attempt a side.
        interval = newcombe((rates[0] * count, count), (rates[1] * count, count))
    even = [case.even for case in cases]
    return Part(
        difference=rates[1] - rates[0],
        interval=interval,
        tested=float(sum(even)) / count,
        null=flips(even),
        decided=(sum(case.decided[0] for case in cases), sum(case.decided[1] for case in cases)),
        cases=count,
    )

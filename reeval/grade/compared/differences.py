"""In what else do two sides differ, and in what not? Tokens, cost, duration, turns, tool calls; single checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import comb, erfc, sqrt
from statistics import median

from reeval.grade.calibration.figures import ranks
from reeval.grade.compared.boschloo import LEVEL
from reeval.grade.compared.lifts import FEWEST_ATTEMPTS, FEWEST_CASES
from reeval.grade.compared.resampling import flips, two_sided

__all__ = ["Change", "Counted", "Measured", "mann_whitney", "measured", "without_difference"]

_MOST_EXACT = 40
"""Values of both sides: up to here every way to share the ranks is counted."""

Values = Mapping[str | None, Sequence[float]]
"""The known values of one side, of each case in the order of the plan; without cases all at None."""


class Change(StrEnum):
    """What a measure is called."""

    LESS = "less"
    MORE = "more"
    OPEN = "can't tell yet"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The variant's measure against the control's."""

    control: float | None
    """Median; with cases the median of theirs."""
    variant: float | None
    difference: float | None
    """Variant minus control: of the medians; with cases the median of their differences."""
    relative: float | None
    """The difference as a share of the control; None where that is 0."""
    p: float | None
    """Two-sided, of the rank test."""
    said: Change


@dataclass(frozen=True, kw_only=True)
class Counted:
    """How often a check was evaluated on one side, and how often it held."""

    held: int
    evaluated: int


def without_difference(checks: Mapping[str, Iterable[Counted]]) -> list[str]:
    """Return the checks that hold, or fail, on every attempt of all sides: they tell no side from another.

    A check that some side never evaluated is not among them.
    """
    return [label for label, sides in checks.items() if _alike(list(sides))]


def _alike(sides: Sequence[Counted]) -> bool:
    if len(sides) < 2 or not all(side.evaluated for side in sides):
        return False
    return all(side.held == side.evaluated for side in sides) or not any(side.held for side in sides)


def measured(control: Values, variant: Values, *, seed: str) -> Measured:
    """Return how a measure changed; values that are not known are left out of both sides.

    Without cases by Mann and Whitney's test; with cases by Wilcoxon's signed ranks of their differences, since attempts
    of one case depend on each other. At least 4 values a side, and 6 cases.
    """
    cases = any(case is not None for case in (*control, *variant))
    return _by_case(control, variant, seed) if cases else _plain(control.get(None, ()), variant.get(None, ()))


def _plain(control: Sequence[float], variant: Sequence[float]) -> Measured:
    middles = _median(control), _median(variant)
    if middles[0] is None or middles[1] is None:
        return _change(middles, None, None, enough=False)
    p = mann_whitney(control, variant)
    # The sign of the ranks, which is what the test looks at; the medians may well agree.
    summed = Fraction(sum(ranks([*control, *variant])[len(control) :]))
    wins = summed - Fraction(len(variant) * (len(control) + len(variant) + 1), 2)
    enough = min(len(control), len(variant)) >= FEWEST_ATTEMPTS
    return _change(middles, middles[1] - middles[0], p, enough=enough, sign=wins)


def _by_case(control: Values, variant: Values, seed: str) -> Measured:
    both = [(values, variant[case]) for case, values in control.items() if values and variant.get(case)]
    if not both:
        flat = [[value for several in side.values() for value in several] for side in (control, variant)]
        return _change((_median(flat[0]), _median(flat[1])), None, None, enough=False)
    middles = tuple(median(median(pair[side]) for pair in both) for side in (0, 1))
    even = [min(map(len, pair)) for pair in both]
    gains = [median(b[:count]) - median(a[:count]) for (a, b), count in zip(both, even, strict=True)]
    signed = [
        Fraction(rank) * ((gain > 0) - (gain < 0))
        for rank, gain in zip(ranks([abs(gain) for gain in gains]), gains, strict=True)
    ]
    p = two_sided(float(sum(signed) / len(signed)), [(1.0, flips(signed))], seed=seed)
    difference = median(median(b) - median(a) for a, b in both)
    enough = len(both) >= FEWEST_CASES and sum(even) >= FEWEST_ATTEMPTS
    return _change((middles[0], middles[1]), difference, p, enough=enough, sign=sum(signed))


def _change(
    middles: tuple[float | None, float | None],
    difference: float | None,
    p: float | None,
    *,
    enough: bool,
    sign: Fraction | int = 0,
) -> Measured:
    said = Change.OPEN
    if enough and p is not None and p <= LEVEL and difference is not None and difference * sign > 0:
        said = Change.MORE if sign > 0 else Change.LESS
    relative = difference / middles[0] if difference is not None and middles[0] else None
    return Measured(control=middles[0], variant=middles[1], difference=difference, relative=relative, p=p, said=said)


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def mann_whitney(control: Sequence[float], variant: Sequence[float]) -> float:
    """Return the two-sided p that values of one side tend to be larger; 1 where a side has none.

    Up to 40 values exact, ties included: all ways to share the ranks are counted. Above by the normal approximation
    with the corrections for ties and continuity. Source: Mann and Whitney, "On a test of whether one of two random
    variables is stochastically larger than the other", 1947; ties as in Lehmann, "Nonparametrics", 1975, section 1.4.
    """
    if not control or not variant:
        return 1.0
    doubled = [int(2 * rank) for rank in ranks([*control, *variant])]
    size, total = len(control), len(doubled)
    observed = sum(doubled[:size])
    if total <= _MOST_EXACT:
        return _exact_p(doubled, size, observed)
    spread = sum(rank**2 for rank in doubled) / total - (total + 1) ** 2  # of doubled ranks, whose mean is total + 1
    if not spread:
        return 1.0
    deviation = sqrt(spread * size * (total - size) / (total - 1))
    away = max(0.0, abs(observed - size * (total + 1)) - 1)  # half a rank
    return erfc(away / deviation / sqrt(2))


def _exact_p(places: Sequence[int], size: int, observed: int) -> float:
    """Return twice the smaller tail of the sums of ``size`` of these doubled ranks."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for rank in places:
        for taken in range(size, 0, -1):  # downwards, so that no rank is taken twice
            into = ways[taken]
            for value, count in ways[taken - 1].items():
                into[value + rank] = into.get(value + rank, 0) + count
    tails = [
        sum(count for value, count in ways[size].items() if value <= observed),
        sum(count for value, count in ways[size].items() if value >= observed),
    ]
    return min(1.0, 2 * min(tails) / comb(len(places), size))

"""What do the attempts of one side say of its rate, and those of two of their difference? Figures and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt
from statistics import fmean, variance

from reeval.grade.calibration.intervals import Interval, wilson

__all__ = ["Rate", "Welch", "combined", "newcombe", "pass_at", "pass_hat", "rate", "welch"]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How many of the decided attempts passed; errors and skips are left out of both numbers."""

    passed: int
    decided: int
    value: float | None
    """0–1; None: nothing was decided."""
    interval: Interval | None
    """Wilson, 95 %."""


@dataclass(frozen=True, kw_only=True)
class Welch:
    """The difference of two means whose spreads may differ."""

    difference: float
    interval: Interval | None
    """95 %; None: too few values, or no spread at all."""
    p: float | None
    """Two-sided."""


def rate(passed: int, decided: int) -> Rate:
    """Return the pass rate of one side with its interval."""
    value = passed / decided if decided else None
    return Rate(passed=passed, decided=decided, value=value, interval=wilson(passed, decided))


def pass_at(k: int, passed: int, decided: int) -> float | None:
    """Return pass@k, the chance that at least one of ``k`` attempts passes; None with fewer than ``k`` attempts.

    Unbiased. Source: Chen et al., "Evaluating large language models trained on code", 2021, section 2.1.
    """
    return 1 - comb(decided - passed, k) / comb(decided, k) if 1 <= k <= decided else None


def pass_hat(k: int, passed: int, decided: int) -> float | None:
    """Return pass^k, the chance that all of ``k`` attempts pass; None with fewer than ``k`` attempts.

    Unbiased. Source: Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains", 2024.
    """
    return comb(passed, k) / comb(decided, k) if 1 <= k <= decided else None


def newcombe(control: tuple[float, int], variant: tuple[float, int]) -> Interval | None:
    """Return the 95 % interval of the variant's rate minus the control's; each is (passed, decided).

    None where a side has nothing decided. Source: Newcombe, "Interval estimation for the difference between independent
    proportions: comparison of eleven methods", 1998, method 10.
    """
    sides = wilson(*control), wilson(*variant)
    if sides[0] is None or sides[1] is None:
        return None
    shares = control[0] / control[1], variant[0] / variant[1]
    return combined([(-1, shares[0], sides[0]), (1, shares[1], sides[1])])


def combined(parts: Sequence[tuple[float, float, Interval]]) -> Interval:
    """Return the interval of a weighted sum of independent figures; a part is (weight, figure, its interval).

    The squares of how far each figure is from its end are added. Source: Zou and Donner, "Construction of confidence
    limits about effect measures: a general approach", 2008 (MOVER); with the weights -1 and 1 it is Newcombe's.
    """
    middle = fsum(weight * figure for weight, figure, _ in parts)
    low = fsum((weight * (figure - interval[weight < 0])) ** 2 for weight, figure, interval in parts)
    high = fsum((weight * (interval[weight > 0] - figure)) ** 2 for weight, figure, interval in parts)
    return middle - sqrt(low), middle + sqrt(high)


def welch(control: Sequence[float], variant: Sequence[float]) -> Welch:
    """Return the variant's mean minus the control's; both sides need a value, and two for an interval.

    Source: Welch, "The generalization of 'Student's' problem when several different population variances are involved",
    1947, with Satterthwaite's degrees of freedom.
    """
    difference = fmean(variant) - fmean(control)
    if min(len(control), len(variant)) < 2:
        return Welch(difference=difference, interval=None, p=None)
    parts = [variance(values) / len(values) for values in (control, variant)]
    error = sqrt(sum(parts))
    if not error:
        return Welch(difference=difference, interval=None, p=None)
    from scipy.special import stdtr, stdtrit

    # Shares of the sum, so that no spread is so small that its square is 0.
    shares = [part / sum(parts) for part in parts]
    freedom = 1 / sum(share**2 / (len(values) - 1) for share, values in zip(shares, (control, variant), strict=True))
    reach = float(stdtrit(freedom, 0.975)) * error
    p = 2 * float(stdtr(freedom, -abs(difference) / error))
    return Welch(difference=difference, interval=(difference - reach, difference + reach), p=p)

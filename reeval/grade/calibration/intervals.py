"""How sure is a figure that comes from so few examples? 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from random import Random
from statistics import NormalDist, quantiles
from typing import TypeVar

__all__ = ["Interval", "bootstrap", "wilson"]

T = TypeVar("T")
Interval = tuple[float, float]
"""Lower and upper end."""

_Z = NormalDist().inv_cdf(0.975)
_RESAMPLES = 2000
_MOST_WORK = 2_000_000
"""Examples times resamples: with very many examples fewer resamples do, and time stays bounded."""
_FEWEST = 200
_DEFINED = 0.9
"""The share of resamples that must have the figure."""


def wilson(successes: float, total: int) -> Interval | None:
    """Return the score interval of a share; None of nothing. ``successes`` may be a mean times ``total``.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not total:
        return None
    share, square = successes / total, _Z**2
    middle = share + square / (2 * total)
    reach = _Z * sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    # At the ends of the range rounding would leave something like 1e-17 where the formula says 0.
    low = (middle - reach) / scale if successes else 0.0
    high = (middle + reach) / scale if successes < total else 1.0
    return low, high


def bootstrap(
    pairs: Sequence[T], figures: Sequence[Callable[[Sequence[T]], float | None]], *, seed: int = 0
) -> list[Interval | None]:
    """Return the percentile interval of each figure of ``pairs``, all from the same resamples.

    Unknown (None) where more than a tenth of the resamples do not have the figure, and where all of them agree on it:
    an interval without width would claim a certainty that a few equal examples do not give.
    Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
    """
    found: list[list[float]] = [[] for _ in figures]
    times = max(_FEWEST, min(_RESAMPLES, _MOST_WORK // max(1, len(pairs))))
    random = Random(seed)  # noqa: S311 - resampling is no secret, and the same file gives the same interval
    for _ in range(times if pairs else 0):
        drawn = random.choices(pairs, k=len(pairs))
        for values, figure in zip(found, figures, strict=True):
            value = figure(drawn)
            if value is not None:
                values.append(value)
    return [_percentiles(values, times) for values in found]


def _percentiles(values: Sequence[float], times: int) -> Interval | None:
    if len(values) < _DEFINED * times:
        return None
    cuts = quantiles(values, n=40, method="inclusive")
    low, high = cuts[0], cuts[-1]
    return (low, high) if low < high else None

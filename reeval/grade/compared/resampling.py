"""How large is a difference by chance alone, and how sure is one that comes from a few cases?

Where two sides do not differ, swapping them changes nothing but the sign of a case's difference, and exchanging their
attempts only noise. A ``Null`` is what such swaps make of a difference: in full where that can be counted, else drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from hashlib import sha256
from itertools import combinations
from math import comb, lcm
from typing import TYPE_CHECKING, Any

from reeval.grade.calibration.intervals import Interval

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import NDArray

__all__ = ["Null", "case_interval", "flips", "relabelings", "two_sided"]

_DRAWS = 9_999
_FEWEST_DRAWS = 1_999
_RESAMPLES = 5_000
_FEWEST_RESAMPLES = 1_000
_MOST_WORK = 5_000_000
"""Numbers drawn, and held at once: with very many attempts fewer draws do, and time and memory stay bounded."""
_MOST_SUMS = 100_000
_MOST_SWAPS = 20_000
_MOST_SUMMED = 200_000
"""Sums of two parts: with evals of all sizes they soon are as many as their products."""
_DIGITS = 9
"""Differences that agree to so many places are one: rounding must not order what is equal."""


@dataclass(frozen=True, eq=False)
class Null:
    """The differences that chance alone makes."""

    draw: Callable[[RandomState, int], NDArray[Any]]
    """So many of them."""
    exact: tuple[NDArray[Any], NDArray[Any]] | None = None
    """All of them with their probabilities; None: too many."""


def flips(differences: Sequence[Fraction | float]) -> Null:
    """Return the means of differences whose signs are chance: those of cases, each measured on both sides.

    Fractions are counted in full by their sums, other numbers up to 14 of them. Source: Fisher, "The design of
    experiments", 1935, section 21.
    """
    import numpy as np

    values = np.array([float(value) for value in differences])

    def draw(random: RandomState, times: int) -> NDArray[Any]:
        signs = random.randint(0, 2, size=(times, len(values))) * 2 - 1
        return np.asarray(signs @ values / len(values))

    return Null(draw=draw, exact=_counted(differences) or _listed(values))


def _counted(differences: Sequence[Fraction | float]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    import numpy as np

    fractions = [value for value in differences if isinstance(value, Fraction)]
    if len(fractions) < len(differences):
        return None
    scale = reduce(lcm, (value.denominator for value in fractions), 1)
    steps = [int(abs(value) * scale) for value in fractions if value]
    total = sum(steps)
    if total > _MOST_SUMS or total * len(steps) > 10 * _MOST_WORK:
        return None
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for step in steps:
        chances[step:] = (chances[step:] + chances[:-step]) / 2
        chances[:step] /= 2
    return (2.0 * np.arange(total + 1) - total) / (scale * len(differences)), chances


def _listed(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    import numpy as np

    if 2 ** len(values) > _MOST_SWAPS:
        return None
    signs = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) % 2 * 2 - 1
    return signs @ values / len(values), np.full(len(signs), 1 / len(signs))


def relabelings(control: Sequence[float], variant: Sequence[float]) -> Null:
    """Return the differences of the means when it is chance which attempt ran on which side.

    Passes alone make it the hypergeometric of Fisher's exact test. Source: Pitman, "Significance tests which may be
    applied to samples from any populations", 1937.
    """
    import numpy as np

    values = np.array([*control, *variant], dtype=float)
    total, size, others = values.sum(), len(variant), len(control)

    def differences(sums: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(sums / size - (total - sums) / others)

    def draw(random: RandomState, times: int) -> NDArray[Any]:
        if passes is not None:
            return differences(random.hypergeometric(passes, len(values) - passes, size, times))
        places = random.random_sample((times, len(values))).argpartition(size - 1, axis=1)[:, :size]
        return differences(values[places].sum(axis=1))

    passes = int(total) if set(values.tolist()) <= {0.0, 1.0} else None
    if passes is not None:
        counts = range(max(0, passes - others), min(size, passes) + 1)
        ways = [comb(size, count) * comb(others, passes - count) for count in counts]
        chances = np.array([way / comb(len(values), passes) for way in ways])
        return Null(draw=draw, exact=(differences(np.array(counts)), chances))
    if comb(len(values), size) > _MOST_SWAPS:
        return Null(draw=draw)
    chosen = _choices(len(values), size)
    return Null(draw=draw, exact=(differences(values[chosen].sum(axis=1)), np.full(len(chosen), 1 / len(chosen))))


@lru_cache(maxsize=16)
def _choices(total: int, size: int) -> NDArray[Any]:
    import numpy as np

    return np.array(list(combinations(range(total), size)))


def two_sided(observed: float, parts: Sequence[tuple[float, Null]], *, seed: str, size: int = 1) -> float:
    """Return the p of a weighted sum of independent differences; a part is (weight, what chance makes of it).

    Twice the smaller tail, 1 at most. What cannot be counted in full is drawn, and the observed one counts as a draw:
    no p is 0, and the error stays what it claims to be. ``size`` is the number of attempts. Source: Phipson and Smyth,
    "Permutation p-values should never be zero", 2010.
    """
    import numpy as np

    whole = _summed(parts)
    if whole is not None:
        values, chances = whole
        at = round(observed, _DIGITS)
        tails = chances[values >= at].sum(), chances[values <= at].sum()
        return min(1.0, 2 * float(min(tails)))
    random = _random(seed)
    times = max(_FEWEST_DRAWS, min(_DRAWS, _MOST_WORK // max(1, size)))
    sums = [
        np.sum([weight * null.draw(random, rows) for weight, null in parts], axis=0) for rows in _portions(times, size)
    ]
    drawn = np.round(np.concatenate(sums), _DIGITS)
    at = round(observed, _DIGITS)
    counts = int((drawn >= at).sum()), int((drawn <= at).sum())
    return min(1.0, 2 * (1 + min(counts)) / (1 + times))


def _summed(parts: Sequence[tuple[float, Null]]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    import numpy as np

    values: NDArray[Any] = np.zeros(1)
    chances: NDArray[Any] = np.ones(1)
    for weight, null in parts:
        if null.exact is None or len(values) * len(null.exact[0]) > _MOST_SUMMED:
            return None
        sums = np.round(np.add.outer(values, weight * null.exact[0]).ravel(), _DIGITS)
        values, places = np.unique(sums, return_inverse=True)
        chances = np.bincount(places, weights=np.multiply.outer(chances, null.exact[1]).ravel())
    return values, chances


def case_interval(differences: Sequence[float], *, seed: str, level: float = 0.05) -> Interval | None:
    """Return the interval of the mean difference of cases, each drawn whole; None where all differ alike.

    A percentile bootstrap of few cases is too narrow, so its ends are moved out to where Student's t puts them.
    Source: Hesterberg, "What teachers should know about the bootstrap", 2015, section 4 (expanded percentile interval).
    """
    import numpy as np
    from scipy.special import ndtr, stdtrit

    count = len(differences)
    if len({round(value, _DIGITS) for value in differences}) < 2:
        return None
    times = max(_FEWEST_RESAMPLES, min(_RESAMPLES, _MOST_WORK // count))
    values = np.array(differences, dtype=float)
    random = _random(seed)
    means = np.concatenate(
        [values[random.randint(0, count, size=(rows, count))].mean(axis=1) for rows in _portions(times, count)]
    )
    outside = float(ndtr(stdtrit(count - 1, level / 2) * (count / (count - 1)) ** 0.5))
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)


def _portions(times: int, width: int) -> list[int]:
    """Return how many rows of ``width`` numbers to draw at once, ``times`` in all."""
    rows = max(1, _MOST_WORK // max(1, width))
    return [min(rows, times - begin) for begin in range(0, times, rows)]


def _random(seed: str) -> RandomState:
    """Return a generator whose numbers never change with the version of numpy: a run keeps its intervals."""
    import numpy as np

    return np.random.RandomState(int.from_bytes(sha256(seed.encode()).digest()[:4]))

"""Could two sides with these passes have one rate? Boschloo's exact test, and which results it can tell apart at all.

The test orders all results of two sides by the tail of Fisher's test, and asks how often a result at least as extreme
comes up, whatever the rate that both have. Two-sided is twice the smaller one-sided probability, so each direction is
claimed wrongly in at most 2.5 %. Source: Boschloo, "Raised conditional level of significance for the 2x2-table when
testing the equality of two probabilities", 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import lgamma
from typing import TYPE_CHECKING, Any

from reeval.grade.calibration.intervals import wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LEVEL", "boschloo", "helped_region"]

LEVEL = 0.05
"""Two-sided."""

_MOST_RESULTS = 250_000
"""Above this many possible results Fisher's own p is returned: never smaller, and by then hardly larger."""
_SAME = 1 + 1e-9
"""Tails that differ by less are one: rounding must not order what is equal."""


@dataclass(frozen=True, eq=False)
class _Results:
    """All results of two sides, without any data: rows are the control's passes, columns the variant's."""

    tails: NDArray[Any]
    """Fisher's one-sided p that the variant is better."""
    rates: NDArray[Any]
    """Angles whose squared sine is a rate: on this scale every rate is equally well told."""
    control: NDArray[Any]
    """Angle × passes → probability."""
    variant: NDArray[Any]
    """Angle × passes → probability of at least as many."""


@lru_cache(maxsize=4096)
def boschloo(control: tuple[int, int], variant: tuple[int, int]) -> float:
    """Return the two-sided p of (passed, decided) on both sides; 1 where a side has nothing decided."""
    (x, m), (y, n) = control, variant
    if not m or not n:
        return 1.0
    if (m + 1) * (n + 1) > _MOST_RESULTS:
        return min(1.0, 2 * min(_fisher(x, m, y, n), _fisher(m - x, m, n - y, n)))
    results = _results(m, n)
    tails = results.tails[x, y], results.tails[m - x, n - y]
    return min(1.0, 2 * _chance(results, float(min(tails))))


@lru_cache(maxsize=64)
def helped_region(control: int, variant: int) -> NDArray[Any]:
    """Return which results are told to have helped: [passes of the control, passes of the variant] → bool.

    Both conditions hold there: the interval is above 0, and the test rejects. Where it made things worse is the same
    table with passes and failures swapped on both sides.
    """
    import numpy as np

    results = _results(control, variant)
    distinct = np.unique(results.tails)
    low, high = 0, len(distinct)  # the first tail that is too likely: monotone, since a larger tail has more results
    while low < high:
        middle = (low + high) // 2
        if 2 * _chance(results, float(distinct[middle])) <= LEVEL:
            low = middle + 1
        else:
            high = middle
    if not low:
        return np.zeros(results.tails.shape, dtype=bool)
    rejected = results.tails <= distinct[low - 1] * _SAME
    return np.asarray(rejected & (_newcombe_low(control, variant) > 0))


def _newcombe_low(control: int, variant: int) -> NDArray[Any]:
    """Return the lower end of Newcombe's interval for every result."""
    import numpy as np

    shares = np.arange(control + 1)[:, None] / control, np.arange(variant + 1)[None, :] / variant
    upper = np.array([(wilson(x, control) or (0, 1))[1] for x in range(control + 1)])[:, None]
    lower = np.array([(wilson(y, variant) or (0, 1))[0] for y in range(variant + 1)])[None, :]
    return np.asarray(shares[1] - shares[0] - np.hypot(shares[1] - lower, upper - shares[0]))


@lru_cache(maxsize=8)  # of very many attempts one takes 10 MB
def _results(control: int, variant: int) -> _Results:
    import numpy as np

    rates = np.linspace(0, np.pi / 2, 256 + int(24 * (control + variant) ** 0.5))[1:-1]
    return _Results(
        tails=_tails(control, variant),
        rates=rates,
        control=_binomial(control, rates),
        variant=_at_least(_binomial(variant, rates)),
    )


def _tails(control: int, variant: int) -> NDArray[Any]:
    import numpy as np

    left, right, both = (_log_choose(size) for size in (control, variant, control + variant))
    columns = np.arange(variant + 1)
    tails = np.empty((control + 1, variant + 1))
    before = np.zeros(variant + 2)
    for x in range(control + 1):
        # With the passes of both sides given, one more on the variant is one less on the control.
        before[:-1] = np.exp(left[x] + right - both[x + columns]) + before[1:]
        tails[x] = before[:-1]
    return tails


def _fisher(x: int, m: int, y: int, n: int) -> float:
    import numpy as np

    passes = x + y
    more = np.arange(y, min(n, passes) + 1)
    logs = _log_choose(m)[passes - more] + _log_choose(n)[more] - _log_choose(m + n)[passes]
    return float(np.exp(logs).sum())


def _chance(results: _Results, tail: float) -> float:
    """Return the largest probability, over all rates, of a result whose tail is at most ``tail``."""
    import numpy as np

    first = (results.tails > tail * _SAME).sum(axis=1)  # tails fall along a row
    chances = (results.control * results.variant[:, first]).sum(axis=1)
    best = int(chances.argmax())
    step = results.rates[1] - results.rates[0]
    near = np.linspace(results.rates[best] - step, results.rates[best] + step, 33)
    control, variant = (size - 1 for size in results.tails.shape)
    refined = (_binomial(control, near) * _at_least(_binomial(variant, near))[:, first]).sum(axis=1)
    return float(max(refined.max(), chances[best]))


def _binomial(size: int, angles: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    passes = np.arange(size + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = 2 * np.log(np.abs(np.sin(angles)))[:, None], 2 * np.log(np.abs(np.cos(angles)))[:, None]
        terms = [
            np.where(count == 0, 0.0, count * log) for count, log in zip((passes, size - passes), logs, strict=True)
        ]
    return np.asarray(np.exp(_log_choose(size) + terms[0] + terms[1]))


def _at_least(chances: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    tails = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    return np.hstack([tails, np.zeros((len(tails), 1))])


@lru_cache(maxsize=128)
def _log_choose(size: int) -> NDArray[Any]:
    import numpy as np

    logs = np.array([lgamma(count + 1) for count in range(size + 1)])
    return np.asarray(logs[-1] - logs - logs[::-1])

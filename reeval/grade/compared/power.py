"""Which difference could so many runs show at all? Asked before anything is paid for.

A lift is detectable when it would be told with 80 % probability by the very rule of ``lifts``, if no attempt ends in an
error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from reeval.grade.compared.boschloo import LEVEL, helped_region
from reeval.grade.compared.lifts import FEWEST_ATTEMPTS, FEWEST_CASES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["POWER", "Detectable", "detectable", "power"]

POWER = 0.8

_MOST_RUNS = 300
"""More are planned as so many: what they can show is then a little less than said, never more."""
_SIMULATED = 1_000
_LISTED_CASES = 11
"""Up to here all signs of the simulated cases are tried; above, the test's sum is all but normal."""
_PLACES = 0.005


@dataclass(frozen=True, kw_only=True)
class Detectable:
    """The smallest lifts told with 80 % probability, in points above 0; None: not even the largest would be."""

    up: float | None
    """Of a variant that helps."""
    down: float | None
    """Of one that makes it worse."""


@lru_cache(maxsize=1024)
def detectable(runs: int, *, rate: float = 0.5, cases: int | None = None) -> Detectable:
    """Return what ``runs`` a side (of each case) can show when the control passes at ``rate``.

    Without cases all results are counted. With cases the larger of two figures stands: all cases alike in rate and
    lift (simulated, with a fixed seed), and cases that always or never pass, so that the lift is the share of them that
    change (counted). Real cases lie between.
    """
    chance = power if cases is None else _least_power(cases)
    return Detectable(
        up=_smallest(lambda lift: chance(runs, rate, rate + lift), 1 - rate),
        down=_smallest(lambda lift: chance(runs, 1 - rate, 1 - rate + lift), rate),
    )


def power(runs: int, control: float, variant: float) -> float:
    """Return the probability that ``runs`` a side say ``helped`` of an eval without cases."""
    import numpy as np

    runs = min(runs, _MOST_RUNS)
    if runs < FEWEST_ATTEMPTS:
        return 0.0
    chances = [_binomial(runs, rate) for rate in (control, variant)]
    return float(np.einsum("i,ij,j->", chances[0], helped_region(runs, runs), chances[1]))


def _smallest(chance: Callable[[float], float], most: float) -> float | None:
    """Return the smallest lift up to ``most`` that is told often enough: a larger one is told more often."""
    if most <= 0 or chance(most) < POWER:
        return None
    low, high = 0.0, most
    while high - low > _PLACES:
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) >= POWER else (middle, high)
    return high


def _least_power(cases: int) -> Callable[[int, float, float], float]:
    def chance(runs: int, control: float, variant: float) -> float:
        if cases < FEWEST_CASES or cases * runs < FEWEST_ATTEMPTS:
            return 0.0
        return min(_changing(cases, variant - control), _alike(cases, min(runs, _MOST_RUNS), control, variant))

    return chance


def _changing(cases: int, share: float) -> float:
    """Return the probability that enough of the cases change, all to the better: 6, since 2 / 2^6 is below 5 %."""
    return float(_binomial(cases, share)[FEWEST_CASES:].sum())


def _alike(cases: int, runs: int, control: float, variant: float) -> float:
    import numpy as np

    random = np.random.RandomState(0)
    # One draw for all lifts, so that a larger lift is never told less often.
    chances = random.random_sample((2, _SIMULATED, cases))
    passes = [_drawn(part, runs, rate) for part, rate in zip(chances, (control, variant), strict=True)]
    gains = passes[1] - passes[0]
    sums = gains.sum(axis=1)
    if cases <= _LISTED_CASES:
        signs = (np.arange(2**cases)[:, None] >> np.arange(cases)) % 2 * 2 - 1
        tails = (gains @ signs.T >= sums[:, None]).mean(axis=1)
        return float((2 * tails <= LEVEL).mean())
    spread = np.sqrt((gains**2).sum(axis=1))
    return float((sums > 1.96 * np.maximum(spread, 1e-9)).mean())


def _drawn(chances: NDArray[Any], runs: int, rate: float) -> NDArray[Any]:
    import numpy as np

    return np.asarray(np.searchsorted(np.cumsum(_binomial(runs, rate))[:-1], chances))


def _binomial(runs: int, rate: float) -> NDArray[Any]:
    import numpy as np
    from scipy.special import gammaln, xlog1py, xlogy

    rate = min(max(rate, 0.0), 1.0)  # rounding of a rate plus a lift must not leave the range
    passes = np.arange(runs + 1)
    ways = gammaln(runs + 1) - gammaln(passes + 1) - gammaln(runs - passes + 1)
    return np.asarray(np.exp(ways + xlogy(passes, rate) + xlog1py(runs - passes, -rate)))

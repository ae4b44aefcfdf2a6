"""What does the dry run say a plan will take? ``~ 4–7 min · $1.20–2.10 (from 32 earlier attempts)``."""

from __future__ import annotations

from reeval.grade.forecast.estimate import Estimate, Range
from reeval.report.screen.numbers import dollars, plural

__all__ = ["budget_text", "estimate_text"]

_UNITS = ((100.0, 1.0, "s"), (100 * 60.0, 60.0, "min"), (float("inf"), 3600.0, "h"))
"""Below how many seconds which unit is used."""


def estimate_text(found: Estimate) -> str:
    """Return the ranges, and what they rest on."""
    ranges = [_time(found.seconds)]
    if found.cost is not None and found.cost[1] > 0:
        ranges.append(_money(found.cost))
    rests = [f"from {plural(found.attempts, 'earlier attempt')}"]
    if found.new:
        rests.append(f"{_of(found.new, found.evals)} {'has' if found.new == 1 else 'have'} no history")
    if found.unpriced and found.cost is not None:
        rests.append(f"what {_of(found.unpriced, found.evals)} cost is not known")
    return f"{' · '.join(ranges)} ({'; '.join(rests)})"


def budget_text(budget: float, found: Estimate | None) -> str:
    """Return the budget, and whether it will do."""
    most = 0.0 if found is None or found.cost is None else found.cost[1]
    return f"{dollars(budget)}{', which may not be enough' if most > budget else ''}"


def _of(some: int, all_evals: int) -> str:
    return f"{some:,} of {plural(all_evals, 'eval')}"


def _time(seconds: Range) -> str:
    if seconds[1] < 0.95:
        return "under 1 s"
    _, unit, name = next(one for one in _UNITS if seconds[1] < one[0])
    return f"~ {_joined(_short(seconds[0] / unit), _short(seconds[1] / unit))} {name}"


def _money(cost: Range) -> str:
    low, high = (dollars(value).removeprefix("$") for value in cost)
    return f"${_joined(low, high)}"


def _joined(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


def _short(value: float) -> str:
    """``0.4``, ``4``, ``4.5``, ``12``: no more digits than a guess has."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")

"""How are seconds, tokens, dollars, rates and counts written?"""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["accuracy", "count", "dollars", "moment", "number", "percent", "plural", "seconds"]

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def seconds(value: float) -> str:
    """``12 ms``, ``0.34 s``, ``3.2 s``, ``2 min 5 s``, ``1 h 4 min``."""
    if value < 0.0995:
        return f"{round(value * 1000)} ms"
    if value < 0.995:
        return f"{value:.2f} s"
    if value < 59.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def count(value: float) -> str:
    """``950``, ``3.1k``, ``12M``: two or three digits that count."""
    for unit, letter in _UNITS:
        scaled = value / unit
        if scaled >= 0.9995:
            return f"{scaled:.0f}{letter}" if scaled >= 9.95 else f"{scaled:.1f}{letter}"
    return f"{value:.0f}"


def dollars(value: float) -> str:
    """``$0.0012``, ``$0.12``, ``$12.30``."""
    return f"${value:.4f}" if 0 < value < 0.01 else f"${value:.2f}"


def number(value: float) -> str:
    """A score: at most three digits after the point, none that say nothing."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def percent(part: int, whole: int) -> str:
    """``92% (11/12)``; ``–`` of nothing. Never 100% unless all are in, never 0% unless none is."""
    if whole == 0:
        return "–"
    rounded = int(100 * part / whole + 0.5)
    if 0 < part < whole:
        rounded = min(99, max(1, rounded))
    return f"{rounded}% ({part}/{whole})"


def accuracy(passed: int, total: int) -> str:
    """``25% (1/4)``, halves up; ``–`` of no question."""
    return f"{(200 * passed + total) // (2 * total)}% ({passed}/{total})" if total else "–"


def plural(amount: int, noun: str) -> str:
    """``1 attempt``, ``12 attempts``."""
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def moment(milliseconds: int) -> str:
    """A time of the record, UTC, to the minute: ``2026-11-30 14:25``."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M")

"""How are a lift and the change of a measure written?"""

from __future__ import annotations

from collections.abc import Callable

from reeval.grade.compared.differences import Measured
from reeval.grade.compared.lifts import Lift
from reeval.report.screen.numbers import count, dollars, number, seconds

__all__ = ["amount_text", "change_text", "lift_text", "signed"]

_AMOUNTS: dict[str, Callable[[float], str]] = {"cost": dollars, "duration": seconds, "tokens": count}


def signed(value: float) -> str:
    """``+0.75``, ``−0.75``, ``0.00``: two digits, with a real minus."""
    text = f"{value:+.2f}".replace("-", "−")
    return "0.00" if text in {"+0.00", "−0.00"} else text


def lift_text(lift: Lift) -> str:
    """``−0.75 [−0.93, −0.21] made it worse``; only the phrase where there is no lift."""
    parts = [] if lift.lift is None else [signed(lift.lift)]
    if lift.interval is not None:
        low, high = (signed(end).removeprefix("+") for end in lift.interval)
        parts.append(f"[{low}, {high}]")
    return " ".join([*parts, lift.said.value])


def amount_text(name: str, value: float | None) -> str:
    """Write one value of a measure in its unit; ``–`` when it is unknown."""
    return "–" if value is None else _AMOUNTS.get(name, number)(value)


def change_text(measure: Measured) -> str:
    """``−10% (can't tell yet)``; without a percentage where there is nothing to take it of."""
    said = measure.said.value
    if measure.relative is None:
        return f"({said})"
    share = round(100 * measure.relative)
    return f"{share:+,}% ({said})".replace("-", "−") if share else f"±0% ({said})"

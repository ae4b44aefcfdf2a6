"""Which numbers of a record may a claim name, and when does what it says of one hold?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

__all__ = ["Figure", "Figures", "Unit", "holds", "shown"]

Unit = Literal["count", "share", "amount"]
"""``count``: whole things. ``share``: a rate, a score, a difference of two. ``amount``: seconds, tokens, dollars."""

WHOLE = "the whole run"
"""What a figure belongs to that counts over all evals."""
_LEAST = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One number of a record, with what it counts."""

    id: str
    what: str
    """``pass rate · terse/-/fake · evals/greet.eval.py::greets by name``: what, of what, smallest first."""
    value: float
    unit: Unit
    run: str
    """``this`` or ``vs``; ``both`` for a difference of the two."""
    eval: str | None = None
    """None: it counts over all evals."""


class Figures:
    """Numbers the figures of a digest; only what stands here may be claimed."""

    def __init__(self) -> None:
        self.known: dict[str, Figure] = {}

    def add(
        self, short: str, value: float, unit: Unit, *, run: str, of: tuple[str, ...] = (), eval: str | None = None
    ) -> str:
        """Add a figure and return its line; ``of`` is what it belongs to, smallest first."""
        what = " · ".join((short, *of, eval or WHOLE))
        figure = Figure(id=f"n{len(self.known) + 1}", what=what, value=value, unit=unit, run=run, eval=eval)
        self.known[figure.id] = figure
        return f"{figure.id} = {shown(value)} {short}"


def shown(value: float) -> str:
    """``0.6667``, ``12``, ``-0.25``: four digits after the point at most."""
    rounded = round(value, 4) + 0.0
    return f"{rounded:.0f}" if rounded == int(rounded) else f"{rounded:.4f}".rstrip("0")


def holds(said: float, figure: Figure, *, decimals: int | None = None, scale: float = 1.0) -> bool:
    """Say whether ``said`` is the figure's value, rounded no further than a reader would take for the value itself.

    ``scale`` is 0.01 for percent; ``decimals`` is how many digits were written, those of ``said`` unless given.
    """
    if not math.isfinite(said):
        return False
    if decimals is None:
        decimals = _decimals(said)
    value = said * scale
    if figure.unit == "share" and abs(value) in {0.0, 1.0}:
        return abs(value - figure.value) <= _LEAST  # never all or nothing of what is almost that
    half = 0.5 * 10.0**-decimals * scale
    return abs(value - figure.value) <= min(half, _tolerance(figure)) + _LEAST


def _tolerance(figure: Figure) -> float:
    """Return how far rounding may go: 0.3 for 0.3333 is a digit too few, 1 for 0.96 says something else."""
    return {"count": 0.0, "share": 0.005, "amount": 0.02 * abs(figure.value)}[figure.unit]


def _decimals(value: float) -> int:
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0

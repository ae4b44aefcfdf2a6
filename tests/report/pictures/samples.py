"""Lifts to draw, made by hand."""

from __future__ import annotations

from typing import Any

from reeval.report.pictures.bars import Picture, Titled, picture_of
from reeval.schema.recorded.lifts import LiftRecord


def lift(
    variant: str = "house", numbers: tuple[float | None, float | None, float | None] = (1.0, 0.31, 1.0), **more: Any
) -> LiftRecord:
    """Return a lift; ``numbers`` are the lift and the ends of its interval."""
    more.setdefault("control", "plain")
    more.setdefault("harness", "scribe")
    more.setdefault("sandbox", "local")
    more.setdefault("said", "helped")
    point, low, high = numbers
    return LiftRecord(variant=variant, lift=point, low=low, high=high, **more)


WORSE = lift("terse", (-0.62, -0.83, -0.21), said="made it worse", holds=False)
OPEN = lift("terse", (-0.25, -0.7, 0.2), said="can't tell yet")
SAME = lift("copy", (0.0, -0.42, 0.42), said="can't tell yet", flags=["identical"], harness="codex")
NOTHING = lift("house", (None, None, None), said="can't tell yet", doubt="nothing decided")
POOLED = lift("house", (0.55, 0.2, 0.8), harness=None, evals=2)
ALL: list[Titled] = [
    ("2 evals", POOLED),
    ("greets by name", lift()),
    ("greets by name", WORSE),
    ("adds", OPEN),
    ("adds", SAME),
    ("installs", NOTHING),
]


def drawn(*lifts: Titled, **more: Any) -> Picture:
    """Return the picture of lifts of which there is one at least."""
    picture = picture_of(lifts or ALL, **more)
    assert picture is not None
    return picture


GUIDE: list[Titled] = [
    ("greets by name", lift("with-house-greeting")),
    ("greets by name", lift("terse-rules", (-0.62, -0.83, -0.21), said="made it worse", holds=False)),
    ("adds", lift("terse-rules", (-0.25, -0.7, 0.2), said="can't tell yet")),
]
"""What the guide shows."""

"""Which rows differ? A few, expected beside answered, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reeval.grade.rows.engines.engine import Engine, Pair, Side

__all__ = ["RowPair", "differing_rows"]

RowPair = tuple[tuple[Any, ...], tuple[Any, ...]]
"""An expected row and the answered one beside it, by the ground truth's columns; empty: there is none."""
_SHOWN = 3
_LOOKED_AT = 60


def differing_rows(engine: Engine, pairs: Sequence[Pair]) -> tuple[RowPair, ...]:
    """Return up to three rows that one side has more often than the other under a map of all the truth's columns."""
    missing, extra = engine.unmatched(pairs, _LOOKED_AT)
    expected = list(engine.cells(Side.TRUTH, [truth for truth, _ in pairs], missing))
    answered = list(engine.cells(Side.ANSWER, [answer for _, answer in pairs], extra))
    shown: list[RowPair] = []
    for row in expected[:_SHOWN]:
        near = max(range(len(answered)), key=lambda at: _alike(row, answered[at]), default=None)
        shown.append((row, answered.pop(near) if near is not None else ()))
    shown += [((), row) for row in answered]
    return tuple(shown[:_SHOWN])


def _alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    return sum(str(left) == str(right) for left, right in zip(one, other, strict=True))

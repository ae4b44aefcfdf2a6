"""What could have been done to a column to make the other one of it? The near causes of a difference."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import Any

from reeval.grade.rows.keys.families import Family, Reading

__all__ = ["BOTH_SIDES", "FACTORS", "Change", "changed", "reading_of"]


class Change(StrEnum):
    """A change of the ground truth's column, or of both, after which the two are equal."""

    HUNDREDFOLD = "100 times"
    HUNDREDTH = "a 100th of"
    THOUSANDFOLD = "1000 times"
    THOUSANDTH = "a 1000th of"
    MILLIONFOLD = "1000000 times"
    MILLIONTH = "a 1000000th of"
    NEGATED = "negated"
    UNSIGNED = "without sign"
    SAME_CASE = "letter case and blanks"
    NULL_IS_ZERO = "NULL is 0"
    NULL_IS_EMPTY = "NULL is ''"


FACTORS: dict[Change, float] = {
    Change.HUNDREDFOLD: 100,
    Change.HUNDREDTH: 0.01,
    Change.THOUSANDFOLD: 1000,
    Change.THOUSANDTH: 0.001,
    Change.MILLIONFOLD: 1e6,
    Change.MILLIONTH: 1e-6,
    Change.NEGATED: -1,
}
BOTH_SIDES = {Change.UNSIGNED, Change.SAME_CASE, Change.NULL_IS_ZERO, Change.NULL_IS_EMPTY}
"""Changes that forget what they are about, made on both sides; the others are made on the ground truth's."""
_OF_TEXT = {Change.SAME_CASE, Change.NULL_IS_EMPTY}


def reading_of(change: Change, one: Family, other: Family) -> Reading | None:
    """Return as what two columns are read for a change; None: it is nothing that happens to them."""
    own = Family.TEXT if change in _OF_TEXT else Family.NUMBER
    if {one, other} <= {own, Family.NULL} and own in {one, other}:
        return Reading[own.name]
    return None


def changed(change: Change) -> Callable[[Any], Any]:
    """Return what makes the changed value, NULL included, of a value of the reading."""
    if change in FACTORS:
        factor = FACTORS[change]
        return lambda value: None if value is None else float(value) * factor
    return _FORGETTING[change]


def _unsigned(value: float | Decimal | None) -> float | None:
    return None if value is None else abs(float(value))


def _folded(value: str | None) -> str | None:
    return None if value is None else " ".join(value.casefold().split())


_FORGETTING: dict[Change, Callable[[Any], Any]] = {
    Change.UNSIGNED: _unsigned,
    Change.SAME_CASE: _folded,
    Change.NULL_IS_ZERO: lambda value: 0 if value is None else value,
    Change.NULL_IS_EMPTY: lambda value: "" if value is None else value,
}

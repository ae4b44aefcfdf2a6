"""Which columns can be compared, and as what? Columns have families; a pair of columns meets in one reading."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Family", "Reading", "meeting"]


class Family(StrEnum):
    """What the values of a column are."""

    NULL = "NULL"
    """Nothing but NULL."""
    NUMBER = "a number"
    BOOLEAN = "a boolean"
    TIME = "a date or time"
    CLOCK = "a time of day"
    INTERVAL = "an interval"
    TEXT = "text"
    UUID = "a UUID"
    BLOB = "bytes"
    NESTED = "a list, struct or JSON"
    MIXED = "of several kinds"


class Reading(StrEnum):
    """As what both columns of a pair are read; keys of one reading can be compared with each other only."""

    NULL = "null"
    """Whether it is NULL."""
    NUMBER = "number"
    FAINT = "faint"
    """A number beside a column of zeros, where noise has nothing else to be measured by."""
    BOOLEAN = "boolean"
    TIME = "time"
    CLOCK = "clock"
    INTERVAL = "interval"
    TEXT = "text"
    UUID = "uuid"
    BLOB = "blob"
    NESTED = "nested"
    MIXED = "mixed"


_OWN = {family: Reading[family.name] for family in Family}
_FROM_TEXT = {Family.NUMBER, Family.BOOLEAN, Family.TIME, Family.CLOCK, Family.UUID, Family.NESTED}


def meeting(one: Family, other: Family) -> Reading | None:
    """Return as what a column of one family is compared with one of another; None: they are never equal.

    Text is read as another family only when every value of the column parses strictly, which the reading finds out.
    Text is never read as anything beside text: ``02139`` is not ``2139``.
    """
    if one is other:
        return _OWN[one]
    both = {one, other}
    if Family.NULL in both:
        return Reading.NULL
    if both == {Family.NUMBER, Family.BOOLEAN}:
        return Reading.NUMBER
    if Family.TEXT in both:
        (rest,) = both - {Family.TEXT}
        return _OWN[rest] if rest in _FROM_TEXT else None
    return None

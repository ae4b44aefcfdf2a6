"""What is the key of a cell? Python values and readings to something that can be hashed."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Hashable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any
from uuid import UUID

from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.numbers import exact_key, number_key

__all__ = ["NumberKey", "canonical", "cell_key", "family_of", "from_json", "microseconds", "number_key_of"]

NumberKey = Callable[[Any], Hashable]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - what has no zone is read as UTC
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000
_MICROSECOND = timedelta(microseconds=1)
_FAR = re.compile(
    r"([0-9]+)-([0-9]{2})-([0-9]{2})( \(BC\))?(?: ([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?(?:\+00)?)?"
)
_FAMILIES: dict[type, Family] = {
    bool: Family.BOOLEAN,
    int: Family.NUMBER,
    float: Family.NUMBER,
    Decimal: Family.NUMBER,
    datetime: Family.TIME,
    date: Family.TIME,
    time: Family.CLOCK,
    timedelta: Family.INTERVAL,
    str: Family.TEXT,
    UUID: Family.UUID,
    bytes: Family.BLOB,
    bytearray: Family.BLOB,
    memoryview: Family.BLOB,
    list: Family.NESTED,
    tuple: Family.NESTED,
    dict: Family.NESTED,
    set: Family.NESTED,
    frozenset: Family.NESTED,
}


def family_of(kind: type) -> Family:
    """Return the family of a Python type; one that is not known is compared by its text."""
    found = _FAMILIES.get(kind)
    if found is None:
        rest = Family.NUMBER if issubclass(kind, Real) else Family.MIXED
        found = next((_FAMILIES[base] for base in kind.__mro__ if base in _FAMILIES), rest)
    return found


def number_key_of(*, exact: bool) -> NumberKey:
    """Return what makes the key of a number."""
    return exact_key if exact else number_key


def cell_key(reading: Reading, number: NumberKey) -> Callable[[Any], Hashable]:
    """Return what makes the key of a value that is not NULL, of a family that has this reading."""
    if reading in {Reading.NUMBER, Reading.FAINT}:
        return number
    if reading is Reading.NESTED:
        return lambda value: canonical(value, number)
    if reading is Reading.MIXED:
        return lambda value: _mixed(value, number)
    return _KEYS[reading]


def canonical(value: Any, number: NumberKey) -> str:
    """Return one text for all ways to write the same list, struct, map or JSON: names are sorted, numbers rounded."""
    if value is None:
        return "-"
    family = family_of(type(value))
    if family is Family.NESTED:
        return _structure(value, number)
    if family is Family.MIXED:
        return json.dumps(str(value))
    own = Reading[family.name]
    return f"{own[0]}{json.dumps(cell_key(own, number)(value), default=repr)}"


def from_json(text: Any) -> Any:
    """Return what a cell of a JSON column holds: its ``null`` is NULL, and what is no JSON stays a text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def microseconds(value: Any) -> Hashable:
    """Return microseconds since 1970 of a date or a time; a date is its midnight, no zone is UTC."""
    if isinstance(value, str):
        return _far(value)
    if isinstance(value, datetime):
        ahead = value.utcoffset()
        since = value.replace(tzinfo=None) - _EPOCH
        passed: int = since // _MICROSECOND
        return passed - ahead // _MICROSECOND if ahead else passed
    if value == date.max:  # how an infinite date comes, and an infinite timestamp comes as its last moment
        return microseconds(datetime.max)  # noqa: DTZ901 - no zone is UTC
    days: int = value.toordinal() - _EPOCH_DAY
    return days * _DAY


def _structure(value: Any, number: NumberKey) -> str:
    if isinstance(value, dict):
        pairs = sorted(f"{canonical(key, number)}:{canonical(one, number)}" for key, one in value.items())
        return "{" + ",".join(pairs) + "}"
    members = [canonical(one, number) for one in value]
    return "[" + ",".join(sorted(members) if isinstance(value, set | frozenset) else members) + "]"


def _mixed(value: Any, number: NumberKey) -> Hashable:
    family = family_of(type(value))
    if family is Family.MIXED:
        return type(value).__name__, str(value)
    reading = Reading.NUMBER if family is Family.BOOLEAN else Reading[family.name]
    return reading, cell_key(reading, number)(value)


def _text(value: str) -> str:
    return value if value.isascii() else unicodedata.normalize("NFC", value)


def _clock(value: time) -> int:
    passed = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    ahead = value.utcoffset()
    return passed - (ahead // _MICROSECOND if ahead else 0)


def _far(text: str) -> Hashable:
    """Read a date that Python has no type for: before the year 1, after 9999."""
    found = _FAR.fullmatch(text)
    if not found:
        return text
    year, month, day, hour, minute, second = (int(found[group] or 0) for group in (1, 2, 3, 5, 6, 7))
    days = _days(1 - year if found[4] else year, month, day)
    return days * _DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + int((found[8] or "0").ljust(6, "0"))


def _days(year: int, month: int, day: int) -> int:
    """Return days since 1970 in the Gregorian calendar, carried on before and after its use."""
    cycles, year_in_cycle = divmod(year, 400)
    return cycles * 146_097 + date(year_in_cycle + 400, month, day).toordinal() - 146_097 - _EPOCH_DAY


_KEYS: dict[Reading, Callable[[Any], Hashable]] = {
    Reading.NULL: lambda _: True,
    Reading.BOOLEAN: int,
    Reading.TIME: microseconds,
    Reading.CLOCK: _clock,
    Reading.INTERVAL: lambda value: int(value // _MICROSECOND),
    Reading.TEXT: _text,
    Reading.UUID: lambda value: str(value).lower(),
    Reading.BLOB: bytes,
}

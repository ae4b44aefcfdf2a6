"""Which texts say a value of another type? Only those of one strict form; casts of databases take far more."""

from __future__ import annotations

import json
import re
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from reeval.grade.rows.keys.families import Reading

__all__ = ["LONGEST_NUMBER", "PATTERNS", "NotStrict", "parsed"]

LONGEST_NUMBER = 60
PATTERNS = {
    Reading.NUMBER: r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?",
    Reading.BOOLEAN: r"(true|false|True|False|TRUE|FALSE)",
    Reading.TIME: (
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
        r"([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:[0-9]{2})?)?)?"
    ),
    Reading.CLOCK: r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?",
    Reading.UUID: r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
}
"""Whole texts, in the syntax that Python and DuckDB share."""
_COMPILED = {reading: re.compile(pattern) for reading, pattern in PATTERNS.items()}


class NotStrict(Exception):  # noqa: N818 - an answer, not a fault
    """The text is not of the strict form."""


def parsed(text: str, reading: Reading) -> Any:
    """Return the value that a text says; raise ``NotStrict``."""
    if reading is Reading.NESTED:
        return _structure(text)
    pattern = Reading.NUMBER if reading is Reading.FAINT else reading
    if not _COMPILED[pattern].fullmatch(text):
        raise NotStrict
    try:
        return _value(text, pattern)
    except ValueError as error:
        raise NotStrict from error


def _value(text: str, reading: Reading) -> Any:
    if reading is Reading.NUMBER:
        if len(text) > LONGEST_NUMBER:
            raise NotStrict
        return Decimal(text)
    if reading is Reading.BOOLEAN:
        return text[0] in "tT"
    if reading is Reading.TIME:
        return datetime.fromisoformat(text)
    return time.fromisoformat(text) if reading is Reading.CLOCK else text


def _structure(text: str) -> Any:
    if text[:1] not in {"{", "["}:
        raise NotStrict
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotStrict from error

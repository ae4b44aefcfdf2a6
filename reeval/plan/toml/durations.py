"""How many seconds is a duration, written as a number or as text such as ``90s``?"""

from __future__ import annotations

import math
import re

__all__ = ["parse_seconds"]

_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_seconds(value: float | str) -> float:
    """Return the seconds of ``300``, ``"90s"``, ``"15m"``, ``"1h"`` or ``"250ms"``.

    Raises ``ValueError``, whose text says what it should be, when it is not finite and more than 0.
    """
    seconds = value
    if isinstance(value, str):
        match = _TEXT.fullmatch(value)
        seconds = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValueError(_EXPECTED)  # noqa: TRY004 - pydantic turns only ValueError into a located problem
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(_EXPECTED)
    return float(seconds)


_EXPECTED = "it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'"

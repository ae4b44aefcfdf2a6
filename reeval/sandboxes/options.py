"""How are the options of a ``[sandbox.NAME]`` table read, whatever its kind?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from reeval.errors import PlanError, did_you_mean

__all__ = ["Reader", "own_options", "read_count", "read_seconds", "read_table"]

Reader = Callable[[Any], Any]
"""Returns a value as its type; raises ``ValueError`` with what to write instead."""


def read_table(table: Mapping[str, Any], owner: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Return the options of a table by key; raise ``PlanError``, naming ``owner``, for the first that is wrong."""
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key == "kind":
            continue
        if key not in readers:
            raise PlanError(f"{owner}: unknown key {key!r}{did_you_mean(key, readers)}")
        try:
            given[key] = readers[key](value)
        except ValueError as error:
            raise PlanError(f"{owner}: {key} is {value!r}; {error}") from None
    return given


def own_options(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a ``PlannedSandbox`` has no fields for."""
    return {key: value for key, value in table.items() if key not in {"kind", "max_concurrent", "start_timeout"}}


def read_count(value: Any) -> int:
    """Read a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("write a whole number from 1")
    return value


def read_seconds(value: Any) -> float:
    """Read a time as seconds, or as text such as ``90s``."""
    if isinstance(value, str) and (parts := re.fullmatch(r"(\d+(?:\.\d+)?) *(ms|s|m|h)", value)):
        return float(parts[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}[parts[2]]
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
        return float(value)
    raise ValueError('write seconds above 0, or text such as "90s"')

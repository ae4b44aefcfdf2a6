"""What may a ``[sandbox.NAME]`` table of kind ``local`` hold?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from reeval.errors import PlanError, did_you_mean

__all__ = ["Isolation", "LocalOptions", "parse_options"]

Isolation = Literal["require", "prefer", "none"]


@dataclass(frozen=True, kw_only=True)
class LocalOptions:
    """The options of a local sandbox."""

    isolation: Isolation | None = None
    """``require``: bubblewrap, or nothing runs. ``prefer``: bubblewrap where it works, else a plain directory.
    ``none``: a plain directory. None: ``require``, but ``none`` for a harness that runs in process."""
    read_only: tuple[str, ...] = ()
    """Absolute paths of the host that an isolated sandbox sees too, read-only and at the same path."""
    output_limit: int = 1024 * 1024
    """Bytes of each output stream of a command that are kept; the middle of longer output is left out."""
    processes: int = 4096
    """Processes that a user's isolated sandbox may have at once. The kernel does not hold root to it."""
    max_concurrent: int | None = None
    """Attempts in this sandbox at once; None: as many as the run allows."""
    start_timeout: float = 90.0
    """Seconds it may take to start."""


def parse_options(table: Mapping[str, Any], owner: str) -> LocalOptions:
    """Return the options of a config table; raise ``PlanError``, naming ``owner``, for the first that is wrong."""
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key == "kind":
            continue
        if key not in _READERS:
            raise PlanError(f"{owner}: unknown key {key!r}{did_you_mean(key, _READERS)}")
        try:
            given[key] = _READERS[key](value)
        except ValueError as error:
            raise PlanError(f"{owner}: {key} is {value!r}; {error}") from None
    return LocalOptions(**given)


def _isolation(value: Any) -> Isolation:
    for known in get_args(Isolation):
        if value == known:
            return cast("Isolation", known)
    raise ValueError('write "require", "prefer" or "none"')


def _read_only(value: Any) -> tuple[str, ...]:
    paths = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(path, str) and Path(path).is_absolute() for path in paths):
        raise ValueError("write a list of absolute paths of this machine")
    return paths


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("write a whole number from 1")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, str) and (parts := re.fullmatch(r"(\d+(?:\.\d+)?) *(ms|s|m|h)", value)):
        return float(parts[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}[parts[2]]
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
        return float(value)
    raise ValueError('write seconds above 0, or text such as "90s"')


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "isolation": _isolation,
    "max_concurrent": _count,
    "output_limit": _count,
    "processes": _count,
    "read_only": _read_only,
    "start_timeout": _seconds,
}

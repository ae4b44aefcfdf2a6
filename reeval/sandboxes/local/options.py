"""What may a ``[sandbox.NAME]`` table of kind ``local`` hold?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from reeval.sandboxes.options import Reader, read_count, read_seconds, read_table

__all__ = ["LocalOptions", "WantedIsolation", "parse_options"]

WantedIsolation = Literal["require", "prefer", "none"]


@dataclass(frozen=True, kw_only=True)
class LocalOptions:
    """The options of a local sandbox."""

    isolation: WantedIsolation | None = None
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
    return LocalOptions(**read_table(table, owner, _READERS))


def _isolation(value: Any) -> WantedIsolation:
    for known in get_args(WantedIsolation):
        if value == known:
            return cast("WantedIsolation", known)
    raise ValueError('write "require", "prefer" or "none"')


def _read_only(value: Any) -> tuple[str, ...]:
    paths = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(path, str) and Path(path).is_absolute() for path in paths):
        raise ValueError("write a list of absolute paths of this machine")
    return paths


_READERS: Mapping[str, Reader] = {
    "isolation": _isolation,
    "max_concurrent": read_count,
    "output_limit": read_count,
    "processes": read_count,
    "read_only": _read_only,
    "start_timeout": read_seconds,
}

"""Whose is what a run left on a machine, and does that process still live?"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["is_dead", "this_process"]


@cache
def this_process() -> dict[str, int | str | None]:
    """Return what names this process for good: ``host``, ``pid`` and ``started``."""
    pid = os.getpid()
    space = ""
    with suppress(OSError):
        # Two containers that share a temporary directory, or an engine, have equal process numbers.
        space = str(Path("/proc/self/ns/pid").readlink())
    return {"host": f"{socket.gethostname()} {space}".strip(), "pid": pid, "started": _start_of(pid)}


def is_dead(owner: Mapping[str, object]) -> bool:
    """Say whether the process that ``this_process`` named is gone; False for one of another machine."""
    pid = owner.get("pid")
    if owner.get("host") != this_process()["host"] or not isinstance(pid, int):
        return False
    return not _lives(pid, owner.get("started"))


def _lives(pid: int, started: object) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return _start_of(pid) == started


def _start_of(pid: int) -> int | None:
    """Return when a process started, in the kernel's ticks; None where that is unknown."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None

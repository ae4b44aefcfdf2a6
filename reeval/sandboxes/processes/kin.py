"""Which processes of this machine belong to an attempt or a command, and how are they all ended?

Every process gets ``REEVAL_MARK`` in its environment, and so does what it starts, in whatever session it runs. A
process that cleared its environment is known by its working directory, if it has no terminal (a person who looks
into a live attempt has one). Without ``/proc`` (macOS) only process groups are ended.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

__all__ = ["MARK", "end_marked", "marked"]

MARK = "REEVAL_MARK"
"""``ATTEMPT.COMMAND.``: the attempt's directory name and the number of the command in it."""

PROC = Path("/proc")
PASSES = 40
"""A process may fork while the others are looked up; what goes on forking is ended pass by pass."""
FORK_RATE = 20_000
"""Processes a second that no machine exceeds: how soon process numbers can come round again."""


def end_marked(mark: str, *, below: str | None = None, since: tuple[int, float] | None = None) -> None:
    """Kill every process whose mark begins with ``mark`` or, with ``below``, that works below that directory.

    ``since``: the number of the first process that could have the mark, and ``time.monotonic()`` before it started.
    """
    for turn in range(PASSES):
        found = marked(mark, below=below, since=since)
        if not found:
            return
        for pid in found:
            _kill(pid)
        time.sleep(0.001 * min(turn + 1, 20))


def marked(mark: str, *, below: str | None = None, since: tuple[int, float] | None = None) -> list[int]:
    """Return the numbers of the live processes that ``end_marked`` would kill."""
    if sys.platform != "linux":
        return []
    wanted = f"{MARK}={mark}".encode()
    return [pid for pid in _candidates(since) if _has_mark(pid, wanted) or (below and _works_below(pid, below))]


def _candidates(since: tuple[int, float] | None) -> Iterator[int]:
    """Yield the processes that may be meant: looking at all of them costs milliseconds, at the new ones nothing."""
    own = os.getpid()
    new = _started_since(since)
    for name in os.listdir(PROC):  # noqa: PTH208 - hot, and only names are needed
        if name.isdecimal() and (pid := int(name)) != own and new(pid):
            yield pid


def _started_since(since: tuple[int, float] | None) -> Callable[[int], bool]:
    if since is None or time.monotonic() - since[1] > _round_trip():
        return lambda _: True
    first, last = since[0], int((PROC / "loadavg").read_text().split()[-1])
    if first <= last:
        return lambda pid: first <= pid <= last
    return lambda pid: pid >= first or pid <= last


@cache
def _round_trip() -> float:
    """Return the seconds in which process numbers cannot have come round."""
    return int((PROC / "sys/kernel/pid_max").read_text()) / FORK_RATE


def _has_mark(pid: int, wanted: bytes) -> bool:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:  # Gone, or another user's.
        return False
    return environment.startswith(wanted) or b"\0" + wanted in environment


def _works_below(pid: int, directory: str) -> bool:
    try:
        there = os.readlink(PROC / str(pid) / "cwd")  # noqa: PTH115 - the text itself, also when it is deleted
        terminal = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[4]
    except (OSError, UnicodeDecodeError, IndexError):
        return False
    return terminal == "0" and f"{there}/".startswith(f"{directory}/")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return

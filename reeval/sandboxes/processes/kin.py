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
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["MARK", "children_of", "end_marked", "marked"]

MARK = "REEVAL_MARK"
"""``ATTEMPT.COMMAND.``: the attempt's directory name and the number of the command in it."""

PROC = Path("/proc")
PASSES = 40
"""A process may fork while the others are looked up; what goes on forking is ended pass by pass."""
FORK_RATE = 20_000
"""Processes a second that no machine exceeds: how soon process numbers can come round again."""
FEW = 5000
"""Process numbers that are tried one by one, which is faster than listing all processes."""


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
    own = os.getpid()
    return [
        pid
        for pid in _candidates(since)
        if pid != own and (_has_mark(pid, wanted) or (below is not None and _works_below(pid, below)))
    ]


def children_of(pid: int) -> list[int]:
    """Return the processes that a process of one thread started and that live; none where the kernel does not tell."""
    try:
        return [int(child) for child in (PROC / f"{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _candidates(since: tuple[int, float] | None) -> Iterable[int]:
    """Return the processes that may be meant: looking at all of them costs milliseconds, at the new ones nothing."""
    if since is not None and time.monotonic() - since[1] < _round_trip():
        last = int((PROC / "loadavg").read_text().split()[-1])
        if 0 <= last - since[0] < FEW:
            return range(since[0], last + 1)
    return [int(name) for name in os.listdir(PROC) if name.isdecimal()]  # noqa: PTH208 - hot, only names are needed


@cache
def _round_trip() -> float:
    """Return the seconds in which process numbers cannot have come round."""
    return int((PROC / "sys/kernel/pid_max").read_text()) / FORK_RATE


def _has_mark(pid: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123 - hot
            environment = file.readall()
    except OSError:  # Gone, or another user's.
        return False
    return environment.startswith(wanted) or b"\0" + wanted in environment


def _works_below(pid: int, directory: str) -> bool:
    try:
        there = os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 - the text itself, also when it is deleted
        terminal = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4]
    except (OSError, UnicodeDecodeError, IndexError):
        return False
    return terminal == "0" and f"{there}/".startswith(f"{directory}/")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return

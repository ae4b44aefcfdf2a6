"""How does Ctrl-C end a run? The first one in order, the second one at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from reeval.errors import ExitCode

__all__ = ["interruptible"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h"
"""A live block hides the cursor."""


@contextmanager
def interruptible(on_first: Callable[[], None]) -> Iterator[None]:
    """Call ``on_first`` in the event loop on the first SIGINT or SIGTERM; leave the process on the second.

    A handler of Python's and not of the loop, so that the second one works while a body blocks the loop. Outside the
    main thread, where Python allows no handlers, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    seen = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal seen
        if seen:
            _leave()
        seen = True
        loop.call_soon_threadsafe(on_first)

    before: dict[signal.Signals, Any] = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave() -> None:
    for pid in _descendants(os.getpid()):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        if os.isatty(1):
            os.write(1, SHOW_CURSOR)
    os._exit(ExitCode.INTERRUPTED)


def _descendants(parent: int) -> list[int]:
    """Return the processes that ``parent`` started, and those that they started; Linux only."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name may hold spaces and parentheses: what counts comes after its last one.
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, ahead = [], [parent]
    while ahead:
        mine = children.get(ahead.pop(), [])
        found += mine
        ahead += mine
    return found

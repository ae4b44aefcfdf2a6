"""Who reads output that nobody waits for any more? One thread, which drops it until the pipe is closed.

A background process that inherited its command's output outlives the command. With the pipe closed its next line
would kill it, with nobody reading it would block; in a container neither happens.
"""

from __future__ import annotations

import os
import selectors
from threading import Lock, Thread

__all__ = ["drain"]

CHUNK = 65_536
TURN = 1.0
"""Seconds after which the thread looks whether anything is left."""

_lock = Lock()
_pipes: selectors.BaseSelector | None = None


def drain(pipe: int) -> None:
    """Take over a readable, non-blocking file descriptor: read it to its end and close it."""
    global _pipes  # noqa: PLW0603 - one thread serves the process, and it exists only while there is work
    with _lock:
        if _pipes is not None:
            _pipes.register(pipe, selectors.EVENT_READ)
            return
        _pipes = selectors.DefaultSelector()
        _pipes.register(pipe, selectors.EVENT_READ)
        Thread(target=_read_all, args=(_pipes,), name="reeval-drain", daemon=True).start()


def _read_all(pipes: selectors.BaseSelector) -> None:
    global _pipes  # noqa: PLW0603 - see drain
    while True:
        for key, _ in pipes.select(TURN):
            if _ended(key.fd):
                with _lock:
                    pipes.unregister(key.fd)
                    os.close(key.fd)
        with _lock:
            if not pipes.get_map():
                _pipes = None
                pipes.close()
                return


def _ended(pipe: int) -> bool:
    try:
        return not os.read(pipe, CHUNK)
    except BlockingIOError:
        return False
    except OSError:
        return True

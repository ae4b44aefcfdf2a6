"""Which body blocks the event loop? A thread looks once the loop has not answered for more than a second."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import CodeType, FrameType
from typing import Any

__all__ = ["Blocked", "watching"]

BLOCKED = 1.0
"""Seconds without an answer after which the loop counts as blocked."""
BEAT = 0.2
"""Seconds between two heartbeats, and between two looks."""


class Blocked:
    """Where the loop was when it did not answer."""

    def __init__(self, file: str, line: int, body: Any) -> None:
        self.file = file
        """From the project's root."""
        self.line = line
        self.body = body
        """What ``identify`` found on the stack; None: none of the bodies."""

    @property
    def place(self) -> str:
        """``evals/greet.eval.py:12``."""
        return f"{self.file}:{self.line}"


class _Watchdog:
    def __init__(self, root: Path, body_code: CodeType, report: Callable[[Blocked], None]) -> None:
        self._root = f"{root}/"
        self._body_code = body_code
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._over = threading.Event()
        self._seen: set[tuple[str, int]] = set()
        self._heard = monotonic()
        self._timer = self._loop.call_later(BEAT, self._beat)
        self._thread = threading.Thread(target=self._watch, name="reeval watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._timer.cancel()

    def _beat(self) -> None:
        self._heard = monotonic()
        self._timer = self._loop.call_later(BEAT, self._beat)

    def _watch(self) -> None:
        looked = monotonic()
        while not self._over.wait(BEAT):
            now = monotonic()
            if now - looked > 2 * BLOCKED:
                # This thread was held up as well: the whole process was stopped, or the machine slept.
                self._heard = now
            looked = now
            if now - self._heard > BLOCKED:
                self._look()

    def _look(self) -> None:
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 - the documented way to see a thread's stack
        found = self._inspect(frame)
        if found is not None and (found.file, found.line) not in self._seen:
            self._seen.add((found.file, found.line))
            self._report(found)

    def _inspect(self, frame: FrameType | None) -> Blocked | None:
        """Find the innermost frame of the project, and the body that it belongs to."""
        place: tuple[str, int] | None = None
        while frame is not None:
            name = frame.f_code.co_filename
            if place is None and name.startswith(self._root) and "/site-packages/" not in name:
                place = name.removeprefix(self._root), frame.f_lineno
            if frame.f_code is self._body_code:
                return Blocked(*place, frame.f_locals.get("context")) if place else None
            frame = frame.f_back
        return Blocked(*place, None) if place else None


@contextmanager
def watching(root: Path, body_code: CodeType, report: Callable[[Blocked], None]) -> Iterator[None]:
    """Watch the running loop; ``report`` is called from a thread, once for each place.

    ``body_code`` is the function that runs a body: its local ``context`` says whose body it is.
    """
    watchdog = _Watchdog(root, body_code, report)
    try:
        yield
    finally:
        watchdog.stop()

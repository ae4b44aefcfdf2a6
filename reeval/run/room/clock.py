"""How much of its time has an attempt used? A timer that can be paused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

__all__ = ["Clock"]


class Clock:
    """Counts seconds from ``start`` and calls back once when ``limit`` of them have passed.

    Starting a sandbox or a session pauses it: those have limits of their own.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        """Seconds; None: there is none."""
        self.expired = False
        self._used = 0.0
        self._since: float | None = None
        self._pauses = 0
        self._timer: asyncio.TimerHandle | None = None
        self._on_expired: Callable[[], object] = bool

    @property
    def elapsed(self) -> float:
        """Seconds that counted so far."""
        return self._used + (monotonic() - self._since if self._since is not None else 0.0)

    def start(self, on_expired: Callable[[], object]) -> None:
        """Begin to count."""
        self._on_expired = on_expired
        self._run()

    def stop(self) -> None:
        """Count no more: the time is what it is now."""
        self._pauses += 1
        self._halt()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count while the block runs; blocks may overlap."""
        self._pauses += 1
        self._halt()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses and not self.expired:
                self._run()

    def _run(self) -> None:
        self._since = monotonic()
        if self.limit is not None:
            left = max(self.limit - self._used, 0.0)
            self._timer = asyncio.get_running_loop().call_later(left, self._expire)

    def _halt(self) -> None:
        if self._since is not None:
            self._used += monotonic() - self._since
            self._since = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._halt()
        self.expired = True
        self._on_expired()

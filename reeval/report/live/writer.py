"""How do thousands of lines get out cheaply, and the first one at once?

Lines are masked, gathered, and written together at most every ``FLUSH_EVERY`` seconds by one thread. A reader that
went away (``reeval run | head``) never breaks a run: from then on nothing is written.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from reeval.secrets import Masker

__all__ = ["FLUSH_EVERY", "LineWriter", "Sink"]

FLUSH_EVERY = 0.05
"""Seconds a line may wait."""


class Sink(Protocol):
    """Where text goes: a stream, or what draws above a live block."""

    @property
    def encoding(self) -> str:
        """What it can hold."""
        ...

    def write(self, text: str, /) -> object:
        """Take whole lines."""
        ...

    def flush(self) -> None:
        """Pass them on."""
        ...

    def fileno(self) -> int:
        """Return its file descriptor."""
        ...


class LineWriter:
    """Writes lines to a stream. Every line is masked; ``close`` writes what is left and ends its thread."""

    def __init__(
        self,
        out: Sink,
        masker: Masker,
        *,
        every: float | None = None,
        tick: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        """``tick`` is asked for lines every ``every`` seconds, whatever else is written: a heartbeat."""
        self._out = out
        self._masker = masker
        self._every = every
        self._tick = tick
        self._lock = threading.Lock()
        self._pending: list[str] = []
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._broken = False
        self._written = time.monotonic() - FLUSH_EVERY
        self._beaten = time.monotonic()
        self._thread: threading.Thread | None = None

    def write(self, lines: Iterable[str], *, now: bool = False) -> None:
        """Write lines soon; ``now`` writes them, and all before them, before it returns."""
        with self._lock:
            self._pending.extend(lines)
            if now or self._stop.is_set() or time.monotonic() - self._written >= FLUSH_EVERY:
                self._flush()
            self._start()
            if self._pending and not self._wake.is_set():
                self._wake.set()

    def close(self) -> None:
        """Write what is left and stop; safe to call twice."""
        with self._lock:
            self._stop.set()
            self._wake.set()
            self._flush()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _start(self) -> None:
        if self._thread is None and not self._stop.is_set():
            self._thread = threading.Thread(target=self._run, name="reeval-lines", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            woken = self._wake.wait(self._patience())
            self._stop.wait(FLUSH_EVERY if woken else 0)
            with self._lock:
                if self._stop.is_set():  # asked under the lock, or ``close`` could be forgotten by ``clear``
                    return
                self._wake.clear()
                self._beat()
                self._flush()

    def _patience(self) -> float | None:
        """Return the seconds until a heartbeat is due."""
        return None if self._every is None else max(0.01, self._beaten + self._every - time.monotonic())

    def _beat(self) -> None:
        if self._every is None or self._tick is None or time.monotonic() - self._beaten < self._every:
            return
        self._beaten = time.monotonic()
        self._pending.extend(self._tick())

    def _flush(self) -> None:
        if not self._pending:
            return
        text = self._masker.text("\n".join(self._pending)) + "\n"
        self._pending.clear()
        self._written = time.monotonic()
        if self._broken:
            return
        try:
            self._put(text)
        except OSError:
            self._broken = True
            _silence(self._out)

    def _put(self, text: str) -> None:
        try:
            self._out.write(text)
        except UnicodeEncodeError:
            encoding = self._out.encoding or "ascii"
            self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._out.flush()


def _silence(out: Sink) -> None:
    """Send a broken stream nowhere: the interpreter flushes it once more as it ends, and would complain."""
    with contextlib.suppress(OSError, ValueError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, out.fileno())
        os.close(sink)

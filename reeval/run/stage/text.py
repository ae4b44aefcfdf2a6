"""How is text that never ends kept in bounded memory? Its beginning and its end, with a note between."""

from __future__ import annotations

from collections import deque
from threading import Lock

__all__ = ["Excerpt"]


class Excerpt:
    """Keeps at most ``limit`` characters of what is added. Threads may share it."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = 0
        self._tail_size = 0
        self._cut = 0
        self._lock = Lock()

    def add(self, text: str) -> None:
        """Append ``text``."""
        with self._lock:
            room = self._half - self._head_size
            if room > 0:
                self._head.append(text[:room])
                self._head_size += len(self._head[-1])
                text = text[room:]
            if text:
                self._add_to_tail(text)

    def text(self) -> str:
        """Return what is kept."""
        with self._lock:
            note = f"\n[… {self._cut} characters left out …]\n" if self._cut else ""
            return "".join((*self._head, note, *self._tail))

    def _add_to_tail(self, text: str) -> None:
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size > self._half:
            first = self._tail.popleft()
            surplus = min(self._tail_size - self._half, len(first))
            self._cut += surplus
            self._tail_size -= surplus
            if surplus < len(first):
                self._tail.appendleft(first[surplus:])

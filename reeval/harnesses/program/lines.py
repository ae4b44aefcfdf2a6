"""How is an endless output read in bounded memory: as lines, or as one text?"""

from __future__ import annotations

__all__ = ["LINE_LIMIT", "Lines", "Tail"]

LINE_LIMIT = 4 << 20
"""Bytes of a line; a longer one is dropped and counted."""


class Lines:
    """Cuts chunks of bytes into lines."""

    def __init__(self, limit: int = LINE_LIMIT, *, blank: bool = False) -> None:
        """``blank``: empty lines count too."""
        self._limit = limit
        self._blank = blank
        self._parts: list[bytes] = []
        self._size = 0
        self.dropped = 0
        """How many lines were too long."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that ``chunk`` completes, without their ends."""
        *complete, rest = chunk.split(b"\n")
        if complete and self._size:
            self._keep(complete.pop(0))
            complete = self.rest() + complete
        self._keep(rest)
        if len(chunk) > self._limit:
            fitting = [line for line in complete if len(line) <= self._limit]
            self.dropped += len(complete) - len(fitting)
            complete = fitting
        return complete if self._blank else [*filter(None, complete)]

    def rest(self) -> list[bytes]:
        """Return what stands after the last line end, if it is not too long: one line, or none."""
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        if size > self._limit:
            self.dropped += 1
            return []
        return [b"".join(parts)] if size or self._blank else []

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts = []
        elif part:
            self._parts.append(part)


class Tail:
    """Keeps the head and the tail of bytes that come in chunks."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take a chunk."""
        self._size += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        # Cut seldom, so that small chunks stay cheap.
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """Return what was kept as text, with a note where something is left out."""
        tail = bytes(self._tail[-self._half :])
        left_out = self._size - len(self._head) - len(tail)
        head = self._head.decode("utf-8", "replace")
        if not left_out:
            return bytes(self._head + tail).decode("utf-8", "replace")
        return f"{head}\n[{left_out} bytes left out]\n{tail.decode('utf-8', 'replace')}"

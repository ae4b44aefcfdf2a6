"""How is output of any length kept in bounded memory? Its head and its tail, with a note in between."""

from __future__ import annotations

from codecs import getincrementaldecoder

__all__ = ["BoundedOutput"]

SEAM = 4096
"""Bytes next to the cut in which the end of a line is looked for."""


class BoundedOutput:
    """Collects bytes, keeps at most ``limit`` of them to show, and holds at most half as many more."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, chunk: bytes) -> None:
        """Take what was printed next."""
        self._total += len(chunk)
        if room := self._head_room - len(self._head):
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail += chunk[-self._tail_room :] if self._tail_room else b""
            # Cut only when it has doubled: cutting at every chunk would copy the tail each time.
            if len(self._tail) > 2 * self._tail_room:
                del self._tail[: -self._tail_room]

    @property
    def truncated(self) -> bool:
        """Whether something is left out."""
        return self._total > self._head_room + self._tail_room

    def text(self) -> str:
        """Return it as text: what is no UTF-8 is replaced, and a note says how much is left out in the middle."""
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        # Whole lines only: half a secret at the cut would not be recognized as one.
        head = self._head[: self._head.rfind(b"\n", -SEAM) + 1 or None]
        tail = self._tail[-self._tail_room :] if self._tail_room else b""
        tail = tail[tail.find(b"\n", 0, SEAM) + 1 :]
        before = "" if head.endswith(b"\n") else "\n"
        note = f"[… {self._total - len(head) - len(tail):,} bytes left out …]"
        return f"{_start(head)}{before}{note}\n{_end(tail)}"


def _start(data: bytes | bytearray) -> str:
    """Decode all but an unfinished character at the end."""
    return getincrementaldecoder("utf-8")("replace").decode(bytes(data))


def _end(data: bytes | bytearray) -> str:
    """Decode all but the rest of a character at the start, which has at most three bytes."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:].decode("utf-8", "replace")

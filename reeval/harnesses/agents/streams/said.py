"""How does text that comes in pieces become one message, in bounded memory?"""

from __future__ import annotations

from reeval.harnesses.bounds import MESSAGE_LIMIT

__all__ = ["Said"]


class Said:
    """Pieces of one message. What is far beyond the limit of a message is not kept: it would be cut anyway."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str) -> None:
        """Take a piece."""
        if piece and self._size <= 2 * MESSAGE_LIMIT:
            self._pieces.append(piece)
            self._size += len(piece)

    def take(self) -> str:
        """Return what was said since the last time; empty for nothing."""
        text = "".join(self._pieces)
        self._pieces, self._size = [], 0
        return text

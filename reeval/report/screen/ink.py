"""Which color does a word get, and is there any color at all?"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PLAIN", "Ink"]

_CODES = {"red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36", "bold": "1", "dim": "2"}
_WORDS = {
    "pass": "green",
    "passed": "green",
    "scored": "green",
    "completed": "green",
    "fail": "red",
    "failed": "red",
    "error": "magenta",
    "errors": "magenta",
    "review": "yellow",
    "undecided": "yellow",
    "interrupted": "yellow",
    "running": "cyan",
    "skipped": "dim",
    "todo": "dim",
}


@dataclass(frozen=True)
class Ink:
    """Paints text that is already escaped and padded: codes take no cells, and would be cut in half."""

    color: bool

    def __call__(self, style: str, text: str) -> str:
        """Return ``text`` in one of the named styles."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color and text else text

    def word(self, word: str, text: str | None = None) -> str:
        """Return an outcome's or a state's word in its color; ``text`` is what is painted, when it is more."""
        shown = word if text is None else text
        style = _WORDS.get(word)
        return self(style, shown) if style else shown


PLAIN = Ink(color=False)

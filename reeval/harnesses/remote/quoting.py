"""How does foreign text stand in a message? On one line, bounded, in quotes."""

from __future__ import annotations

__all__ = ["quoted"]

_LONGEST = 300


def quoted(text: bytes | str) -> str:
    """Return text fit to stand in a message."""
    if isinstance(text, bytes):
        text = text[: 4 * _LONGEST].decode("utf-8", "replace")
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * _LONGEST]).split())
    return f'"{line}"' if len(line) <= _LONGEST else f'"{line[: _LONGEST - 1]}…"'

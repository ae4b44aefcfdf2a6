"""How does text from agents and authors become safe to show, and how does it fit a width?

Widths are terminal cells: a wide character takes two, a combining one none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, combining, east_asian_width

__all__ = ["bounded", "cut", "escape", "one_line", "pad", "printable", "width", "wrap"]

_KEPT_FORMATS = frozenset("\u200c\u200d")
"""The joiners of scripts and emoji: invisible, harmless, and wrong when they are replaced."""
_TAB = "    "
_WORD = re.compile(r"\S+|\s+")


def escape(text: str) -> str:
    """Return ``text`` on one line, every character that is not printable as an escape a person can read."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _visible(char) for char in text)


def _visible(char: str) -> str:
    if char in _KEPT_FORMATS:
        return char
    if category(char) == "Zs":
        return " "
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def printable(text: str) -> list[str]:
    """Return the lines of ``text``, each escaped; tabs become spaces, a carriage return ends a line as it does."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [escape(line.replace("\t", _TAB)) for line in lines]


def width(text: str) -> int:
    """Return how many cells ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    if combining(char) or category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, cells: int | None) -> str:
    """Return ``text`` in at most ``cells`` cells, with ``…`` where it was cut; None does not cut."""
    if cells is None or width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    return _head(text, cells - 1) + "…"


def _head(text: str, cells: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _cells(char)
        if used > cells:
            return text[:index]
    return text


def one_line(text: str, cells: int | None = None) -> str:
    """Return ``text`` escaped, on one line, in at most ``cells`` cells."""
    if cells is not None and len(text) > 4 * cells + 4:
        text = text[: 4 * cells + 4]  # a megabyte is not escaped to show forty cells of it
    return cut(escape(text), cells)


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Return ``text`` filled with spaces to ``cells``; ``right`` puts it at the right edge."""
    space = " " * max(0, cells - width(text))
    return space + text if right else text + space


def wrap(text: str, cells: int | None) -> list[str]:
    """Break one escaped line into lines of at most ``cells`` cells, between words where there are any."""
    if cells is None or width(text) <= cells:
        return [text]
    lines, line = [], ""
    for word in _WORD.findall(text):
        if line and width(line) + width(word) > cells:
            lines.append(line.rstrip())
            line = ""
            if word.isspace():
                continue
        line += word
        while width(line) > cells:
            head = _head(line, cells) or line[0]
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line.rstrip()] if line.strip() else lines


def bounded(text: str, *, lines: int, cells: int | None, tail: bool = False) -> list[str]:
    """Return at most ``lines`` wrapped lines of ``text``, its head or its ``tail``, and how many more there are."""
    if not text.strip():
        return []
    if len(text) > 400 * lines:  # what cannot be shown is not escaped and wrapped
        text = text[-400 * lines :] if tail else text[: 400 * lines]
        cut_off = True
    else:
        cut_off = False
    shown = [part for line in printable(text.strip("\r\n")) for part in wrap(line, cells)]
    more = len(shown) - lines
    if more <= 0 and not cut_off:
        return shown
    note = "… more" if cut_off else f"… {more} more line{'s' if more > 1 else ''}"
    return [note, *shown[-lines:]] if tail else [*shown[:lines], note]

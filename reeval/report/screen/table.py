"""How do short texts become an aligned table, or flow into lines, that fit a width?"""

from __future__ import annotations

from collections.abc import Sequence

from reeval.report.screen.ink import Ink
from reeval.report.text import cut, pad, width

__all__ = ["flow", "table"]

_GAP = "  "
_SMALLEST = 6
"""Cells a column keeps, however narrow the terminal is."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    keep: int,
    whole: int = 0,
    cells: int | None = None,
    indent: str = "",
) -> list[str]:
    """Return a line for the head and one for each row, columns aligned; texts must be escaped.

    ``cells`` bounds the width of a line, ``indent`` included. Where that is too little, columns are left out from
    the right until the first ``keep`` are left, then the widest are cut, but for the first ``whole``.
    """
    lines = [tuple(head), *map(tuple, rows)]
    sizes = [max(map(width, column)) for column in zip(*lines, strict=True)]
    if cells is not None:
        sizes = _fit(sizes, cells - width(indent), keep, whole)
    return [indent + _line(line, sizes) for line in lines]


def _fit(sizes: list[int], room: int, keep: int, whole: int) -> list[int]:
    sizes = list(sizes)
    while (over := sum(sizes) + len(_GAP) * (len(sizes) - 1) - room) > 0:
        if len(sizes) > keep:
            sizes.pop()
            continue
        widest = max(sizes[whole:], default=0)
        if widest <= _SMALLEST:
            if len(sizes) == 1:
                return [max(1, room)]
            sizes.pop()
            continue
        second = max((size for size in sizes[whole:] if size < widest), default=_SMALLEST)
        index = sizes.index(widest, whole)
        sizes[index] = max(_SMALLEST, second, widest - over) if second < widest - 1 else widest - 1
    return sizes


def _line(texts: Sequence[str], sizes: Sequence[int]) -> str:
    return _GAP.join(pad(cut(text, size), size) for text, size in zip(texts, sizes, strict=False)).rstrip()


def flow(parts: Sequence[tuple[str, str | None]], separator: str, ink: Ink, cells: int | None) -> list[str]:
    """Join short texts, each with the word that colors it, into as few lines of at most ``cells`` as it takes."""
    lines, used = [""], 0
    for text, word in parts:
        size = width(text)
        if used and cells is not None and used + len(separator) + size > cells:
            lines[-1] += separator.rstrip() if separator.startswith(",") else ""
            lines.append("")
            used = 0
        lines[-1] += (separator if used else "") + (ink.word(word, text) if word else text)
        used += size + (len(separator) if used else 0)
    return lines

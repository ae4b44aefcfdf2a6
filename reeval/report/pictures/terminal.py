"""How are lifts drawn in a terminal? A line of characters for each: the interval, its point, and zero.

In a wide terminal a lift takes one line; in a narrower one its name, and then its words, stand on lines of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from reeval.report.pictures.bars import MARKS, Bar, Picture, tick_text
from reeval.report.screen.ink import Ink
from reeval.report.text import cut, one_line, pad, width, wrap
from reeval.schema.recorded.lifts import Said

__all__ = ["no_lifts_lines", "plot_lines"]

_GAP = "  "
_UNBOUNDED = 120
"""Cells that are laid out where nothing bounds a line."""
_WIDEST = 61
_LEAST_BESIDE_NAMES = 31
_LEAST_BESIDE_WORDS = 21
_STYLES: dict[Said, str] = {"helped": "green", "made it worse": "red", "can't tell yet": "yellow"}
_ASCII = dict(zip(map(ord, "▲▼○├┤─┼│−·›…–"), "^vo[]-+|-->~-", strict=True))
"""One character for one: nothing moves."""


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Where names, axis and words stand."""

    axis: int
    """Cells; odd, so that zero has one of its own."""
    names: int = 0
    """Cells of the names at the left; 0: each stands above its axis."""
    beside: bool = True
    """Words stand at the right of the axis, not above it; with names above it, notes stand behind those."""

    @property
    def indent(self) -> int:
        """Cells before the axis."""
        return self.names + len(_GAP)


class _Texts(NamedTuple):
    """Of one lift."""

    name: str
    axis: str
    said: str
    notes: str


def plot_lines(picture: Picture, *, ink: Ink, cells: int | None, unicode: bool = True) -> list[str]:
    """Return the lines of the picture, at most ``cells`` wide; without ``unicode`` they are ASCII.

    None for ``cells`` cuts no name.
    """
    names = [_writable(f"{bar.variant} · {bar.about}", unicode=unicode) for bar in picture.bars]
    said = [f"{bar.numbers} {MARKS[bar.said]} {bar.said}" for bar in picture.bars]
    notes = ["".join(f" · {note}" for note in bar.notes) for bar in picture.bars]
    layout = _layout(_UNBOUNDED if cells is None else cells, _widest(names), _widest(said), _widest(notes))
    lines = [ink("bold", line) for line in wrap(_writable(picture.title, unicode=unicode), cells)]
    lines += [ink("dim", line) for line in wrap(picture.meaning, cells)]
    lines += ["", " " * layout.indent + ink("dim", _ticks(picture, layout.axis))]
    for bar, name, words, note in zip(picture.bars, names, said, notes, strict=True):
        axis = _axis(bar, picture.extent, layout.axis, ink)
        paint = partial(ink, _STYLES[bar.said])
        lines += [line.rstrip() for line in _bar_lines(layout, cells, _Texts(name, axis, words, note), paint)]
    if picture.more:
        lines += ["", ink("dim", picture.rest)]
    return lines if unicode else [line.translate(_ASCII) for line in lines]


def no_lifts_lines(run_id: str, cells: int | None, *, unicode: bool = True) -> list[str]:
    """Say that a run has no lifts, and how to get one."""
    texts = (
        f"run {run_id} has no lifts: none of its evals compares anything",
        "to get one, write @compare(variants=[…]) above an eval and run it, with 4 runs a side or more",
        f"or hold the whole run against an earlier one: reeval show {run_id} --vs RUN",
    )
    return [line for text in texts for line in wrap(_writable(one_line(text), unicode=unicode), cells)]


def _writable(text: str, *, unicode: bool) -> str:
    """Return a text of nothing but characters that can be written: escapes take cells, so before it is measured."""
    return text if unicode else text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _widest(texts: Iterable[str]) -> int:
    return max(map(width, texts))


def _layout(room: int, names: int, said: int, notes: int) -> _Layout:
    gap = len(_GAP)
    if (size := room - names - said - notes - 2 * gap) >= _LEAST_BESIDE_NAMES:
        return _Layout(axis=_odd(size), names=names)
    if (size := room - said - 2 * gap) >= _LEAST_BESIDE_WORDS:
        return _Layout(axis=_odd(size))
    return _Layout(axis=_odd(room - gap), beside=False)


def _odd(size: int) -> int:
    return min(_WIDEST, size - 1 + size % 2)


def _bar_lines(layout: _Layout, cells: int | None, texts: _Texts, paint: Callable[[str], str]) -> list[str]:
    if layout.names:
        return [f"{pad(texts.name, layout.names)}{_GAP}{texts.axis}{_GAP}{paint(texts.said + texts.notes)}"]
    if layout.beside:
        name = cut(texts.name, None if cells is None else cells - width(texts.notes))
        return [name + paint(texts.notes), f"{_GAP}{texts.axis}{_GAP}{paint(texts.said)}"]
    words = wrap(texts.said + texts.notes, None if cells is None else cells - len(_GAP))
    return [cut(texts.name, cells), *(_GAP + paint(part) for part in words), _GAP + texts.axis]


def _place(value: float, extent: float, size: int) -> int:
    return math.floor((value / extent + 1) / 2 * (size - 1) + 0.5)


def _ticks(picture: Picture, size: int) -> str:
    """Write numbers above the axis: its ends and zero, and those between where they have room."""
    low, less, zero, more, high = picture.ticks
    return _numbered((low, less, zero, more, high), picture, size) or _numbered((low, zero, high), picture, size) or ""


def _numbered(values: Iterable[float], picture: Picture, size: int) -> str | None:
    """Return the line of numbers, each in the middle of its place; None when two of them touch."""
    line = ""
    for value in values:
        text = tick_text(value)
        start = min(size - len(text), max(0, _place(value, picture.extent, size) - len(text) // 2))
        if line and start <= len(line):
            return None
        line = line.ljust(start) + text
    return line


def _axis(bar: Bar, extent: float, size: int, ink: Ink) -> str:
    chars = [" "] * size
    zero = _place(0, extent, size)
    chars[zero] = "│"
    if bar.point is None:
        return "".join(chars)
    point = first = last = _place(bar.point, extent, size)
    if bar.span is not None:
        low, high = (_place(value, extent, size) for value in bar.span)
        chars[low : high + 1] = ["┼" if place == zero else "─" for place in range(low, high + 1)]
        chars[low], chars[high] = "├", "┤"
        first, last = min(low, point), max(high, point)
    chars[point] = MARKS[bar.said]
    text = "".join(chars)
    return text[:first] + ink(_STYLES[bar.said], text[first : last + 1]) + text[last + 1 :]

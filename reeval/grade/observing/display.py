"""How is a value shown in a message? As a bounded text that never costs more than it shows."""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

__all__ = ["MESSAGE_LIMIT", "SHOWN_LIMIT", "clip", "contrast", "listing", "show", "squeeze"]

MESSAGE_LIMIT = 1024
"""Characters of a check's message."""
SHOWN_LIMIT = 240
"""Characters of one shown value."""
_ITEMS = 8
_LONG = 120
"""Characters of an expected text from which only the difference is shown."""
_BIGGEST_INTEGER = 600
"""Bits; a longer one is shown by its size, since Python refuses to print the longest."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""It differs from run to run, and a label or a message must not."""


class _Bounded(reprlib.Repr):
    """The reprs of ``reprlib``, but bounded for subclasses and structured values too, and in their own order."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxdict = _ITEMS

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, str | bytes | bytearray):
            return _text(x, 80)
        if isinstance(x, Mapping):
            return self._fields("{", "}", ((self.repr1(key, level - 1) + ": ", x[key]) for key in x), level)
        names = _field_names(x)
        if names:
            shown = ((f"{name}=", getattr(x, name, None)) for name in names)
            return self._fields(f"{type(x).__name__}(", ")", shown, level)
        return str(super().repr1(x, level))

    def repr_int(self, x: Any, level: int) -> str:  # noqa: ARG002 - the signature of reprlib
        return repr(x) if x.bit_length() <= _BIGGEST_INTEGER else f"<an integer of {x.bit_length()} bits>"

    def repr_instance(self, x: Any, level: int) -> str:  # noqa: ARG002 - the signature of reprlib
        return _cut(_ADDRESS.sub("", " ".join(repr(x)[: SHOWN_LIMIT * 2].split())), SHOWN_LIMIT)

    def _fields(self, start: str, end: str, fields: Iterable[tuple[str, Any]], level: int) -> str:
        if level <= 0:
            return f"{start}...{end}"
        pieces = [name + self.repr1(value, level - 1) for name, value in islice(fields, _ITEMS + 1)]
        if len(pieces) > _ITEMS:
            pieces[-1] = "..."
        return f"{start}{', '.join(pieces)}{end}"


def show(value: object, limit: int = SHOWN_LIMIT) -> str:
    """Return a one-line repr of ``value`` of at most ``limit`` characters, however big the value is."""
    if isinstance(value, str | bytes | bytearray):
        return _cut(_text(value, limit), limit)
    try:
        return _cut(_BOUNDED.repr(value), limit)
    except Exception as error:  # noqa: BLE001 - a value of the author's or the agent's making
        return _cut(f"<{type(value).__name__} that raises {type(error).__name__} when it is shown>", limit)


def clip(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return at most ``limit`` characters of ``text``, as text that can be written as UTF-8."""
    cut = _cut(text, limit)
    return cut if cut.isascii() else cut.encode("utf-8", "backslashreplace").decode()[: max(limit, 0)]


def squeeze(text: str, limit: int) -> str:
    """Return ``text`` in one line without control characters, cut at ``limit`` characters."""
    words = " ".join(text[: limit * 4].split())
    return _cut("".join(char if char.isprintable() else "?" for char in words), limit)


def listing(names: Iterable[str], total: int) -> str:
    """Name the first of ``total`` things and count the rest."""
    first = [squeeze(name, 120) for name in islice(names, 8)]
    rest = total - len(first)
    return ", ".join(first) + (f" and {rest} more" if rest > 0 else "")


def contrast(expected: object, got: object) -> str:
    """Say what was expected and what came; of two long texts, only where they first differ."""
    if isinstance(expected, str) and isinstance(got, str) and len(expected) > _LONG:
        return _difference(expected, got)
    return f"expected {show(expected)}\ngot {show(got)}"


def _text(value: str | bytes | bytearray, limit: int = SHOWN_LIMIT) -> str:
    room = max(limit - 2, 1)
    shown = repr(value[:room])
    if len(value) <= room and len(shown) <= limit:
        return shown
    note = f"… ({len(value):,} {'characters' if isinstance(value, str) else 'bytes'})"
    return shown[: max(limit - len(note), 1)] + note


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _field_names(value: object) -> tuple[str, ...]:
    """Fields of a dataclass, a msgspec struct or a pydantic model, whose own reprs know no bounds."""
    if isinstance(value, type):
        return ()
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.repr)
    kind = type(value)
    return tuple(getattr(kind, "__struct_fields__", ()) or getattr(kind, "model_fields", ()))


def _difference(expected: str, got: str) -> str:
    """Return a unified diff of the lines around the first difference."""
    import difflib

    at = _first_difference(expected, got)
    start = expected.rfind("\n", 0, max(expected.rfind("\n", 0, at), 0)) + 1
    if at - start > SHOWN_LIMIT:  # a line so long that its beginning would hide the difference
        start = at - 40
    line = expected.count("\n", 0, at) + 1
    before, after = ([_cut(row, 300) for row in text[start : start + 2048].splitlines()] for text in (expected, got))
    rows = [row for row in difflib.unified_diff(before, after, "expected", "got", "", "", 2, "") if row[:2] != "@@"]
    if not rows:  # they differ in line ends only, or past what is shown of the line
        here = slice(max(at - 20, 0), at + 60)
        rows = [f"expected {show(expected[here])}", f"got {show(got[here])}"]
    return clip("\n".join([f"{_sizes(expected, got)}, different from line {line} on", *rows]))


def _sizes(expected: str, got: str) -> str:
    return f"expected {len(expected):,} characters, got {len(got):,}"


def _first_difference(left: str, right: str) -> int:
    """Return the first index at which two unequal texts differ; compares by blocks, so that it is fast for big ones."""
    block, shorter = 65536, min(len(left), len(right))
    for start in range(0, shorter, block):
        if left[start : start + block] != right[start : start + block]:
            for index in range(start, min(start + block, shorter)):
                if left[index] != right[index]:
                    return index
    return shorter


_BOUNDED = _Bounded()

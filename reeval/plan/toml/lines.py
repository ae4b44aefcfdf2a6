"""On which line of a TOML text does a key stand?

``tomllib`` gives values without their places. The scanner below walks a text that ``tomllib`` has already
accepted, so it finds no errors: it only has to know where keys and elements begin, and gives up where it does not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache

__all__ = ["KeyPath", "key_lines", "line_of"]

KeyPath = tuple[str | int, ...]
"""Keys of tables and positions in arrays, from the top."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r"""
    "{3}(?:\\.|[^\\])*?"{3,5}   # up to two quotes may stand before the closing three
    | '{3}.*?'{3,5}
    | "(?:\\.|[^"\\\n])*"
    | '[^'\n]*'
    """,
    re.DOTALL | re.VERBOSE,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_DOT = re.compile(r"[ \t]*\.[ \t]*")


@lru_cache(maxsize=4)
def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every key and array element of a valid TOML text."""
    return _Scanner(text).scan()


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """Return the line of ``path``, else of the nearest table or array that holds it, else 1."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lines: dict[KeyPath, int] = {}
        self._elements: defaultdict[KeyPath, int] = defaultdict(int)
        """How many ``[[elements]]`` an array of tables has so far."""

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._blank()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._blank()
        return self._lines

    def _header(self) -> KeyPath:
        element = self._text.startswith("[[", self._at)
        start = self._at
        self._at += 2 if element else 1
        self._space()
        path = self._resolved(self._keys())
        self._space()
        self._at += 2 if element else 1
        self._mark((), path, start)
        if element:
            path = (*path, self._elements[path])
            self._elements[path[:-1]] += 1
            self._mark(path[:-1], path[-1:], start)
        return path

    def _resolved(self, keys: KeyPath) -> KeyPath:
        """Point a header's keys at the last element of each array of tables on the way."""
        path: KeyPath = ()
        for index, key in enumerate(keys):
            path = (*path, key)
            if index < len(keys) - 1 and self._elements.get(path):
                path = (*path, self._elements[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        start = self._at
        keys = self._keys()
        self._mark(table, keys, start)
        self._space()
        self._at += 1  # the equals sign
        self._space()
        self._value((*table, *keys))

    def _value(self, path: KeyPath) -> None:
        character = self._text[self._at : self._at + 1]
        if character == "[":
            self._array(path)
        elif character == "{":
            self._inline(path)
        else:
            match = _STRING.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
            self._at = match.end() if match else len(self._text)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while not self._closes("]"):
            self._mark(path, (index,), self._at)
            self._value((*path, index))
            index += 1
            self._comma()

    def _inline(self, path: KeyPath) -> None:
        self._at += 1
        while not self._closes("}"):
            self._pair(path)
            self._comma()

    def _closes(self, bracket: str) -> bool:
        self._blank()
        if self._at < len(self._text) and self._text[self._at] != bracket:
            return False
        self._at += 1
        return True

    def _comma(self) -> None:
        self._blank()
        if self._text.startswith(",", self._at):
            self._at += 1

    def _keys(self) -> KeyPath:
        keys = [self._key()]
        while dot := _DOT.match(self._text, self._at):
            self._at = dot.end()
            keys.append(self._key())
        return tuple(keys)

    def _key(self) -> str:
        if string := _STRING.match(self._text, self._at):
            self._at = string.end()
            return _unquoted(string[0])
        bare = _BARE_KEY.match(self._text, self._at)
        self._at = bare.end() if bare else len(self._text)
        return bare[0] if bare else ""

    def _mark(self, table: KeyPath, keys: KeyPath, at: int) -> None:
        line = bisect_right(self._starts, at)
        for end in range(1, len(keys) + 1):
            self._lines.setdefault((*table, *keys[:end]), line)

    def _space(self) -> None:
        while self._text.startswith((" ", "\t"), self._at):
            self._at += 1

    def _blank(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match
        self._at = match.end()


def _unquoted(quoted: str) -> str:
    if quoted[0] == "'" or "\\" not in quoted:
        return quoted[1:-1]
    import tomllib

    (key,) = tomllib.loads(f"{quoted} = 0")
    return key

"""What does a YAML text hold, and on which line does each part stand?

The text becomes nodes and never objects: a tag makes nothing, an alias is the node that it names, and only the shape
that a reader asks for is walked, so that aliases of aliases cost what is written and not what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reeval.errors import did_you_mean

__all__ = ["Source", "Table", "read_source"]

_SHOWN = 60
_STR = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_BOOL = "tag:yaml.org,2002:bool"
_TRUE = frozenset({"true", "yes", "on"})
_WORDS = {_BOOL: "a flag", "tag:yaml.org,2002:int": "a number", "tag:yaml.org,2002:float": "a number"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and what is wrong in it: problems are collected, so that all are told at once."""

    path: str
    """From the project's root, with ``/``."""
    text: str
    """With ``\\n`` at every line's end."""
    problems: list[str] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Add a problem of a line."""
        self.problems.append(f"{self.path}:{line}: {text}")

    def document(self, text: str | None = None) -> Table | None:
        """Return the mapping that the text (all of it, or a part that keeps its lines) holds.

        None: it is empty, or there is a problem.
        """
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            node = yaml.compose(self.text if text is None else text, Loader=loader)
        except yaml.YAMLError as error:
            self.add(*_told(error, self.text))
            return None
        except RecursionError:
            self.add(1, "the values are nested too deeply")
            return None
        return None if node is None else self.table(node, "the file")

    def table(self, node: Any, name: str) -> Table | None:
        """Return a node as a mapping; None, with a problem, when it is none."""
        if _kind(node) != "mapping":
            self.add(_line(node), f"{name} is {_shown(node)}; it should be keys with values")
            return None
        return Table(self, node, name)


class Table:
    """A mapping whose keys are texts."""

    def __init__(self, source: Source, node: Any, name: str) -> None:
        self.source = source
        self.line = _line(node)
        self.name = name
        """As messages call it; a reader makes it more telling once it knows how."""
        self._values: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        for key, value in node.value:
            self._enter(key, value)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def line_of(self, key: str) -> int:
        """Return the line of a key, else the mapping's."""
        return self._lines.get(key, self.line)

    def wrong(self, key: str, text: str) -> None:
        """Add a problem at the line of a key."""
        self.source.add(self.line_of(key), f"{self.name} {text}")

    def hold_to(self, known: Iterable[str]) -> None:
        """Refuse keys that are not ``known``."""
        known = tuple(known)
        for key in [key for key in self._values if key not in known]:
            self.wrong(key, f"has no key {key!r}{did_you_mean(key, known)}")

    def text(self, key: str, *, one_line: bool = False) -> str | None:
        """Return a text that is not blank; None when it is not there, or, with a problem, when it is none."""
        node = self._values.get(key)
        if node is None:
            return None
        if _kind(node) != "scalar" or node.tag != _STR:
            self.wrong(key, f"has {key} {_shown(node)}; {_text_expected(node)}")
            return None
        text: str = node.value.strip()
        if not text:
            self.wrong(key, f"has an empty {key}; write it, or leave the key out")
            return None
        if one_line and not text.isprintable():
            self.wrong(key, f"has {key} {_shown(node)}; it should be one line of plain characters")
            return None
        return text

    def needed(self, key: str, *, one_line: bool = False) -> str | None:
        """Return a text; None, with a problem, also when it is not there."""
        if key not in self._values:
            self.source.add(self.line, f"{self.name} has no {key}; add one")
        return self.text(key, one_line=one_line)

    def flag(self, key: str) -> bool:
        """Return a flag; False when it is not there, or, with a problem, when it is none."""
        node = self._values.get(key)
        if node is None:
            return False
        if _kind(node) != "scalar" or node.tag != _BOOL:
            self.wrong(key, f"has {key} {_shown(node)}; it should be true or false")
            return False
        return node.value.lower() in _TRUE

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty when it is not there, or, with a problem, when it is none."""
        node = self._values.get(key)
        if node is None:
            return ()
        items = node.value if _kind(node) == "sequence" else [node]
        if not all(_kind(item) == "scalar" and item.tag == _STR and item.value.strip() for item in items):
            self.wrong(key, f"has {key} {_shown(node)}; it should be a list of texts")
            return ()
        return tuple(item.value.strip() for item in items)

    def tables(self, key: str, item: str) -> Iterator[Table]:
        """Yield the mappings of a list; each other element is a problem. ``item`` names one: ``question``."""
        node = self._values.get(key)
        if node is None:
            return
        if _kind(node) != "sequence":
            self.wrong(key, f"has {key} {_shown(node)}; it should be a list, one '- name: …' for each {item}")
            return
        for number, element in enumerate(node.value, 1):
            if table := self.source.table(element, f"{item} {number}"):
                yield table

    def _enter(self, key: Any, value: Any) -> None:
        if _kind(key) != "scalar":
            self.source.add(_line(key), f"{self.name} has a key that is no text; write 'name: value'")
        elif key.value == "<<" and key.tag != _STR:
            self.source.add(_line(key), f"{self.name} merges keys ('<<'), which is not read; write them out")
        elif key.value in self._values:
            before = self._lines[key.value]
            self.source.add(_line(key), f"{self.name} has the key {key.value!r} twice (line {before}); drop one")
        else:
            self._values[key.value] = value
            self._lines[key.value] = _line(key)


def read_source(root: Path, path: str) -> Source:
    """Read a text file; what is wrong with it as a whole is its first problem, and it is empty."""
    try:
        text = (root / path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        source = Source(path, "")
        line = bytes(error.object[: error.start]).count(b"\n") + 1
        source.add(line, f"byte {error.start} is not UTF-8; save the file as UTF-8")
        return source
    except OSError as error:
        source = Source(path, "")
        source.problems.append(f"{path}: cannot be read: {error.strerror or error}")
        return source
    return Source(path, text.replace("\r\n", "\n").replace("\r", "\n"))


def _told(error: Any, text: str) -> tuple[int, str]:
    """Return the line and the words of what a YAML parser refuses."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position = getattr(error, "position", None) or 0
        reason = getattr(error, "reason", None) or str(error).splitlines()[0]
        return text.count("\n", 0, position) + 1, f"this is not YAML: {reason}"
    lines = text.split("\n")
    for number in (mark.line, mark.line + 1):  # the parser stops before a tab, or at it
        line = lines[number] if number < len(lines) else ""
        if "\t" in line[: len(line) - len(line.lstrip())]:
            return number + 1, "this is not YAML: the line is indented with a tab; use spaces"
    problem = str(error.problem or error)
    if "another document" in problem:
        return mark.line + 1, "a second document begins here; keep everything in one"
    began = getattr(error, "context_mark", None)
    since = ""
    if began and began.line != mark.line:
        since = f", {error.context} that begins in line {began.line + 1}"
    return mark.line + 1, f"this is not YAML: {problem}, column {mark.column + 1}{since}{_advice(problem)}"


def _advice(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "; indent its keys alike, and put a text that holds ': ' in quotes, or write it below with '|'"
    return ""


def _kind(node: Any) -> str:
    kind: str = node.id  # PyYAML's word for what a node is
    return kind


def _line(node: Any) -> int:
    line: int = node.start_mark.line + 1
    return line


def _text_expected(node: Any) -> str:
    if _kind(node) == "scalar" and node.tag != _NULL:
        return f"{_WORDS.get(node.tag, 'no text')} to YAML, so put it in quotes"
    return "it should be a text"


def _shown(node: Any) -> str:
    if _kind(node) != "scalar":
        return "a list" if _kind(node) == "sequence" else "a table"
    if node.tag == _NULL:
        return "nothing"
    text = repr(node.value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

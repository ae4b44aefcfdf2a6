"""What does a file of labelled examples say? JSON lines, each with what a judge is shown and what a person found.

``{"material": {"answer": "…"}, "score": 0.8}`` or ``{"material": "…", "label": "fail", "note": "no motive"}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reeval.errors import UsageError, did_you_mean

__all__ = ["Example", "parse_examples"]

_LABELS = {"pass": True, "fail": False}
_FOUND = ("score", "label", "choice")
"""Keys for what a person found; ``choice`` is another word for ``label``."""
_KEYS = ("material", *_FOUND, "note")
_SAMPLE = '{"material": {"answer": "…"}, "score": 0.8}'
_MOST_PROBLEMS = 20
_SHOWN = 60
"""Characters of a bad value in a message."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """One piece of work that a person has looked at: either ``score`` or ``label`` is there."""

    line: int
    """In the file, from 1."""
    material: dict[str, Any] | str
    """What the judge is shown: values by name, or the output alone."""
    score: float | None = None
    """0–1."""
    label: bool | None = None
    """Whether it should pass."""
    note: str = ""
    """The person's own reason; no judge is shown it."""

    def passes(self, threshold: float) -> bool:
        """Say whether the person lets it pass: by the label, or a score of at least ``threshold``."""
        return bool(self.label) if self.score is None else self.score >= threshold

    @property
    def value(self) -> float:
        """What a judge that agrees would measure: the score; of a label 1 or 0."""
        return float(bool(self.label)) if self.score is None else self.score


class _BadLineError(Exception):
    """What is wrong with one line."""


def parse_examples(data: bytes, name: str) -> list[Example]:
    """Return the examples of a file called ``name``; empty lines count for nothing.

    Raises ``UsageError`` that names every bad line, and when there is no example.
    """
    examples: list[Example] = []
    problems: list[str] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            examples.append(_example(number, _decoded(line)))
        except _BadLineError as problem:
            problems.append(f"{name}:{number}: {problem}")
    if problems:
        raise UsageError("\n".join(_first(problems)))
    if not examples:
        raise UsageError(
            f'{name} holds no example; write lines such as {{"material": {{"answer": "…"}}, "score": 0.8}}'
        )
    return examples


def _first(problems: Sequence[str]) -> list[str]:
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"and {more} more lines like these"] if more > 0 else [])]


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line.decode(), parse_constant=_no_number, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise _BadLineError(f"byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise _BadLineError("its values are nested too deeply") from None
    except ValueError as error:
        raise _BadLineError(f"this is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise _BadLineError(f"a line is an object with material and score or label, not {_shown(data)}")
    return data


def _no_number(word: str) -> float:
    raise _BadLineError(f"{word} is no number in JSON; write a number from 0 to 1")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: which one counts would be a guess."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        raise _BadLineError(f"the key {_shown(next(name for name in names if names.count(name) > 1))} stands twice")
    return data


def _example(line: int, data: dict[str, Any]) -> Example:
    for key in data:
        if key not in _KEYS:
            raise _BadLineError(f"there is no key {_shown(key)}{did_you_mean(key, _KEYS)}")
    found = [key for key in _FOUND if key in data]
    if len(found) != 1:
        said = f"it has {' and '.join(found)}" if found else "it says nothing of what a person found"
        raise _BadLineError(f"{said}; give either score (0 to 1) or label (pass or fail)")
    note = data.get("note", "")
    if not isinstance(note, str):
        raise _BadLineError(f"note is {_shown(note)}; give a text")
    value = data[found[0]]
    return Example(
        line=line,
        material=_material(data),
        score=_score(value) if found[0] == "score" else None,
        label=None if found[0] == "score" else _label(found[0], value),
        note=note,
    )


def _material(data: dict[str, Any]) -> dict[str, Any] | str:
    if "material" not in data:
        raise _BadLineError("there is no material; give what the judge is shown, an object or a text")
    material = data["material"]
    if not isinstance(material, dict | str) or not material:
        raise _BadLineError(f"material is {_shown(material)}; give an object with values by name, or a text")
    return material


def _score(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0 <= value <= 1:
        raise _BadLineError(f"score is {_shown(value)}; give a number from 0 to 1")
    return float(value)


def _label(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in _LABELS:
        return _LABELS[value]
    raise _BadLineError(f'{key} is {_shown(value)}; write "pass" or "fail", true or false')


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

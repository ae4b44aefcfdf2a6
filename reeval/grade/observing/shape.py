"""Does JSON data have a given shape? Partial objects, whole arrays, patterns and predicates at the leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reeval.grade.observing.display import contrast, show
from reeval.grade.observing.expectation import MATCHED, errored, mismatched, refuse
from reeval.grade.observing.logic import every
from reeval.grade.observing.observe import is_match, observe
from reeval.schema.observation import Observation

__all__ = ["Predicate", "agrees", "ask", "check_shape", "has_shape", "leaves", "same"]

Predicate = Callable[[Any], bool]


def check_shape(call: str, shape: object, path: str = "$") -> None:
    """Refuse a shape that JSON data can never have."""
    if isinstance(shape, Mapping):
        for key, part in shape.items():
            if not isinstance(key, str):
                refuse(call, f"{path}: a key of JSON data is a text, got {show(key, 80)}")
            check_shape(call, part, f"{path}.{key}")
    elif isinstance(shape, list | tuple):
        for index, part in enumerate(shape):
            check_shape(call, part, f"{path}[{index}]")
    elif isinstance(shape, re.Pattern):
        if not isinstance(shape.pattern, str):
            refuse(call, f"{path}: takes a pattern over text, got one over bytes")
    elif not (shape is None or isinstance(shape, str | int | float) or callable(shape) or is_match(shape)):
        refuse(call, f"{path}: takes JSON data, patterns, matches and predicates, got {show(shape, 80)}")


def has_shape(shape: Any, value: object) -> Observation:
    """Compare ``value`` with ``shape``; the first part that differs is named by its path."""
    return every(list(_parts(shape, value, "$")))


def same(expected: object, got: object) -> bool:
    """Say whether two values are equal, deeply: NaN equals NaN, and ``True`` is not 1."""
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, dict) and isinstance(got, dict):
        return expected.keys() == got.keys() and all(same(part, got[key]) for key, part in expected.items())
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple) and type(expected) is type(got):
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, float) and isinstance(got, float) and expected != expected:  # noqa: PLR0124 - NaN
        return got != got  # noqa: PLR0124 - NaN
    return bool(expected == got)


def agrees(pattern: str | re.Pattern[str] | None, text: str) -> bool:
    """Say whether ``text`` holds a literal text, or something that a compiled pattern finds; None: always."""
    if pattern is None:
        return True
    return pattern in text if isinstance(pattern, str) else pattern.search(text) is not None


def ask(name: str, predicate: Callable[[Any], object], value: object) -> Observation:
    """Ask a predicate of the author's, which must answer True or False."""
    answer = predicate(value)
    if answer is True:
        return MATCHED
    if answer is False:
        return mismatched(f"{name} does not hold\ngot {show(value)}")
    close = getattr(answer, "close", None)
    if hasattr(answer, "__await__") and close is not None:
        close()  # it will never be awaited
        return errored(f"{name} is asynchronous; await what it needs in the body and give it the result")
    return errored(f"{name} returned {show(answer)}, not True or False")


def leaves(value: object) -> Iterator[str]:
    """Yield the texts in JSON data, and its other leaves as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield json.dumps(value, default=str)


def _parts(shape: Any, value: object, path: str) -> Iterator[Observation]:
    if isinstance(shape, Mapping):
        yield from _object_parts(shape, value, path)
    elif isinstance(shape, list | tuple):
        yield from _array_parts(shape, value, path)
    else:
        yield _leaf(shape, value, path)


def _object_parts(shape: Mapping[str, Any], value: object, path: str) -> Iterator[Observation]:
    if not isinstance(value, Mapping):
        yield mismatched(f"at {path}: expected an object\ngot {show(value)}")
        return
    for key, part in shape.items():
        if key in value:
            yield from _parts(part, value[key], f"{path}.{key}")
        else:
            yield mismatched(f"at {path}: expected the key {key!r}\ngot {show(value)}")


def _array_parts(shape: list[Any] | tuple[Any, ...], value: object, path: str) -> Iterator[Observation]:
    if not isinstance(value, list | tuple):
        yield mismatched(f"at {path}: expected an array\ngot {show(value)}")
    elif len(value) != len(shape):
        yield mismatched(f"at {path}: expected {len(shape)} items\ngot {len(value)}: {show(value)}")
    else:
        for index, (part, item) in enumerate(zip(shape, value, strict=True)):
            yield from _parts(part, item, f"{path}[{index}]")


def _leaf(shape: Any, value: object, path: str) -> Observation:
    if isinstance(shape, re.Pattern):
        if isinstance(value, str) and shape.search(value):
            return MATCHED
        return mismatched(f"at {path}: expected a text that {show(shape)} finds\ngot {show(value)}")
    if is_match(shape):
        return _at(path, observe(shape, value))
    if callable(shape):
        return _at(path, ask(getattr(shape, "__name__", "the predicate"), shape, value))
    return MATCHED if same(shape, value) else mismatched(f"at {path}: {contrast(shape, value)}")


def _at(path: str, seen: Observation) -> Observation:
    return Observation(status=seen.status, message=f"at {path}: {seen.message}") if seen.message else seen

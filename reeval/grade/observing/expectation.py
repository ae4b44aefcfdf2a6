"""What is a match made of? A name, its shown argument and a function from a value to an observation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from reeval.errors import UsageError
from reeval.grade.observing.display import clip, show, squeeze
from reeval.schema.observation import CheckStatus, Observation

__all__ = [
    "MATCHED",
    "Expectation",
    "compiled",
    "count_argument",
    "errored",
    "finite",
    "finite_argument",
    "matched",
    "mismatched",
    "refuse",
    "text_argument",
    "unavailable",
    "words_argument",
]

MATCHED = Observation(status=CheckStatus.MATCHED)


@dataclass(frozen=True, slots=True, repr=False)
class Expectation:
    """A match of reeval's own (see ``reeval.authoring.Match``)."""

    name: str
    argument: str
    observe: Callable[[object], Observation]
    measures: bool = False

    def __repr__(self) -> str:
        return f"{self.name}({self.argument})"

    def __bool__(self) -> NoReturn:
        """Refuse: a match has no truth value before it is checked."""
        raise UsageError(f"{self.name}() is a match, not a result; pass it to c.check(value, {self.name}(…))")


def matched(message: str = "") -> Observation:
    """Return a match, with something to say about it."""
    return Observation(status=CheckStatus.MATCHED, message=clip(message)) if message else MATCHED


def mismatched(message: str) -> Observation:
    """Return a mismatch: expected and got."""
    return Observation(status=CheckStatus.MISMATCHED, message=clip(message))


def unavailable(reason: str) -> Observation:
    """Return that the evidence cannot be had."""
    return Observation(status=CheckStatus.UNAVAILABLE, message=clip(reason))


def errored(reason: str) -> Observation:
    """Return that the match itself did not work on this value."""
    return Observation(status=CheckStatus.ERRORED, message=clip(reason))


def refuse(call: str, problem: str) -> NoReturn:
    """Raise the ``UsageError`` of a match that cannot be made."""
    raise UsageError(f"{call}: {problem}")


def text_argument(call: str, value: object) -> str:
    """Return ``value``, which must be a text that is not empty."""
    if not isinstance(value, str):
        refuse(call, f"takes a text, got {show(value, 80)}")
    if not value:
        refuse(call, "an empty text is part of every text; say what to look for")
    return value


def words_argument(call: str, value: object) -> str:
    """Return ``value``, which must say something in words, in one line."""
    if not isinstance(value, str) or not value.strip():
        refuse(call, f"the first argument says in words what is looked at, got {show(value, 80)}")
    return squeeze(value, 80)


def finite_argument(call: str, value: object) -> float:
    """Return ``value``, which must be a finite number."""
    if finite(value) is None or not isinstance(value, int | float):
        refuse(call, f"takes a finite number, got {show(value, 80)}")
    return value


def finite(value: object) -> float | None:
    """Return a finite number as a float, and None for anything else; True and False are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def count_argument(call: str, value: object, least: int = 0) -> int:
    """Return ``value``, which must be a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        refuse(call, f"takes a whole number from {least}, got {show(value, 80)}")
    return value


def compiled(call: str, value: object) -> re.Pattern[str]:
    """Return a regular expression over texts."""
    if isinstance(value, re.Pattern):
        if not isinstance(value.pattern, str):
            refuse(call, f"takes a pattern over text, got one over bytes: {show(value.pattern, 80)}")
        return value
    try:
        return re.compile(text_argument(call, value))
    except re.error as error:
        raise UsageError(f"{call}: {show(value, 80)} is not a regular expression: {error}") from error

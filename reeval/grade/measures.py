"""How much of a value is there? The matches that settle as a number from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reeval.authoring import Match
from reeval.grade.observing.display import show
from reeval.grade.observing.expectation import Expectation, errored, refuse, unavailable, words_argument
from reeval.schema.observation import CheckStatus, Observation

__all__ = ["measures", "similarity"]

_MOST_WORK = 2 * 10**10
"""Characters times characters: more would block the run for longer than half a second."""


def similarity(expected: str) -> Match:
    """Measure ``1 - distance / longest`` by the characters to edit (Levenshtein); two empty texts are 1."""
    if not isinstance(expected, str):
        refuse("similarity", f"takes a text, got {show(expected, 80)}")

    def look(value: object) -> Observation:
        from rapidfuzz.distance import Levenshtein

        if not isinstance(value, str):
            return errored(f"similarity compares texts, got {show(value)}")
        if len(value) * len(expected) > _MOST_WORK:
            sizes = f"{len(value):,} and {len(expected):,} characters"
            return unavailable(f"the texts are too long to compare by characters: {sizes}")
        return _measured(Levenshtein.normalized_similarity(expected, value))

    return Expectation("similarity", show(expected, 80), look, measures=True)


def measures(name: str, function: Callable[[Any], float]) -> Match:
    """Measure by ``function``, which must return a number from 0 to 1; it is never clamped."""
    label = words_argument("measures", name)
    if not callable(function):
        refuse("measures", f"the second argument is a function of the value, got {show(function, 80)}")

    def look(value: object) -> Observation:
        number: object = function(value)
        if isinstance(number, bool) or not isinstance(number, int | float):
            close = getattr(number, "close", None)
            if hasattr(number, "__await__") and close is not None:
                close()  # it will never be awaited
                return errored(f"{label!r} is asynchronous; await what it needs in the body and give it the result")
            return errored(f"{label!r} returned {show(number)}, not a number from 0 to 1")
        return _measured(float(number))

    return Expectation("measures", label, look, measures=True)


def _measured(number: float) -> Observation:
    return Observation(status=CheckStatus.MEASURED, measurement=number)

"""The matches that measure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reeval.errors import UsageError
from reeval.grade.measures import measures, similarity
from reeval.grade.observing.observe import observe


@pytest.mark.parametrize(
    ("expected", "got", "measurement"),
    [
        ("", "", 1.0),
        ("abc", "", 0.0),
        ("", "abc", 0.0),
        ("abc", "abc", 1.0),
        ("abc", "abd", 2 / 3),
        ("kitten", "sitting", 1 - 3 / 7),
        ("ab", "xaby", 0.5),
        ("😀", "a", 0.0),
        ("a😀", "a", 0.5),
        ("A", "a", 0.0),
    ],
)
def test_similarity_is_one_minus_distance_by_the_longer(expected: str, got: str, measurement: float) -> None:
    seen = observe(similarity(expected), got)
    assert seen.status == "measured"
    assert seen.measurement == pytest.approx(measurement, abs=1e-15)


@pytest.mark.parametrize("value", [None, 3, b"abc", ["abc"]])
def test_similarity_to_what_is_no_text_is_an_error(value: object) -> None:
    assert observe(similarity("abc"), value).status == "errored"


def test_texts_too_long_to_compare_are_unavailable_at_once() -> None:
    seen = observe(similarity("x" * 300_000), "y" * 300_000)
    assert (seen.status, "too long to compare" in seen.message) == ("unavailable", True)


@pytest.mark.parametrize("number", [0, 1, 0.5, 0.0, 1.0, 5e-324])
def test_a_number_from_0_to_1_is_a_measurement(number: float) -> None:
    seen = observe(measures("quality", lambda _: number), "x")
    assert (seen.status, seen.measurement) == ("measured", number)


async def later(value: object) -> float:
    return 1.0


@pytest.mark.parametrize(
    "function",
    [
        lambda _: 1.0000001,
        lambda _: -0.1,
        lambda _: math.nan,
        lambda _: math.inf,
        lambda _: True,
        lambda _: "0.5",
        lambda _: None,
        lambda _: 10**400,
        lambda _: 1 / 0,
        later,
    ],
)
def test_anything_else_is_an_error_and_never_clamped(function: Any) -> None:
    seen = observe(measures("quality", function), "x")
    assert (seen.status, seen.measurement, bool(seen.message)) == ("errored", None, True)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("similarity: takes a text, got None", lambda: similarity(None)),  # type: ignore[arg-type]
        ("measures: the first argument says in words", lambda: measures("", len)),
        ("measures: the second argument is a function", lambda: measures("quality", 0.5)),  # type: ignore[arg-type]
    ],
)
def test_a_measure_that_makes_no_sense_is_refused_at_the_call(message: str, make: Any) -> None:
    with pytest.raises(UsageError, match=message):
        make()

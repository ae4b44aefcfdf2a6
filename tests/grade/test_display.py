"""How values are shown: bounded, in one line, the same in every run."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pydantic
import pytest

from reeval.grade.observing.display import clip, contrast, listing, show, squeeze


@dataclass
class Point:
    x: int
    y: Any = None
    hidden: int = field(default=0, repr=False)


class Struct(msgspec.Struct):
    x: int


class Model(pydantic.BaseModel):
    x: int


class Text(str):
    __slots__ = ()


class Loud:
    def __repr__(self) -> str:
        raise ValueError("no repr")


class Tall:
    def __repr__(self) -> str:
        return "one\ntwo"


Pair = namedtuple("Pair", "a b")  # noqa: PYI024 - the untyped kind is a value to show too


def cycle() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb", r"'a\nb'"),
        (b"ab", "b'ab'"),
        (Text("ab"), "'ab'"),
        (1.5, "1.5"),
        (None, "None"),
        ({"b": 1, "a": [2]}, "{'b': 1, 'a': [2]}"),
        (OrderedDict(z=1), "{'z': 1}"),
        (dict.fromkeys(range(20)), "{0: None, 1: None, 2: None, 3: None, 4: None, 5: None, 6: None, 7: None, ...}"),
        (list(range(20)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
        ((1,), "(1,)"),
        ({3, 1}, "{1, 3}"),
        (Point(1, Point(2)), "Point(x=1, y=Point(x=2, y=None))"),
        (Struct(x=1), "Struct(x=1)"),
        (Model(x=1), "Model(x=1)"),
        (Point, "<class 'reeval_tests.Point'>"),
        (Tall(), "one two"),
        (object(), "<object object>"),
        (Loud(), "<Loud that raises ValueError when it is shown>"),
        ([1, Loud()], "<list that raises ValueError when it is shown>"),
        (10**400, "<an integer of 1329 bits>"),
        ("x" * 300, "'" + "x" * 221 + "… (300 characters)"),
        (b"x" * 300, "b'" + "x" * 225 + "… (300 bytes)"),
        (["x" * 300], "['" + "x" * 61 + "… (300 characters)]"),
        ("\ud800", r"'\ud800'"),
        ([[[[[1]]]]], "[[[[...]]]]"),
        (Pair(1, 2), "Pair(a=1, b=2)"),
    ],
)
def test_a_value_is_shown_in_one_bounded_line(value: object, shown: str) -> None:
    assert show(value).replace(__name__, "reeval_tests") == shown


def test_a_cycle_is_shown() -> None:
    assert len(show(cycle())) < 100


@pytest.mark.parametrize("limit", [1, 10, 40, 240])
@pytest.mark.parametrize("value", ["\x00" * 1000, "x" * 1000, ["\u202e" * 500] * 50, {"k" * 500: "v" * 500}, 10**700])
def test_the_limit_holds(value: object, limit: int) -> None:
    assert len(show(value, limit)) <= limit
    assert show(value, limit).isprintable()


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("", 3, ""), ("\ud800", 10, "\\ud800"), ("é", 1, "é")],
)
def test_clipped_text_is_short_and_can_be_written(text: str, limit: int, cut: str) -> None:
    assert clip(text, limit) == cut
    clip(text, limit).encode()


@pytest.mark.parametrize(
    ("text", "squeezed"),
    [(" a  b\n\tc ", "a b c"), ("a\x1b[0m", "a?[0m"), ("a\u202eb", "a?b"), ("x" * 30, "x" * 19 + "…")],
)
def test_squeezed_text_is_one_printable_line(text: str, squeezed: str) -> None:
    assert squeeze(text, 20) == squeezed


def test_a_listing_names_the_first_and_counts_the_rest() -> None:
    assert listing(["a", "b"], 2) == "a, b"
    assert listing((str(n) for n in range(1000)), 1000) == "0, 1, 2, 3, 4, 5, 6, 7 and 992 more"


@pytest.mark.parametrize("at", [0, 1, 65_535, 65_536, 65_537, 199_999])
def test_the_first_difference_of_long_texts_is_found(at: int) -> None:
    expected = "x" * 200_000
    got = expected[:at] + "y" + expected[at + 1 :]
    message = contrast(expected, got)
    assert ("+" + "x" * min(at, 40) + "y") in message
    assert len(message) <= 1024


def test_a_text_that_ends_early_differs_where_it_ends() -> None:
    lines = [f"line {n}\n" for n in range(100)]
    message = contrast("".join(lines), "".join(lines[:60]))
    assert message.startswith("expected 790 characters, got 470, different from line 61 on\n--- expected\n+++ got")
    assert "-line 60\n" in message

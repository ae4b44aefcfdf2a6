"""Numbers and quotes in the words of a claim."""

from __future__ import annotations

import pytest

from reeval.grade.analysis.figures import Figure, Unit, holds
from reeval.grade.analysis.said import agrees, numbers_in, quoted_in, without_names


def figure(value: float, unit: Unit = "count") -> Figure:
    return Figure(id="n1", what="it", value=value, unit=unit, run="this")


@pytest.mark.parametrize(
    ("said", "value", "unit", "does"),
    [
        (3, 3, "count", True),
        (2.5, 3, "count", False),
        (3, 3.4, "count", False),
        (0.6667, 2 / 3, "share", True),
        (0.67, 2 / 3, "share", True),
        (0.66, 2 / 3, "share", False),
        (0.7, 2 / 3, "share", False),
        (1, 0.96, "share", False),
        (1, 1.0, "share", True),
        (1, 0.999, "share", False),
        (0, 0.0, "share", True),
        (0, 0.004, "share", False),
        (0, 0.04, "share", False),
        (-0.25, -0.25, "share", True),
        (0.25, -0.25, "share", False),
        (12.3, 12.34, "amount", True),
        (12, 12.34, "amount", False),
        (12346, 12345.6, "amount", True),
        (float("nan"), 0, "count", False),
        (float("inf"), 0, "amount", False),
    ],
)
def test_a_number_holds_when_it_is_rounded_no_further_than_a_reader_would_take_it(
    said: float, value: float, unit: Unit, does: bool
) -> None:
    assert holds(said, figure(value, unit)) is does


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nothing at all", []),
        ("3 attempts", [3]),
        ("3 of 4", [3, 4]),
        ("3/4 of them", [3, 4]),
        ("three of 4 attempts", [4, 3]),
        ("nine of ten times", [9, 10]),
        ("9-of-10 and 7-out-of-8", [9, 10, 7, 8]),
        ("a 10-attempt cell, a 30-percent drop", [10, 30]),
        ("the two harnesses", []),
        ("fell to 0.25.", [0.25]),
        ("(−0.25, +0.5)", [-0.25, 0.5]),
        ("25 %, 30% and 12.5 percent", [25, 30, 12.5]),
        ("12,345 tokens", [12345]),
        ("1,2", [1, 2]),
        ("5s, 2.5x and 12k", [5, 2.5, 12]),
        ("gpt-5.5 wrote greet2.py:12 in #3 on python3", []),
        ("rates 5-7", [5, 7]),
        ("$0.03", [0.03]),
    ],
)
def test_every_number_of_a_text_is_seen_and_no_digit_of_a_name(text: str, found: list[float]) -> None:
    assert [said.value for said in numbers_in(text)] == found


@pytest.mark.parametrize(
    ("text", "value", "unit", "does"),
    [
        ("75 %", 0.75, "share", True),
        ("75%", 0.75, "share", True),
        ("67 percent", 2 / 3, "share", True),
        ("66 %", 2 / 3, "share", False),
        ("70%", 2 / 3, "share", False),
        ("0.75", 0.75, "share", True),
        ("75", 0.75, "share", False),
        ("75 percentage points", -0.75, "share", True),
        ("25 points lower", -0.25, "share", True),
        ("+25 %", -0.25, "share", False),
        ("100 %", 0.999, "share", False),
        ("100 %", 1.0, "share", True),
        ("0 %", 0.001, "share", False),
        ("5 %", 5, "count", False),
        ("5 points", 5, "amount", True),
        ("5", 5, "count", True),
        ("5.0", 5, "count", True),
    ],
)
def test_a_number_in_a_text_is_a_figure_as_it_is_or_in_percent(text: str, value: float, unit: Unit, does: bool) -> None:
    (said,) = numbers_in(text)
    assert agrees(said, figure(value, unit)) is does


@pytest.mark.parametrize(
    ("text", "counted"),
    [("3 of them", True), ("of 3", True), ("3 attempts", True), ("3/", True), ("3%", True), ("code 3", False)],
)
def test_what_counts_or_rates_is_told_from_what_only_stands_there(text: str, counted: bool) -> None:
    assert [said.counted for said in numbers_in(text)] == [counted]


def test_what_stands_between_double_quotation_marks_is_a_quote_however_short_its_neighbors() -> None:
    assert quoted_in('it says "x" and "no such\n file", then “not  found”; it\'s "ok"') == ["no such file", "not found"]


def test_names_are_taken_out_the_longest_first_and_a_number_is_never_one() -> None:
    assert without_names("case 10 of case 1, 7 left", ["case 1", "case 10", "7", ""]) == "  of  , 7 left"

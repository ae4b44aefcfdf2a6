"""Seconds, tokens, dollars, rates and counts, as a person reads them."""

from __future__ import annotations

import pytest

from reeval.report.screen.numbers import count, dollars, moment, number, percent, plural, seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 ms"),
        (0.0004, "0 ms"),
        (0.0124, "12 ms"),
        (0.0994, "99 ms"),
        (0.0995, "0.10 s"),
        (0.34, "0.34 s"),
        (0.994, "0.99 s"),
        (0.999, "1.0 s"),
        (3.21, "3.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.6, "1 h 0 min"),
        (3840, "1 h 4 min"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (950, "950"), (999, "999"), (1000, "1.0k"), (3100, "3.1k"), (12345, "12k"), (2_500_000, "2.5M")],
)
def test_count(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0, "$0.00"), (0.0012, "$0.0012"), (0.12, "$0.12"), (12.3, "$12.30")])
def test_dollars(value: float, text: str) -> None:
    assert dollars(value) == text


@pytest.mark.parametrize(("value", "text"), [(6, "6"), (6.25, "6.25"), (0.0, "0"), (2 / 3, "0.667"), (100, "100")])
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "–"),
        (11, 12, "92% (11/12)"),
        (1, 8, "13% (1/8)"),
        (199, 200, "99% (199/200)"),
        (1, 1000, "1% (1/1000)"),
        (0, 3, "0% (0/3)"),
        (3, 3, "100% (3/3)"),
    ],
)
def test_a_rate_is_100_or_0_percent_only_when_it_is(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


def test_plural() -> None:
    assert (plural(1, "eval"), plural(0, "eval"), plural(1234, "attempt")) == ("1 eval", "0 evals", "1,234 attempts")


def test_moment_is_utc() -> None:
    assert moment(1_796_048_701_000) == "2026-11-30 14:25"

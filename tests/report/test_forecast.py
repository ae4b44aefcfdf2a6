"""A plan's time and cost in a line."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.grade.forecast.estimate import Estimate
from reeval.report.screen.forecast import budget_text, estimate_text


def found(**more: Any) -> Estimate:
    fields = {"seconds": (250.0, 410.0), "cost": (1.2, 2.1), "attempts": 32, "evals": 8, "new": 0, "unpriced": 0}
    return Estimate(**(fields | more))


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "~ 4.2–6.8 min · $1.20–2.10 (from 32 earlier attempts)"),
        ({"new": 3}, "~ 4.2–6.8 min · $1.20–2.10 (from 32 earlier attempts; 3 of 8 evals have no history)"),
        ({"new": 1, "evals": 8}, "~ 4.2–6.8 min · $1.20–2.10 (from 32 earlier attempts; 1 of 8 evals has no history)"),
        ({"unpriced": 2}, "~ 4.2–6.8 min · $1.20–2.10 (from 32 earlier attempts; what 2 of 8 evals cost is not known)"),
        ({"cost": None, "unpriced": 8}, "~ 4.2–6.8 min (from 32 earlier attempts)"),
        ({"cost": (0.0, 0.0)}, "~ 4.2–6.8 min (from 32 earlier attempts)"),
        ({"cost": (0.001, 0.25), "attempts": 1}, "~ 4.2–6.8 min · $0.0010–0.25 (from 1 earlier attempt)"),
        ({"cost": (5.0, 5.001)}, "~ 4.2–6.8 min · $5.00 (from 32 earlier attempts)"),
    ],
)
def test_a_line_says_the_ranges_and_what_they_rest_on(more: dict[str, Any], text: str) -> None:
    assert estimate_text(found(**more)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        ((0.01, 0.9), "under 1 s"),
        ((0.4, 1.0), "~ 0.4–1 s"),
        ((12.3, 18.9), "~ 12–19 s"),
        ((40.0, 99.9), "~ 40–100 s"),
        ((95.0, 130.0), "~ 1.6–2.2 min"),
        ((600.0, 600.1), "~ 10 min"),
        ((5000.0, 9000.0), "~ 1.4–2.5 h"),
    ],
)
def test_times_are_as_coarse_as_a_guess(seconds: tuple[float, float], text: str) -> None:
    assert estimate_text(found(seconds=seconds, cost=None)) == f"{text} (from 32 earlier attempts)"


@pytest.mark.parametrize(
    ("budget", "more", "text"),
    [
        (5.0, {}, "$5.00"),
        (2.0, {}, "$2.00, which may not be enough"),
        (2.0, {"cost": None}, "$2.00"),
    ],
)
def test_a_budget_is_held_against_what_is_expected(budget: float, more: dict[str, Any], text: str) -> None:
    assert budget_text(budget, found(**more)) == text
    assert budget_text(2.5, None) == "$2.50"

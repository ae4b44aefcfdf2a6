"""Compares without a true difference claim in at most 5 %: the benchmark's own simulation, in small."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from benchmarks.simulate import by_time, counted, interval_only, region, scores, sequence, several, with_cases

TIMES = 200
MOST = 18
"""Of 200 times 5 % are 10; more than 18 come up in 1 % of all cases even at the limit. The seeds are fixed."""

Claims = Callable[[random.Random, float], bool]


def claims(one: Claims, rate: float, times: int = TIMES) -> int:
    return sum(one(random.Random(f"{rate} {number}"), rate) for number in range(times))


@pytest.mark.parametrize(
    "one",
    [
        lambda source, rate: with_cases(source, rate, 5, 4),
        lambda source, rate: with_cases(source, rate, 6, 4),
        lambda source, rate: with_cases(source, rate, 20, 4),
        lambda source, rate: with_cases(source, rate, 6, 4, errors=0.3),
        lambda source, rate: with_cases(source, rate, 10, 8, own=1.0),
        lambda source, rate: several(source, rate, 4, 4),
        lambda source, rate: several(source, rate, 4, 9),
        lambda source, rate: scores(source, rate, 4, 4),
        lambda source, rate: scores(source, rate, 4, 12),
    ],
    ids=["5 cases", "6 cases", "20 cases", "errors", "own rates", "evals", "uneven", "scores", "uneven scores"],
)
@pytest.mark.parametrize("rate", [0.5, 0.8])
def test_a_fixed_number_of_runs_claims_little(one: Claims, rate: float) -> None:
    assert claims(one, rate) <= MOST


@pytest.mark.parametrize("runs", [4, 8, 20, 50])
def test_counting_says_that_the_test_is_needed(runs: int) -> None:
    rates = [0.05 * step for step in range(1, 20)]
    assert max(counted(region(runs), rate) for rate in rates) <= 0.05
    if runs in {4, 8, 50}:
        assert max(counted(interval_only(runs), rate) for rate in rates) > 0.05


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_stopping_early_claims_little(own: float) -> None:
    assert claims(lambda source, rate: sequence(source, rate, 10, own=own), 0.5, 60) <= 7


def test_attempts_at_once_are_harmless_only_in_the_order_of_the_plan() -> None:
    """Passes take longer on one side: fed by completion, that alone makes claims."""
    assert claims(lambda source, rate: by_time(source, rate, by_plan=True), 0.5, 40) <= 5
    assert claims(lambda source, rate: by_time(source, rate, by_plan=False), 0.5, 40) >= 20

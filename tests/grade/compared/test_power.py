"""The smallest lift that runs can show."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from reeval.grade.compared.lifts import Said, Side, lift
from reeval.grade.compared.power import detectable, power


def side(passed: int, decided: int) -> Side:
    return Side(attempts={None: [True] * passed + [False] * (decided - passed)})


def test_power_is_the_chance_of_all_results_that_say_helped() -> None:
    runs, control, variant = 8, 0.2, 0.75

    def chance(passed: int, rate: float) -> float:
        return comb(runs, passed) * rate**passed * (1 - rate) ** (runs - passed)

    expected = sum(
        chance(x, control) * chance(y, variant)
        for x, y in product(range(runs + 1), repeat=2)
        if lift(side(x, runs), side(y, runs), seed="run").said is Said.HELPED
    )
    assert power(runs, control, variant) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("runs", "rate", "up", "down"),
    [
        (3, 0.0, None, None),
        (4, 0.5, None, None),
        (4, 0.0, 0.8**0.25, None),  # all four have to pass
        (4, 1.0, None, 0.8**0.25),
    ],
)
def test_four_runs_show_little_but_all_against_none(
    runs: int, rate: float, up: float | None, down: float | None
) -> None:
    found = detectable(runs, rate=rate)
    for value, expected in ((found.up, up), (found.down, down)):
        assert value == (expected if expected is None else pytest.approx(expected, abs=0.006))


def test_a_detectable_lift_has_80_percent_power_and_a_smaller_one_has_not() -> None:
    found = detectable(20, rate=0.3)
    assert found.up is not None
    assert power(20, 0.3, 0.3 + found.up) >= 0.8 > power(20, 0.3, 0.3 + found.up - 0.01)


def test_more_runs_show_smaller_lifts() -> None:
    found = [detectable(runs).up for runs in (10, 20, 50, 100)]
    assert None not in found
    assert found == sorted(found, key=lambda value: -(value or 0))
    assert detectable(5_000).up == detectable(300).up


def test_what_helps_and_what_makes_worse_mirror_each_other() -> None:
    one, other = detectable(20, rate=0.2), detectable(20, rate=0.8)
    assert (one.up, one.down) == (other.down, other.up)


def test_five_cases_show_nothing() -> None:
    found = detectable(20, cases=5)
    assert (found.up, found.down) == (None, None)


def test_of_six_cases_all_have_to_change() -> None:
    assert detectable(4, rate=0.0, cases=6).up == pytest.approx(0.8 ** (1 / 6), abs=0.006)


def test_cases_that_are_never_between_set_the_limit_however_many_runs() -> None:
    found = [detectable(runs, rate=0.3, cases=20).up for runs in (10, 40)]
    assert found[0] == found[1] == pytest.approx(0.367, abs=0.01)


def test_few_runs_of_many_cases_are_limited_by_chance() -> None:
    once, often = (detectable(runs, rate=0.5, cases=12).up for runs in (1, 10))
    assert once is None
    assert often is None
    once, often = (detectable(runs, rate=0.4, cases=30).up for runs in (1, 10))
    assert once is not None
    assert often is not None
    assert once > often

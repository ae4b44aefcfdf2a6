"""What chance makes of a difference, against all swaps one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from reeval.grade.compared.resampling import Null, case_interval, flips, relabelings, two_sided

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed minus self-fertilized plants, eighths of an inch: the example of Fisher 1935."""


def drawn_only(null: Null) -> Null:
    return Null(draw=null.draw)


def test_sign_flips_give_what_fisher_counted_for_darwins_plants() -> None:
    """863 of 32,768 ways reach the sum of 314 or more on one side."""
    fractions = [Fraction(value) for value in DARWIN]
    p = two_sided(fmean(DARWIN), [(1.0, flips(fractions))], seed="run")
    assert p == pytest.approx(2 * 863 / 2**15)


@pytest.mark.parametrize(
    "values",
    [
        [Fraction(1, 4)] * 6,
        [Fraction(1, 2), Fraction(0), Fraction(-1, 4), Fraction(3, 4), Fraction(1, 3)],
        [0.25, -0.5, 0.1, 0.1, 0.9],
        [Fraction(0)] * 3,
    ],
)
def test_sign_flips_are_all_signs_one_by_one(values: list[Fraction | float]) -> None:
    numbers = [float(value) for value in values]
    ways = [
        fmean(sign * value for sign, value in zip(signs, numbers, strict=True))
        for signs in product((-1, 1), repeat=len(numbers))
    ]
    observed = fmean(numbers)
    tails = [sum(way >= observed - 1e-12 for way in ways), sum(way <= observed + 1e-12 for way in ways)]
    expected = min(1.0, 2 * min(tails) / len(ways))
    assert two_sided(observed, [(1.0, flips(values))], seed="run") == pytest.approx(expected)


def test_fewer_than_six_cases_reach_no_5_percent() -> None:
    assert two_sided(1.0, [(1.0, flips([Fraction(1)] * 5))], seed="run") == pytest.approx(2 / 32)
    assert two_sided(1.0, [(1.0, flips([Fraction(1)] * 6))], seed="run") == pytest.approx(2 / 64)


def test_passes_that_change_sides_are_fishers_exact_test() -> None:
    control, variant = [True] * 2 + [False] * 6, [True] * 7 + [False] * 2
    observed = 7 / 9 - 2 / 8
    expected = 2 * stats.fisher_exact([[7, 2], [2, 6]], alternative="greater").pvalue
    assert two_sided(observed, [(1.0, relabelings(control, variant))], seed="run") == pytest.approx(expected)


def test_scores_that_change_sides_are_all_choices_one_by_one() -> None:
    control, variant = [0.1, 0.5, 0.4, 0.0], [0.7, 1.0, 0.4]
    pooled = control + variant
    ways = []
    for chosen in combinations(range(7), 3):
        picked = [pooled[place] for place in chosen]
        ways.append(fmean(picked) - (sum(pooled) - sum(picked)) / 4)
    observed = fmean(variant) - fmean(control)
    expected = 2 * sum(way >= observed - 1e-12 for way in ways) / len(ways)
    assert two_sided(observed, [(1.0, relabelings(control, variant))], seed="run") == pytest.approx(expected)


def test_what_is_drawn_agrees_with_what_is_counted() -> None:
    nulls = [
        (0.5, flips([Fraction(value, 100) for value in DARWIN[:9]])),
        (0.25, relabelings([True, False, False, False], [True, True, True, False])),
        (0.25, relabelings([0.1, 0.5, 0.4, 0.0], [0.7, 1.0, 0.4])),
    ]
    counted = two_sided(0.12, nulls, seed="run")
    drawn = two_sided(0.12, [(weight, drawn_only(null)) for weight, null in nulls], seed="run")
    assert drawn == pytest.approx(counted, abs=0.02)
    assert 0.05 < counted < 0.95


def test_a_p_that_is_drawn_is_never_0() -> None:
    null = drawn_only(flips([Fraction(1)] * 40))
    assert two_sided(1.0, [(1.0, null)], seed="run") == pytest.approx(2 / 10_000)


def test_the_same_run_draws_the_same() -> None:
    values = [0.1 * number for number in range(30)]
    null = flips(values)
    assert null.exact is None
    one, same, other = (two_sided(0.5, [(1.0, null)], seed=seed) for seed in ("a", "a", "b"))
    assert one == same != other
    assert case_interval(values, seed="a") == case_interval(values, seed="a") != case_interval(values, seed="b")


def test_very_many_attempts_stay_bounded() -> None:
    values = [number / 7 for number in range(20_000)]
    p = two_sided(1.0, [(1.0, relabelings(values[:10_000], values[10_000:]))], seed="run", size=20_000)
    assert 0 < p <= 1


def test_the_interval_of_cases_is_wider_than_the_plain_bootstrap() -> None:
    values = [0.0, 0.25, 0.5, 0.5, 1.0, 0.25]
    plain = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    found = case_interval(values, seed="run")
    assert found is not None
    assert found[0] < plain.low < fmean(values) < plain.high < found[1]


def test_many_cases_have_students_interval() -> None:
    values = stats.norm.ppf((np.arange(400) + 0.5) / 400).tolist()
    reach = 1.96 * np.std(values, ddof=1) / 20
    assert case_interval(values, seed="run") == pytest.approx((-reach, reach), abs=0.01)


def test_cases_that_differ_alike_have_no_spread_to_draw_from() -> None:
    assert case_interval([0.5, 0.5, 0.5], seed="run") is None
    assert case_interval([0.5], seed="run") is None

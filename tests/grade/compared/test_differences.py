"""Rank tests of measures, and checks that tell no side from another."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest
from scipy import stats

from reeval.grade.compared.differences import Change, Counted, mann_whitney, measured, without_difference


def brute(control: list[float], variant: list[float]) -> float:
    """The definition: every way to say which values are the control's."""
    pooled = [*control, *variant]

    def statistic(chosen: tuple[int, ...]) -> float:
        rest = [value for place, value in enumerate(pooled) if place not in chosen]
        return sum((value > pooled[place]) + (value == pooled[place]) / 2 for place in chosen for value in rest)

    ways = [statistic(chosen) for chosen in combinations(range(len(pooled)), len(control))]
    observed = statistic(tuple(range(len(control))))
    return min(1.0, 2 * min(sum(way >= observed for way in ways), sum(way <= observed for way in ways)) / len(ways))


@pytest.mark.parametrize(
    ("control", "variant"),
    [
        ([1, 2, 3, 4], [5, 6, 7, 8]),
        ([1, 1, 2, 2], [2, 2, 3, 3]),
        ([5, 5, 5], [5, 5, 5, 5]),
        ([3, 1, 4, 1, 5], [9, 2, 6]),
        ([0.5], [0.25]),
    ],
)
def test_p_is_the_definition_ties_included(control: list[float], variant: list[float]) -> None:
    assert mann_whitney(control, variant) == pytest.approx(brute(control, variant))


@pytest.mark.parametrize(
    ("size", "other", "critical"),
    [(4, 4, 0), (4, 5, 1), (5, 5, 2), (5, 8, 6), (6, 6, 5), (7, 9, 12), (8, 8, 13), (10, 10, 23), (20, 20, 127)],
)
def test_critical_values_are_those_of_the_tables(size: int, other: int, critical: int) -> None:
    """The largest U at 5 %, two-sided: the table of Mann and Whitney 1947 as extended by Auble 1953."""

    def p_of(u: int) -> float:
        # Values that stand above exactly u of the other side's, in all.
        values = [-(place + 1.0) for place in range(size)]
        for place in range(size):
            step = min(other, u)
            values[place] = step + 0.5 - place / 100
            u -= step
        return mann_whitney(values, [float(place + 1) for place in range(other)])

    assert p_of(critical) <= 0.05 < p_of(critical + 1)


def test_many_values_have_scipys_normal_approximation() -> None:
    source = random.Random(1)
    for sizes in ((21, 22), (40, 300)):
        control, variant = ([source.randint(0, 30) + index * 2 for _ in range(sizes[index])] for index in (0, 1))
        expected = stats.mannwhitneyu(control, variant, method="asymptotic").pvalue
        assert mann_whitney(control, variant) == pytest.approx(expected)


def test_equal_values_and_empty_sides_tell_nothing() -> None:
    assert mann_whitney([3.0] * 30, [3.0] * 30) == 1.0
    assert mann_whitney([], [1.0]) == 1.0


@pytest.mark.parametrize(
    ("control", "variant", "said", "difference", "relative"),
    [
        ([3100, 3000, 3200, 3100], [2800, 2700, 2900, 2800], Change.LESS, -300, -300 / 3100),
        ([2800, 2700, 2900, 2800], [3100, 3000, 3200, 3100], Change.MORE, 300, 300 / 2800),
        ([3100, 2700, 3300, 3100], [2800, 2900, 2600, 2800], Change.OPEN, -300, -300 / 3100),
        ([1, 1, 1], [2, 2, 2], Change.OPEN, 1, 1.0),
        ([0, 0, 0, 0], [2, 2, 2, 2], Change.MORE, 2, None),
        ([5, 5, 5, 5], [5, 5, 5, 5], Change.OPEN, 0, 0.0),
        ([], [2, 2, 2, 2], Change.OPEN, None, None),
        ([2, 2], [], Change.OPEN, None, None),
    ],
)
def test_what_is_said_of_a_measure(
    control: list[float], variant: list[float], said: Change, difference: float | None, relative: float | None
) -> None:
    found = measured({None: control}, {None: variant}, seed="run")
    assert (found.said, found.difference, found.relative) == (said, difference, relative)


def test_a_side_without_values_still_shows_the_other() -> None:
    found = measured({}, {None: [1.0, 3.0]}, seed="run")
    assert (found.control, found.variant, found.p) == (None, 2.0, None)
    found = measured({"a": []}, {"a": [1.0, 3.0]}, seed="run")
    assert (found.control, found.variant, found.p) == (None, 2.0, None)


def test_cases_are_compared_one_by_one_by_signed_ranks() -> None:
    """Cases of very different size, each a little cheaper: pooled values would hide it."""
    sizes = [100, 220, 450, 900, 2000, 5000, 11000]
    control = {str(size): [float(size), size * 1.04] for size in sizes}
    variant = {str(size): [size * 0.9, size * 0.95] for size in sizes}
    found = measured(control, variant, seed="run")
    assert found.said is Change.LESS
    middles = [size * (0.925 - 1.02) for size in sizes]
    assert found.p == pytest.approx(stats.wilcoxon(middles, method="exact").pvalue)
    flat = [[value for values in side.values() for value in values] for side in (control, variant)]
    assert mann_whitney(*flat) > 0.5


def test_fewer_than_six_cases_cannot_be_told() -> None:
    control = {str(case): [10.0] * 4 for case in range(5)}
    variant = {str(case): [5.0] * 4 for case in range(5)}
    assert measured(control, variant, seed="run").said is Change.OPEN


def test_a_thousand_values_take_no_second() -> None:
    source = random.Random(2)
    control, variant = ([source.random() for _ in range(5000)] for _ in range(2))
    began = time.perf_counter()
    measured({None: control}, {None: variant}, seed="run")
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("sides", "flagged"),
    [
        ([(4, 4), (4, 4)], True),
        ([(0, 4), (0, 3)], True),
        ([(4, 4), (3, 4)], False),
        ([(0, 4), (4, 4)], False),
        ([(2, 4), (2, 4)], False),
        ([(4, 4), (0, 0)], False),
        ([(0, 0), (0, 0)], False),
        ([(4, 4)], False),
        ([(4, 4), (4, 4), (4, 4)], True),
        ([(4, 4), (4, 4), (0, 4)], False),
    ],
)
def test_a_check_that_is_alike_on_all_sides_is_flagged(sides: list[tuple[int, int]], flagged: bool) -> None:
    counted = [Counted(held=held, evaluated=evaluated) for held, evaluated in sides]
    assert without_difference({"greets": counted}) == (["greets"] if flagged else [])

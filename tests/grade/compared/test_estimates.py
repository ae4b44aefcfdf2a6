"""Rates, pass@k and the intervals of differences, against what was published."""

from __future__ import annotations

from itertools import combinations

import pytest
from scipy import stats

from reeval.grade.compared.estimates import combined, newcombe, pass_at, pass_hat, rate, welch


@pytest.mark.parametrize(
    ("variant", "control", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_the_interval_of_a_difference_is_newcombes_table(
    variant: tuple[int, int], control: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10."""
    assert newcombe(control, variant) == pytest.approx((low, high), abs=5e-5)


def test_nothing_decided_has_no_interval() -> None:
    assert newcombe((0, 0), (4, 4)) is None
    assert newcombe((4, 4), (0, 0)) is None
    assert rate(0, 0).value is None
    assert rate(0, 0).interval is None


def test_a_rate_comes_with_wilsons_interval() -> None:
    found = stats.binomtest(81, 263).proportion_ci(method="wilson")
    assert rate(81, 263).interval == pytest.approx((found.low, found.high))
    assert rate(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)  # Newcombe 1998, table I


@pytest.mark.parametrize(("passed", "decided"), [(0, 4), (1, 4), (3, 5), (6, 6), (2, 7)])
def test_pass_at_k_and_pass_hat_k_are_the_shares_of_all_choices(passed: int, decided: int) -> None:
    attempts = [True] * passed + [False] * (decided - passed)
    for k in range(1, decided + 1):
        chosen = list(combinations(attempts, k))
        assert pass_at(k, passed, decided) == pytest.approx(sum(map(any, chosen)) / len(chosen))
        assert pass_hat(k, passed, decided) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@pytest.mark.parametrize("k", [0, 5])
def test_more_attempts_than_there_are_say_nothing(k: int) -> None:
    assert pass_at(k, 2, 4) is None
    assert pass_hat(k, 2, 4) is None


SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
"""Student's data of two soporific drugs, 1908."""


def test_welch_is_the_textbooks_for_students_sleep_data() -> None:
    found = welch(*SLEEP)
    assert found.difference == pytest.approx(1.58)
    assert found.p == pytest.approx(0.07939, abs=5e-6)
    assert found.interval == pytest.approx((-0.2054832, 3.3654832), abs=5e-7)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e150])
def test_welch_agrees_with_scipy_whatever_the_unit(scale: float) -> None:
    control, variant = [0.1 * scale, 0.4 * scale, 0.35 * scale], [value * scale for value in (0.9, 0.2, 0.8, 0.7, 1.0)]
    found, expected = welch(control, variant), stats.ttest_ind([9, 2, 8, 7, 10], [1, 4, 3.5], equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("control", "variant"), [([1.0], [0.0, 0.5]), ([1.0, 1.0], [0.0, 0.0])])
def test_without_spread_a_mean_has_no_interval(control: list[float], variant: list[float]) -> None:
    found = welch(control, variant)
    assert found.interval is None
    assert found.p is None


def test_intervals_add_up_as_their_squares() -> None:
    assert combined([(0.5, 0.2, (0.1, 0.4)), (0.5, 0.4, (0.0, 0.5))]) == pytest.approx(
        (0.3 - (0.05**2 + 0.2**2) ** 0.5, 0.3 + (0.1**2 + 0.05**2) ** 0.5)
    )

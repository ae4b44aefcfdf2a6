"""The exact test of two rates: against scipy, against all results one by one, and its error at every rate."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from reeval.grade.compared.boschloo import boschloo, helped_region
from reeval.grade.compared.estimates import newcombe
from reeval.grade.compared.lifts import Said, Side, lift


@pytest.mark.parametrize(
    ("control", "variant"),
    [
        ((0, 4), (4, 4)),
        ((1, 4), (4, 4)),
        ((7, 15), (12, 12)),
        ((26, 34), (7, 26)),
        ((31, 63), (74, 117)),
        ((1, 2), (18, 27)),
    ],
)
def test_p_is_scipys(control: tuple[int, int], variant: tuple[int, int]) -> None:
    (x, m), (y, n) = control, variant
    expected = stats.boschloo_exact([[x, y], [m - x, n - y]], n=128).pvalue
    assert boschloo(control, variant) == pytest.approx(min(1.0, expected), abs=1e-5)


def test_p_is_that_of_the_documented_example() -> None:
    """Job satisfaction of professors and scientists, as in the documentation of scipy: one-sided 0.0355."""
    assert boschloo((31, 63), (74, 117)) / 2 == pytest.approx(0.0355641, abs=1e-6)


def brute(control: tuple[int, int], variant: tuple[int, int]) -> float:
    """The definition, with nothing shared: every result, every rate of a fine grid."""
    (x, m), (y, n) = control, variant

    def fisher(a: int, b: int) -> float:
        most = min(n, a + b)
        return sum(comb(m, a + b - c) * comb(n, c) for c in range(b, most + 1)) / comb(m + n, a + b)

    def one_sided(a: int, b: int) -> float:
        extreme = [(c, d) for c, d in product(range(m + 1), range(n + 1)) if fisher(c, d) <= fisher(a, b) * (1 + 1e-12)]
        rates = np.linspace(0, 1, 2001)
        chances = sum(comb(m, c) * comb(n, d) * rates ** (c + d) * (1 - rates) ** (m + n - c - d) for c, d in extreme)
        return float(np.max(chances))

    return min(1.0, 2 * min(one_sided(x, y), one_sided(m - x, n - y)))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 4), (3, 5), (6, 2)])
def test_p_is_the_definition_for_every_result(m: int, n: int) -> None:
    for x, y in product(range(m + 1), range(n + 1)):
        assert boschloo((x, m), (y, n)) == pytest.approx(brute((x, m), (y, n)), abs=2e-5)


def test_swapping_sides_or_passes_with_failures_changes_nothing() -> None:
    for x, y in product(range(6), range(8)):
        p = boschloo((x, 5), (y, 7))
        assert boschloo((y, 7), (x, 5)) == pytest.approx(p, rel=1e-4)
        assert boschloo((5 - x, 5), (7 - y, 7)) == pytest.approx(p, rel=1e-4)


def test_a_side_without_attempts_tells_nothing() -> None:
    assert boschloo((0, 0), (4, 4)) == 1.0


def test_very_many_attempts_are_tested_by_fishers_test() -> None:
    found = boschloo((700, 2000), (760, 2000))
    tail = stats.fisher_exact([[760, 700], [1240, 1300]], alternative="greater").pvalue
    assert found == pytest.approx(2 * tail)


@pytest.mark.parametrize("runs", [4, 8, 20, 50])
def test_claims_without_a_difference_stay_at_5_percent_at_every_rate(runs: int) -> None:
    helped = helped_region(runs, runs)
    rates = np.linspace(0.001, 0.999, 999)
    chances = stats.binom.pmf(np.arange(runs + 1)[None], runs, rates[:, None])
    either = np.einsum("ri,ij,rj->r", chances, helped | helped[::-1, ::-1], chances)
    assert 0 < either.max() <= 0.05


@pytest.mark.parametrize("sizes", [(4, 9), (20, 7)])
def test_unequal_sides_keep_5_percent_too(sizes: tuple[int, int]) -> None:
    rates = np.linspace(0.001, 0.999, 999)
    chances = [stats.binom.pmf(np.arange(size + 1)[None], size, rates[:, None]) for size in sizes]
    claims = helped_region(*sizes) | helped_region(*sizes)[::-1, ::-1]
    assert 0 < np.einsum("ri,ij,rj->r", chances[0], claims, chances[1]).max() <= 0.05


def test_the_interval_alone_would_claim_too_much() -> None:
    runs = 4
    claims = np.array([[(newcombe((x, runs), (y, runs)) or (0, 0))[0] > 0 for y in range(5)] for x in range(5)])
    chances = stats.binom.pmf(np.arange(5), 4, 0.5)
    assert 2 * chances @ claims @ chances == pytest.approx(0.07, abs=0.001)


def side(passed: int, decided: int) -> Side:
    return Side(attempts={None: [True] * passed + [False] * (decided - passed)})


@pytest.mark.parametrize(("m", "n"), [(4, 4), (8, 8), (5, 11)])
def test_the_region_is_what_a_lift_says_of_every_result(m: int, n: int) -> None:
    helped = helped_region(m, n)
    for x, y in product(range(m + 1), range(n + 1)):
        said = lift(side(x, m), side(y, n), seed="run").said
        assert (said is Said.HELPED) == helped[x, y]
        assert (said is Said.WORSE) == helped[m - x, n - y]


def test_of_4_runs_a_side_only_all_against_none_is_told() -> None:
    assert helped_region(4, 4).sum() == 1
    assert helped_region(4, 4)[0, 4]

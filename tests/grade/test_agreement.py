"""How far can a judge be trusted: figures by published examples and by brute force, intervals, disagreements."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from random import Random

import pytest

from reeval.grade.calibration.agreement import Minimum, Rated, agreement, disagreements, holds
from reeval.grade.calibration.examples import Example
from reeval.grade.calibration.figures import accuracy, bias, kappa, mean_error, rank_correlation
from reeval.grade.calibration.intervals import bootstrap, wilson


def counts(*rows: Sequence[int]) -> Counter[tuple[int, int]]:
    """A table of counts: a row for each label of the one, a column for each of the other."""
    return Counter({(row, column): count for row, cells in enumerate(rows) for column, count in enumerate(cells)})


# --- figures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "share", "expected"),
    [
        # J. Cohen, "A coefficient of agreement for nominal scales" (1960), its example of 200 diagnoses: .492
        (counts((88, 14, 18), (10, 40, 10), (2, 6, 12)), 0.70, 0.492),
        # Fleiss, Cohen, Everitt, "Large sample standard errors of kappa and weighted kappa" (1969): .429
        (counts((106, 10, 4), (22, 28, 10), (2, 12, 6)), 0.70, 0.429),
        # Wikipedia, "Cohen's kappa": grants that two readers accept, and two tables of equal percentage agreement
        (counts((20, 5), (10, 15)), 0.70, 0.4),
        (counts((45, 15), (25, 15)), 0.60, 0.1304),
        (counts((25, 35), (5, 35)), 0.60, 0.2593),
        # Feinstein, Cicchetti, "High agreement but low kappa" (1990), tables 1 and 2
        (counts((40, 9), (6, 45)), 0.85, 0.70),
        (counts((80, 10), (5, 5)), 0.85, 0.32),
    ],
)
def test_kappa_is_what_the_literature_says(table: Counter[tuple[int, int]], share: float, expected: float) -> None:
    found = kappa(table)
    assert accuracy(table) == pytest.approx(share)
    assert found == pytest.approx(expected, abs=0.005 if expected in {0.70, 0.32} else 0.0005)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (counts((7, 0), (0, 3)), 1.0),
        (counts((5, 5), (5, 5)), 0.0),
        (counts((0, 5), (5, 0)), -1.0),
        (counts((6, 0), (4, 0)), 0.0),  # one of the two always says the same
        (counts((9, 0), (0, 0)), None),
        (counts(), None),
    ],
)
def test_kappa_at_its_ends_is_exact(table: Counter[tuple[int, int]], expected: float | None) -> None:
    assert kappa(table) == expected


def test_kappa_is_what_counting_every_pair_of_examples_gives() -> None:
    """Chance agreement is how often the label of one example equals the other rater's label of any example."""
    random = Random(3)
    for _ in range(200):
        pairs = [(random.randrange(3), random.randrange(3)) for _ in range(random.randrange(2, 12))]
        observed = Fraction(sum(one == other for one, other in pairs), len(pairs))
        by_chance = Fraction(
            sum(one == other for (one, _), (_, other) in itertools.product(pairs, pairs)), len(pairs) ** 2
        )
        expected = None if by_chance == 1 else float((observed - by_chance) / (1 - by_chance))
        assert kappa(Counter(pairs)) == pytest.approx(expected)


IQ = (106, 100, 86, 101, 99, 103, 97, 113, 112, 110)
HOURS = (7, 27, 2, 50, 28, 29, 20, 12, 6, 17)


@pytest.mark.parametrize(
    ("ones", "others", "expected"),
    [
        # Wikipedia, "Spearman's rank correlation coefficient": IQ and hours of television, -29/165
        (IQ, HOURS, -29 / 165),
        # SciPy, documentation of scipy.stats.spearmanr, with a tie
        ((1, 2, 3, 4, 5), (5, 6, 7, 8, 7), 0.82078268166812329),
        ((0.1, 0.2, 0.9), (0.0, 0.5, 1.0), 1.0),
        ((0.1, 0.2, 0.9), (1.0, 0.5, 0.0), -1.0),
        ((0.5, 0.5, 0.5), (0.1, 0.2, 0.3), None),
        ((0.5,), (0.5,), None),
        ((), (), None),
    ],
)
def test_rank_correlation_is_what_the_literature_says(
    ones: Sequence[float], others: Sequence[float], expected: float | None
) -> None:
    assert rank_correlation(list(zip(ones, others, strict=True))) == pytest.approx(expected, abs=1e-12)


def test_rank_correlation_is_what_ranks_counted_one_by_one_give() -> None:
    def ranks(values: list[float]) -> list[float]:
        return [sum(it < one for it in values) + (sum(it == one for it in values) + 1) / 2 for one in values]

    random = Random(5)
    for _ in range(200):
        pairs = [(random.randrange(4) / 4, random.randrange(5) / 5) for _ in range(random.randrange(3, 12))]
        ones, others = ranks([one for one, _ in pairs]), ranks([other for _, other in pairs])
        mean = sum(ones) / len(ones)
        above = sum((one - mean) * (other - mean) for one, other in zip(ones, others, strict=True))
        below = sqrt(sum((one - mean) ** 2 for one in ones) * sum((other - mean) ** 2 for other in others))
        assert rank_correlation(pairs) == pytest.approx(above / below if below else None)


def test_errors_of_scores_keep_their_size_and_their_sign() -> None:
    pairs = [(0.5, 0.7), (0.5, 0.3), (0.0, 0.6)]
    assert mean_error(pairs) == pytest.approx(1 / 3)
    assert bias(pairs) == pytest.approx(0.2)
    assert (mean_error([]), bias([])) == (None, None)


# --- intervals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "total", "expected"),
    [
        # R. G. Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
        (20, 20, (0.8389, 1.0)),
    ],
)
def test_the_interval_of_a_share_is_what_the_literature_says(
    successes: int, total: int, expected: tuple[float, float]
) -> None:
    assert wilson(successes, total) == pytest.approx(expected, abs=0.00005)


def test_the_ends_of_a_share_are_the_shares_that_the_score_test_just_accepts() -> None:
    for successes, total in [(3, 10), (9, 10), (50, 60), (1, 2)]:
        for end in wilson(successes, total) or ():
            assert abs(successes / total - end) / sqrt(end * (1 - end) / total) == pytest.approx(1.959964, abs=1e-5)
    assert wilson(0, 0) is None


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def test_the_bootstrap_of_a_mean_is_near_its_normal_interval() -> None:
    random = Random(11)
    values = [random.random() for _ in range(400)]
    (found,) = bootstrap(values, [mean])
    error = sqrt(sum((one - mean(values)) ** 2 for one in values) / 400 / 400)
    assert found == pytest.approx((mean(values) - 1.96 * error, mean(values) + 1.96 * error), abs=0.15 * error)


def test_the_bootstrap_of_three_values_is_near_every_resample_there_is() -> None:
    values = [0.0, 0.3, 1.0]
    everything = sorted(mean(drawn) for drawn in itertools.product(values, repeat=3))
    (found,) = bootstrap(values, [mean])
    assert found == pytest.approx((everything[0], everything[-1]))  # 1/27 is more than 2.5 %


def test_the_same_values_give_the_same_interval() -> None:
    values = [n / 97 % 1 for n in range(0, 3000, 71)]
    assert bootstrap(values, [mean]) == bootstrap(values, [mean])
    assert bootstrap(values, [mean], seed=1) != bootstrap(values, [mean])


def test_an_interval_that_resampling_cannot_give_is_unknown() -> None:
    def rarely(values: Sequence[float]) -> float | None:
        return mean(values) if values[0] == 1 else None

    assert bootstrap([1.0, 2.0], [mean, rarely])[0] is not None
    assert bootstrap([1.0, 2.0], [rarely]) == [None]  # half of the resamples have no figure
    assert bootstrap([1.0, 1.0], [mean]) == [None]  # all agree: no width is no certainty
    assert bootstrap([], [mean]) == [None]


# --- what they add up to ------------------------------------------------------------------------------


PASS, FAIL = True, False


def rated(person: float | bool, judge: float | None, line: int = 1) -> Rated:
    label = isinstance(person, bool)
    example = Example(line=line, material="…", score=None if label else person, label=bool(person) if label else None)
    return Rated(example=example, score=judge, error="no answer" if judge is None else None)


def test_a_label_and_a_score_are_compared_at_the_threshold() -> None:
    found = agreement(
        [rated(PASS, 0.5), rated(0.5, 0.49), rated(FAIL, 0.5), rated(0.2, 0.1), rated(1, None)], threshold=0.5
    )
    assert (found.examples, found.scored, found.errors) == (4, 2, 1)
    table = found.table
    assert (table.both_pass, table.both_fail, table.only_judge, table.only_person) == (1, 1, 1, 1)
    assert (found.accuracy.value, found.kappa.value) == (0.5, 0.0)
    assert found.accuracy.interval == wilson(2, 4)
    assert found.mean_error.value == pytest.approx(0.055)
    assert found.bias.value == pytest.approx(-0.055)


def test_labels_alone_have_no_figures_of_scores() -> None:
    found = agreement([rated(PASS, 0.9), rated(FAIL, 0.3), rated(FAIL, 0.8)], threshold=0.5)
    assert found.scored == 0
    assert {one.value for one in (found.mean_error, found.bias, found.rank_correlation)} == {None}
    assert found.kappa.value == pytest.approx(0.4)


def test_the_order_of_the_examples_never_matters_to_a_value() -> None:
    every = [rated(0.1 * n, 0.1 * ((3 * n) % 10), n) for n in range(10)]
    one, other = agreement(every, 0.5), agreement(every[::-1], 0.5)
    for name in ("accuracy", "kappa", "mean_error", "bias", "rank_correlation"):
        assert getattr(one, name).value == getattr(other, name).value


def test_intervals_hold_their_value() -> None:
    random = Random(2)
    every = [rated(random.random(), random.random(), n) for n in range(60)]
    found = agreement(every, 0.5)
    for figure in (found.accuracy, found.kappa, found.mean_error, found.bias, found.rank_correlation):
        assert figure.interval is not None
        assert figure.value is not None
        assert figure.interval[0] <= figure.value <= figure.interval[1]


def test_nothing_adds_up_to_unknown() -> None:
    for every in ([], [rated(PASS, None)]):
        found = agreement(every, 0.5)
        assert (found.examples, found.accuracy.value, found.accuracy.interval) == (0, None, None)


def test_disagreements_come_with_the_largest_miss_first() -> None:
    every = [
        rated(PASS, 0.4, 1),  # misses by 0.6
        rated(PASS, 0.6, 2),  # agrees: a label says nothing of how much
        rated(0.9, 0.6, 3),  # same side, 0.3 apart
        rated(0.9, 0.7, 4),  # same side, near
        rated(0.45, 0.55, 5),  # near, but on the other side
        rated(FAIL, None, 6),
        rated(FAIL, 1.0, 7),
        rated(FAIL, 1.0, 8),
    ]
    assert [one.example.line for one in disagreements(every, 0.5)] == [7, 8, 1, 3, 5]


# --- a minimum ----------------------------------------------------------------------------------------

GOOD = [rated(PASS, 1.0)] * 4 + [rated(FAIL, 0.0)] * 4


@pytest.mark.parametrize(
    ("every", "minimum", "expected"),
    [
        (GOOD, Minimum(accuracy=1, kappa=1), True),
        ([*GOOD, rated(PASS, 0.0)], Minimum(accuracy=0.8), True),
        ([*GOOD, rated(PASS, 0.0)], Minimum(accuracy=0.9), False),
        ([*GOOD, rated(PASS, 0.0)], Minimum(accuracy=0.8, kappa=0.8), False),
        (GOOD, Minimum(), True),
        ([*GOOD, rated(PASS, None)], Minimum(accuracy=0.88), True),  # 8 of 9, whatever the ninth is
        ([*GOOD, rated(PASS, None)], Minimum(accuracy=0.9), None),
        ([*GOOD, rated(PASS, None)], Minimum(kappa=0.9), None),
        ([rated(PASS, 0.0)] * 3 + [rated(PASS, None)], Minimum(accuracy=0.5), False),
        ([rated(PASS, 0.9)] * 3, Minimum(kappa=0.5), None),  # one label only: no kappa
        ([rated(PASS, None), rated(FAIL, None)], Minimum(kappa=0.1), None),
    ],
)
def test_a_minimum_holds_only_when_errors_could_not_change_it(
    every: list[Rated], minimum: Minimum, expected: bool | None
) -> None:
    assert holds(every, 0.5, minimum) is expected


def test_a_minimum_is_decided_as_by_trying_every_answer() -> None:
    random = Random(9)
    for _ in range(100):
        every = [rated(random.random() < 0.5, random.choice([0.0, 1.0, None])) for _ in range(6)]
        open_ones = [one for one in every if one.score is None]
        known = [one for one in every if one.score is not None]
        minimum = Minimum(accuracy=0.6, kappa=0.2)
        possible = set()
        for answers in itertools.product([0.0, 1.0], repeat=len(open_ones)):
            filled = [Rated(example=one.example, score=it) for one, it in zip(open_ones, answers, strict=True)]
            possible.add(holds([*known, *filled], 0.5, minimum))
        assert holds(every, 0.5, minimum) is (possible.pop() if len(possible) == 1 else None)

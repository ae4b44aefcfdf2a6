"""Stopping early claims no more than waiting."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from reeval.grade.compared.lifts import Said, lift
from reeval.grade.compared.lifts import Side as Compared
from reeval.grade.compared.stopping import Pair, best_of, looks, settled_runs, until_decided

OUTCOMES = list(product((False, True), repeat=2))


def alone(pairs: Sequence[Pair]) -> list[list[Pair]]:
    return [[pair] for pair in pairs]


def drawn(source: random.Random, control: float, variant: float, count: int) -> list[Pair]:
    return [(source.random() < control, source.random() < variant) for _ in range(count)]


# --- until decided, without cases ---------------------------------------------------------------------------


def test_four_blocks_tell_none_from_all() -> None:
    found = until_decided(alone([(False, True)] * 9), most=20, seed="run")
    assert (found.said, found.run, found.pairs, found.lift) == (Said.HELPED, 4, 4, 1.0)
    assert found.interval is not None
    assert 0 <= found.interval[0] < 1 == found.interval[1]
    assert until_decided(alone([(True, False)] * 9), most=20, seed="run").said is Said.WORSE


def test_sides_that_agree_are_never_told_apart() -> None:
    for pair in ((True, True), (False, False)):
        found = until_decided(alone([pair] * 60), most=60, seed="run")
        assert (found.said, found.run, found.lift) == (Said.OPEN, None, 0.0)
        assert found.evidence == pytest.approx(1.0)


def test_nothing_is_known_before_the_first_block() -> None:
    found = until_decided([], most=20, seed="run")
    assert (found.said, found.lift, found.interval, found.evidence) == (Said.OPEN, None, None, 1.0)


def test_an_error_that_stays_drops_its_block() -> None:
    dropped: list[Pair] = [(None, True), (False, None), (None, None)]
    pairs: list[Pair] = [(False, True), *dropped, (False, True), (False, True), (False, True)]
    found = until_decided(alone(pairs), most=20, seed="run")
    clean = until_decided(alone([(False, True)] * 4), most=20, seed="run")
    assert (found.run, found.pairs, found.evidence) == (7, 4, clean.evidence)
    assert until_decided(alone(dropped * 9), most=30, seed="run").pairs == 0


def test_what_was_told_stays_told_whatever_comes_later() -> None:
    source = random.Random(3)
    for _ in range(20):
        pairs = drawn(source, 0.2, 0.8, 40)
        whole = until_decided(alone(pairs), most=40, seed="run")
        looked = [until_decided(alone(pairs[:count]), most=40, seed="run") for count in range(41)]
        first = next((one for one in looked if one.run is not None), None)
        assert first is None or first == whole
        assert whole.run is None or looked[whole.run] == whole


def test_no_more_than_most_blocks_are_looked_at() -> None:
    pairs: list[Pair] = [(False, False)] * 4 + [(False, True)] * 20
    assert until_decided(alone(pairs), most=5, seed="run").pairs == 5


@pytest.mark.parametrize("most", [7])
def test_claims_without_a_difference_are_few_at_every_rate_with_a_look_after_every_block(most: int) -> None:
    """Every sequence of blocks is counted, each pruned where it is told."""
    claims: list[tuple[int, int]] = []  # how many of how many attempts pass

    def walk(pairs: list[Pair]) -> None:
        if len(pairs) >= 4 and until_decided(alone(pairs), most=most, seed="run").run is not None:
            claims.append((sum(bool(a) + bool(b) for a, b in pairs), 2 * len(pairs)))
        elif len(pairs) < most and worth_it(pairs, most):
            for pair in OUTCOMES:
                walk([*pairs, pair])

    walk([])
    rates = np.linspace(0.01, 0.99, 99)
    chance = sum(rates**passed * (1 - rates) ** (count - passed) for passed, count in claims)
    assert 0.005 < np.max(chance) <= 0.05


def worth_it(pairs: Sequence[Pair], most: int) -> bool:
    """Whether the best that can still come tells anything: only this keeps the walk short."""
    rest = most - len(pairs)
    return any(
        until_decided(alone([*pairs, *[pair] * rest]), most=most, seed="run").run is not None
        for pair in ((False, True), (True, False))
    )


@pytest.mark.parametrize(("control", "variant"), [(0.5, 0.5), (0.9, 0.9), (0.2, 0.6)])
def test_the_interval_holds_the_truth_while_one_looks(control: float, variant: float) -> None:
    source = random.Random(7)
    missed = 0
    for _ in range(60):
        pairs = drawn(source, control, variant, 30)
        ends = [until_decided(alone(pairs[:count]), most=30, seed="run").interval for count in (5, 10, 15, 20, 25, 30)]
        missed += any(end is not None and not end[0] <= variant - control <= end[1] for end in ends)
    assert missed <= 6  # 60 times 5 % is 3; more than 6 comes up in 3 % of all cases even at the limit


def test_a_difference_is_found() -> None:
    source = random.Random(11)
    found = [until_decided(alone(drawn(source, 0.2, 0.8, 40)), most=40, seed="run") for _ in range(40)]
    assert sum(one.said is Said.HELPED for one in found) >= 38
    assert all(one.said is not Said.WORSE for one in found)


# --- in the order of the plan ---------------------------------------------------------------------------------


def test_a_run_counts_when_it_is_settled_on_all_sides() -> None:
    control = {(None, 1): True, (None, 2): False, (None, 3): False}
    variant = {(None, 1): None, (None, 3): True}
    assert settled_runs(control, variant) == [[(True, None)]]
    assert settled_runs(control, {**variant, (None, 2): True}) == alone([(True, None), (False, True), (False, True)])
    assert settled_runs(control, {**variant, (None, 2): True}, others=[{(None, 1): True}]) == [[(True, None)]]


def test_a_run_with_cases_counts_when_all_its_cases_are_settled() -> None:
    control = {("a", 1): True, ("b", 1): False, ("a", 2): True}
    variant = {("a", 1): True, ("b", 1): None, ("a", 2): True, ("b", 2): True}
    assert settled_runs(control, variant, cases=("a", "b")) == [[(True, True), (False, None)]]
    assert settled_runs(control, variant, cases=()) == []


def test_the_order_in_which_attempts_end_changes_nothing() -> None:
    source = random.Random(5)
    pairs = drawn(source, 0.5, 0.6, 30)
    events = [(side, run) for run in range(1, 31) for side in (0, 1)]
    for _ in range(5):
        source.shuffle(events)
        sides: tuple[dict[tuple[str | None, int], bool | None], ...] = ({}, {})
        for side, run in events:
            sides[side][None, run] = pairs[run - 1][side]
            settled = settled_runs(*sides)
            assert settled == alone(pairs[: len(settled)])
        assert len(settled_runs(*sides)) == 30


# --- until decided, with cases ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "cases", "expected"),
    [
        (50, 5, [50]),
        (50, 6, [50]),
        (50, 7, [50, 25, 12]),
        (50, 8, [50, 25, 12, 6]),
        (50, 2000, [50, 25, 12, 6]),
        (2, 10, [2, 1]),
        (1, 10, [1]),
    ],
)
def test_looks_are_as_many_as_the_cases_can_afford(most: int, cases: int, expected: list[int]) -> None:
    assert looks(most, cases) == expected
    assert cases < 6 or 2 / 2**cases <= 0.05 / len(expected)


def test_cases_are_told_early_when_they_all_agree() -> None:
    runs: list[list[Pair]] = [[(False, True)] * 10] * 20
    found = until_decided(runs, most=20, cases=True, seed="run")
    assert (found.said, found.run, found.evidence) == (Said.HELPED, 2, None)
    assert until_decided(runs[:1], most=20, cases=True, seed="run").said is Said.OPEN


@pytest.mark.parametrize("cases", [1, 5])
def test_fewer_than_six_cases_are_never_told(cases: int) -> None:
    runs: list[list[Pair]] = [[(False, True)] * cases] * 20
    found = until_decided(runs, most=20, cases=True, seed="run")
    assert (found.said, found.run, found.lift) == (Said.OPEN, None, 1.0)


def test_six_cases_are_told_at_the_end_by_the_rule_of_a_fixed_number_of_runs() -> None:
    source = random.Random(2)
    runs = [drawn(source, 0.2, 0.9, 6) for _ in range(8)]
    found = until_decided(runs, most=8, cases=True, seed="run")
    sides = [{str(case): [bool(run[case][at]) for run in runs] for case in range(6)} for at in (0, 1)]
    fixed = lift(Compared(attempts=sides[0]), Compared(attempts=sides[1]), seed="run")
    assert (found.said, found.lift, found.interval) == (fixed.said, fixed.lift, fixed.interval)
    assert found.said is Said.HELPED


def test_cases_that_each_change_but_not_in_the_mean_are_no_help() -> None:
    """More runs bring no more cases: a bet against "no difference in any case" would win in the end, each time."""
    source = random.Random(13)
    told = 0
    for _ in range(100):
        rates = [(source.random(), source.random()) for _ in range(10)]
        runs = [[(source.random() < a, source.random() < b) for a, b in rates] for _ in range(24)]
        told += until_decided(runs, most=24, cases=True, seed="run").run is not None
    assert told <= 9  # of 100; more than 9 comes up in 3 % of all cases even at the limit


def test_no_settled_run_of_cases_tells_nothing() -> None:
    found = until_decided([], most=8, cases=True, seed="run")
    assert (found.said, found.lift, found.interval) == (Said.OPEN, None, None)


# --- best of ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "failed", "errors", "of", "settled"),
    [
        (0, 0, 0, 5, None),
        (2, 0, 0, 5, None),
        (3, 0, 0, 5, True),
        (0, 3, 0, 5, False),
        (2, 2, 0, 5, None),
        (2, 2, 1, 5, False),
        (2, 1, 1, 5, None),
        (2, 0, 2, 5, True),
        (2, 1, 2, 5, True),
        (2, 2, 0, 4, False),
        (0, 0, 5, 5, None),
        (1, 0, 0, 1, True),
        (0, 1, 0, 1, False),
    ],
)
def test_a_majority_is_settled_when_nothing_can_change_it(
    passed: int, failed: int, errors: int, of: int, settled: bool | None
) -> None:
    assert best_of(passed, failed, errors, of) is settled


def test_what_is_settled_holds_for_every_way_it_can_go_on() -> None:
    for passed, failed, errors in product(range(6), repeat=3):
        left = 5 - passed - failed - errors
        if left < 0:
            continue
        ways = {
            passed + more > failed + less
            for more, less in product(range(left + 1), repeat=2)
            if more + less <= left and passed + more + failed + less
        }
        found = best_of(passed, failed, errors, 5)
        if found is not None:
            assert ways == {found}
        elif ways:
            assert len(ways) == 2


def test_what_is_told_is_the_same_without_the_interval_of_what_is_open() -> None:
    runs = [[(run % 3 == 0, run % 3 != 1)] for run in range(40)]
    for count in range(1, 41):
        whole = until_decided(runs[:count], most=40, seed="x")
        quick = until_decided(runs[:count], most=40, seed="x", open_interval=False)
        assert quick.interval == (None if whole.run is None else whole.interval)
        assert (quick.said, quick.run, quick.pairs, quick.lift, quick.evidence) == (
            whole.said, whole.run, whole.pairs, whole.lift, whole.evidence
        )  # fmt: skip

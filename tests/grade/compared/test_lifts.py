"""What is said of a variant: helped, made it worse, can't tell yet."""

from __future__ import annotations

from fractions import Fraction

import pytest

from reeval.grade.compared.estimates import welch
from reeval.grade.compared.lifts import Doubt, Said, Side, case_differences, lift


def side(passed: int, decided: int, *, body_errors: bool = False) -> Side:
    return Side(attempts={None: [True] * passed + [False] * (decided - passed)}, body_errors=body_errors)


def cased(*passed: int, of: int = 4) -> Side:
    return Side(attempts={f"c{at}": [True] * count + [False] * (of - count) for at, count in enumerate(passed)})


@pytest.mark.parametrize(
    ("control", "variant", "said", "doubt"),
    [
        (side(0, 4), side(4, 4), "helped", None),
        (side(4, 4), side(0, 4), "made it worse", None),
        (side(1, 4), side(4, 4), "can't tell yet", Doubt.CHANCE),
        (side(4, 4), side(4, 4), "can't tell yet", Doubt.CHANCE),
        (side(0, 4), side(0, 4), "can't tell yet", Doubt.CHANCE),
        (side(0, 3), side(9, 9), "can't tell yet", Doubt.ATTEMPTS),
        (side(0, 0), side(4, 4), "can't tell yet", Doubt.NOTHING),
        (side(0, 4), side(0, 0), "can't tell yet", Doubt.NOTHING),
        (side(0, 9), side(9, 9, body_errors=True), "can't tell yet", Doubt.BODY_ERRORS),
        (side(0, 9, body_errors=True), side(9, 9), "can't tell yet", Doubt.BODY_ERRORS),
        (cased(0, 0, 0, 0, 0, 0), cased(4, 4, 4, 4, 4, 4), "helped", None),
        (cased(4, 4, 4, 4, 4, 4), cased(0, 1, 0, 1, 0, 2), "made it worse", None),
        (cased(0, 0, 0, 0, 0), cased(4, 4, 4, 4, 4), "can't tell yet", Doubt.CASES),
        (cased(0, of=20), cased(20, of=20), "can't tell yet", Doubt.CASES),
        (cased(0, 0, 0, 0, 0, 4), cased(4, 4, 4, 4, 4, 0), "can't tell yet", Doubt.CHANCE),
        (Side(attempts={}), Side(attempts={}), "can't tell yet", Doubt.NOTHING),
        (Side(attempts={"a": [True]}), Side(attempts={"b": [True]}), "can't tell yet", Doubt.NOTHING),
    ],
)
def test_what_is_said(control: Side, variant: Side, said: str, doubt: Doubt | None) -> None:
    found = lift(control, variant, seed="run")
    assert (found.said, found.doubt) == (said, doubt)
    assert (found.lift is None) == (doubt is Doubt.NOTHING)


def test_the_example_of_the_design() -> None:
    found = lift(side(0, 4), side(4, 4), seed="run")
    assert (found.lift, found.decided, found.cases) == (1.0, (4, 4), None)
    assert found.interval == pytest.approx((0.31, 1.0), abs=0.005)
    assert found.p == pytest.approx(2 / 256)


def test_direction_and_interval_are_there_at_any_number_of_runs() -> None:
    found = lift(side(0, 1), side(1, 1), seed="run")
    assert found.lift == 1.0
    assert found.interval is not None
    assert found.said is Said.OPEN


def test_a_case_counts_once_however_many_attempts_it_has() -> None:
    control = Side(attempts={"a": [False] * 100, "b": [True]})
    variant = Side(attempts={"a": [True] * 100, "b": [False]})
    assert lift(control, variant, seed="run").lift == 0.0


def test_a_case_without_attempts_on_one_side_does_not_count() -> None:
    control, variant = cased(*[0] * 7), cased(*[4] * 7)
    found = lift(control, Side(attempts={**variant.attempts, "c0": []}), seed="run")
    assert (found.cases, found.decided, found.said) == (6, (24, 24), Said.HELPED)


def test_only_equally_many_attempts_are_swapped() -> None:
    control = Side(attempts={"a": [False, True, True, True]})
    variant = Side(attempts={"a": [True, True]})
    (found,) = case_differences(control, variant, scored=False).values()
    assert (found.control, found.variant, found.even, found.decided) == (0.75, 1.0, Fraction(1, 2), (4, 2))


def test_one_attempt_against_very_many_makes_no_claim_of_its_own() -> None:
    """Sides of one rate: against 100 attempts a single pass is always above, so the signs alone would claim."""
    control = Side(attempts={str(case): [True] for case in range(6)})
    variant = Side(attempts={str(case): [True] * 70 + [False] * 30 for case in range(6)})
    found = lift(control, variant, seed="run")
    assert found.lift == pytest.approx(-0.3)
    assert found.said is Said.OPEN


def test_cases_that_differ_alike_have_the_interval_of_one_attempt_each() -> None:
    found = lift(cased(*[0] * 6), cased(*[4] * 6), seed="run")
    one = lift(side(0, 6), side(6, 6), seed="run")
    assert found.interval == one.interval


@pytest.mark.parametrize(
    ("control", "variant", "said"),
    [
        ([0.1, 0.2, 0.3, 0.2], [0.8, 0.7, 0.9, 1.0], Said.HELPED),
        ([0.8, 0.7, 0.9, 1.0], [0.1, 0.2, 0.3, 0.2], Said.WORSE),
        ([0.0] * 4, [1.0] * 4, Said.HELPED),  # no spread, so no interval: the exchanges alone decide
        ([0.5] * 4, [0.5] * 4, Said.OPEN),
        ([0.0, 0.2, 0.9, 0.4], [0.8, 0.7, 0.9, 1.0], Said.OPEN),
        ([0.1, 0.2, 0.1], [0.8] * 9, Said.OPEN),
    ],
)
def test_what_is_said_of_scores(control: list[float], variant: list[float], said: Said) -> None:
    found = lift(Side(attempts={None: control}), Side(attempts={None: variant}), scored=True, seed="run")
    assert found.said is said


def test_welch_alone_would_claim_what_chance_makes_often() -> None:
    """Four full scores against 20 with 4 of none: the control has no spread, and Welch takes that for certainty."""
    control, variant = [1.0] * 4, [1.0] * 16 + [0.0] * 4
    assert (welch(control, variant).p or 1) < 0.05
    found = lift(Side(attempts={None: control}), Side(attempts={None: variant}), scored=True, seed="run")
    assert found.said is Said.OPEN


def test_scores_of_cases_are_compared_case_by_case() -> None:
    base = [0.1, 0.3, 0.5, 0.7, 0.2, 0.4, 0.6]
    control = Side(attempts={str(at): [value, value + 0.02] for at, value in enumerate(base)})
    variant = Side(attempts={str(at): [value + 0.05, value + 0.08] for at, value in enumerate(base)})
    found = lift(control, variant, scored=True, seed="run")
    assert found.said is Said.HELPED
    assert found.lift == pytest.approx(0.055)
    assert found.cases == 7


def test_a_stricter_level_widens_the_interval_of_cases() -> None:
    control, variant = cased(0, 1, 2, 3, 0, 1, 2, 4), cased(4, 4, 3, 4, 1, 2, 4, 3)
    usual, strict = (lift(control, variant, seed="run", level=level) for level in (0.05, 0.01))
    assert usual.said is Said.HELPED
    assert strict.said is Said.OPEN
    assert usual.interval is not None
    assert strict.interval is not None
    assert strict.interval[0] < usual.interval[0]

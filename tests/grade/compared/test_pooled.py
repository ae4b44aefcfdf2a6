"""Several evals and harnesses: a mean of lifts, never a sum of attempts."""

from __future__ import annotations

import random

import pytest

from reeval.grade.compared.lifts import Doubt, Said, Side, lift
from reeval.grade.compared.pooled import Stratum, pooled_lift


def side(passed: int, decided: int, *, body_errors: bool = False) -> Side:
    return Side(attempts={None: [True] * passed + [False] * (decided - passed)}, body_errors=body_errors)


def stratum(control: tuple[int, int], variant: tuple[int, int], name: str = "a") -> Stratum:
    return Stratum(eval=name, control=side(*control), variant=side(*variant))


def cases(name: str, *pairs: tuple[int, int], of: int = 2) -> Stratum:
    sides = [
        Side(attempts={str(at): [True] * pair[index] + [False] * (of - pair[index]) for at, pair in enumerate(pairs)})
        for index in (0, 1)
    ]
    return Stratum(eval=name, control=sides[0], variant=sides[1])


def test_attempts_are_never_added_up() -> None:
    """Simpson's paradox: worse in each eval, and yet better when attempts are added up."""
    strata = [stratum((81, 87), (192, 263), "small"), stratum((234, 270), (55, 80), "large")]
    found = pooled_lift(strata, seed="run")
    assert (192 + 55) / (263 + 80) < (81 + 234) / (87 + 270)
    worse = [stratum((1, 1), (90, 100), "a"), stratum((10, 100), (0, 1), "b")]
    assert pooled_lift(worse, seed="run").lift == pytest.approx(-0.1)
    assert found.lift == pytest.approx(((192 / 263 - 81 / 87) + (55 / 80 - 234 / 270)) / 2)
    assert found.said is Said.WORSE


def test_one_eval_has_its_own_lift() -> None:
    one = stratum((0, 4), (4, 4))
    assert pooled_lift([one], seed="run") == lift(one.control, one.variant, seed="run")


def test_small_lifts_of_several_evals_are_told_together() -> None:
    strata = [stratum((1, 4), (3, 4), str(number)) for number in range(8)]
    assert lift(strata[0].control, strata[0].variant, seed="run").said is Said.OPEN
    found = pooled_lift(strata, seed="run")
    assert (found.said, found.lift, found.evals, found.decided) == (Said.HELPED, 0.5, 8, (32, 32))


def test_an_eval_counts_once_on_however_many_harnesses() -> None:
    strata = [stratum((0, 4), (4, 4), "a"), stratum((0, 4), (2, 4), "a"), stratum((4, 4), (4, 4), "b")]
    found = pooled_lift(strata, seed="run")
    assert found.lift == pytest.approx((0.75 + 0) / 2)
    assert found.evals == 2


def test_harnesses_do_not_make_more_cases() -> None:
    first = cases("a", *[(0, 2)] * 5)
    found = pooled_lift([first, first], seed="run")
    assert (found.cases, found.said, found.doubt) == (5, Said.OPEN, Doubt.CASES)
    six = cases("a", *[(0, 2)] * 6)
    assert pooled_lift([six, six], seed="run").said is Said.HELPED


def test_evals_with_and_without_cases_are_pooled() -> None:
    found = pooled_lift([cases("a", (0, 1), (0, 2), (1, 2)), stratum((1, 6), (5, 6), "b")], seed="run")
    assert found.lift == pytest.approx((4 / 6 + 4 / 6) / 2)
    assert (found.cases, found.evals) == (3, 2)
    assert found.interval is not None
    assert found.interval[0] < found.lift < found.interval[1]


def test_an_eval_without_attempts_on_one_side_does_not_count() -> None:
    found = pooled_lift([stratum((0, 0), (4, 4), "a"), stratum((0, 8), (8, 8), "b")], seed="run")
    assert (found.lift, found.evals, found.decided) == (1.0, 1, (8, 8))


def test_nothing_to_compare_is_said() -> None:
    found = pooled_lift([stratum((0, 0), (4, 4), "a"), stratum((1, 2), (0, 0), "b")], seed="run")
    assert (found.lift, found.doubt, found.decided) == (None, Doubt.NOTHING, (2, 4))
    assert pooled_lift([], seed="run").doubt is Doubt.NOTHING


def test_a_body_error_anywhere_leaves_it_open() -> None:
    strata = [stratum((0, 8), (8, 8), "a"), Stratum(eval="b", control=side(0, 8), variant=side(8, 8, body_errors=True))]
    assert pooled_lift(strata, seed="run").doubt is Doubt.BODY_ERRORS


def test_scores_of_several_evals_are_pooled() -> None:
    source = random.Random(1)
    strata = []
    for number in range(6):
        values = [[source.random() + 0.4 * index for _ in range(5)] for index in (0, 1)]
        strata.append(
            Stratum(
                eval=str(number),
                control=Side(attempts={None: values[0]}),
                variant=Side(attempts={None: values[1]}),
            )
        )
    found = pooled_lift(strata, scored=True, seed="run")
    assert found.said is Said.HELPED
    assert found.interval is not None


def test_scores_without_spread_anywhere_have_no_interval() -> None:
    flat = [
        Stratum(eval=name, control=Side(attempts={None: [0.0] * 4}), variant=Side(attempts={None: [1.0] * 4}))
        for name in "ab"
    ]
    found = pooled_lift(flat, scored=True, seed="run")
    assert (found.interval, found.said) == (None, Said.HELPED)

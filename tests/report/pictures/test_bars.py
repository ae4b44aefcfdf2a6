"""What a picture shows, what it calls it, and the axis on which it lies."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reeval.report.pictures.bars import Picture, lifts_of, picture_of, tick_text
from reeval.schema.record import EvalRecord
from tests.report.pictures.samples import ALL, NOTHING, OPEN, POOLED, SAME, WORSE, drawn, lift
from tests.report.records import HOSTILE, evaluated, run


def test_a_bar_says_everything_of_its_lift_in_a_sentence() -> None:
    assert [bar.sentence for bar in drawn().bars] == [
        "house, 2 evals · all harnesses: +0.55 [0.20, 0.80], helped",
        "house, greets by name · scribe: +1.00 [0.31, 1.00], helped",
        "terse, greets by name · scribe: −0.62 [−0.83, −0.21], made it worse, below min_lift",
        "terse, adds · scribe: −0.25 [−0.70, 0.20], can't tell yet",
        "copy, adds · codex: 0.00 [−0.42, 0.42], can't tell yet, nothing varied",
        "house, installs · scribe: nothing decided, can't tell yet",
    ]


@pytest.mark.parametrize(
    ("more", "notes"),
    [
        ({"holds": True}, ()),
        ({"holds": False}, ("below min_lift",)),
        ({"undecided": True}, ("min_lift undecided",)),
        ({"flags": ["errors"]}, ("errors differ",)),
        ({"flags": ["errors", "identical"], "holds": False}, ("below min_lift", "nothing varied", "errors differ")),
        ({"flags": ["of a later version"]}, ()),
    ],
)
def test_notes_say_what_makes_a_lift_too_small_or_doubtful(more: dict[str, Any], notes: tuple[str, ...]) -> None:
    assert drawn(("adds", lift(**more))).bars[0].notes == notes


def test_without_lifts_there_is_no_picture() -> None:
    assert picture_of([]) is None
    assert lifts_of(run(evaluated())) == []


def test_the_lifts_of_a_run_are_the_pooled_ones_and_those_of_its_evals() -> None:
    record = run(
        evaluated("adds", lifts=[OPEN, SAME]),
        evaluated("greets by name", lifts=[WORSE]),
        evaluated("alone"),
        lifts=[POOLED, lift(evals=None)],
    )
    assert lifts_of(record) == [
        ("2 evals", POOLED), ("all evals", lift()), ("adds", OPEN), ("adds", SAME), ("greets by name", WORSE)
    ]  # fmt: skip


def test_evals_of_one_name_are_told_apart_by_their_files() -> None:
    def one(file: str) -> EvalRecord:
        return evaluated("adds", lifts=[OPEN], file=file)

    titles = [title for title, _ in lifts_of(run(one("evals/a.eval.py"), one("evals/b.eval.py")))]
    assert titles == ["evals/a.eval.py › adds", "evals/b.eval.py › adds"]


def test_the_title_names_the_control_that_all_share() -> None:
    assert drawn().title == "Lift over plain"
    assert drawn(("adds", lift(control="-"))).title == "Lift over no environment"


def test_of_several_controls_each_bar_names_its_own() -> None:
    picture = drawn(("adds", lift()), ("greets", lift(control="bare")))
    assert picture.title == "Lift over the control"
    assert [bar.about for bar in picture.bars] == ["adds · scribe · over plain", "greets · scribe · over bare"]


def test_sandboxes_are_named_where_there_are_several() -> None:
    picture = drawn(("adds", lift()), ("adds", lift(sandbox="docker")), ("adds", lift(sandbox=None)))
    assert [bar.about for bar in picture.bars] == [
        "adds · scribe · local", "adds · scribe · docker", "adds · scribe · all sandboxes"
    ]  # fmt: skip


def test_a_harness_is_not_named_where_no_lift_is_of_one() -> None:
    assert drawn(("2 evals", POOLED)).bars[0].about == "2 evals"


def test_the_summary_counts_what_is_said() -> None:
    assert drawn().summary == "2 helped, 1 made it worse, 3 can't tell yet"
    assert drawn(("adds", OPEN)).summary == "1 can't tell yet"


def test_of_many_lifts_those_that_can_be_told_are_shown_first_and_the_rest_is_counted() -> None:
    many = [("adds", OPEN)] * 50 + [("greets", WORSE)]
    picture = drawn(*many)
    assert (len(picture.bars), picture.more, picture.rest) == (40, 11, "… 11 more lifts")
    assert picture.bars[-1].said == "made it worse"
    assert drawn(*many[:41]).rest == "… 1 more lift"
    assert (len(drawn(*many, most=None).bars), drawn(*many, most=None).rest) == (51, "")


def test_the_order_is_that_of_the_record() -> None:
    names = [bar.variant for bar in drawn(*ALL, most=4).bars]
    assert names == ["house", "house", "terse", "terse"]


@pytest.mark.parametrize(
    ("numbers", "extent", "ticks"),
    [
        ((2.5, 0.4, 4.1), 5.0, ["−5", "−2.5", "0", "+2.5", "+5"]),
        ((-9.5, -12.0, -7.0), 20.0, ["−20", "−10", "0", "+10", "+20"]),
        ((0.5, 0.25, 1.0), 1.0, ["−1", "−0.5", "0", "+0.5", "+1"]),
        ((0.003, None, None), 0.005, ["−0.005", "−0.0025", "0", "+0.0025", "+0.005"]),
        ((1e9, 0.0, 1e9), 1e9, ["−1e+09", "−5e+08", "0", "+5e+08", "+1e+09"]),
        ((0.0, 0.0, 0.0), 1.0, ["−1", "−0.5", "0", "+0.5", "+1"]),
        ((None, None, None), 1.0, ["−1", "−0.5", "0", "+0.5", "+1"]),
        ((math.inf, math.nan, 3.0), 5.0, ["−5", "−2.5", "0", "+2.5", "+5"]),
    ],
)
def test_the_axis_of_scores_holds_every_number(numbers: Any, extent: float, ticks: list[str]) -> None:
    picture = drawn(("adds", lift(numbers=numbers, scored=True)))
    assert picture.extent == pytest.approx(extent)
    assert [tick_text(value) for value in picture.ticks] == ticks
    assert picture.meaning == "mean score of the variant minus the control's, with its 95 % interval"


def test_the_axis_of_rates_is_the_same_for_all_runs() -> None:
    picture = drawn(("adds", lift(numbers=(0.1, 0.05, 0.2))))
    assert picture.extent == 1.0
    assert picture.meaning == "pass rate of the variant minus the control's, with its 95 % interval"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.25, None, None), "+0.25"),
        ((0.25, 0.1, None), "+0.25"),
        ((-0.001, -0.004, 0.5), "0.00 [0.00, 0.50]"),
        ((math.nan, -1.0, 1.0), "nothing decided"),
        ((None, -1.0, 1.0), "nothing decided"),
        ((0.004, -0.1, 0.2), "0.00 [−0.10, 0.20]"),
        ((0.0031, -0.0004, 0.004), "+0.0031 [−0.0004, 0.0040]"),
        ((2500.0, -12345.0, 1e7), "+2.5e+03 [−1.23e+04, 1e+07]"),
    ],
)
def test_numbers_that_are_missing_or_odd_are_written_as_they_are_known(numbers: Any, text: str) -> None:
    assert drawn(("adds", lift(numbers=numbers, scored=True))).bars[0].numbers == text


def test_a_bar_stays_on_the_axis() -> None:
    bar = drawn(("adds", lift(numbers=(1.5, -3.0, 2.0)))).bars[0]
    assert (bar.point, bar.span) == (1.0, (-1.0, 1.0))


def test_an_interval_without_a_lift_is_not_drawn() -> None:
    bar = drawn(("adds", lift(numbers=(None, -1.0, 1.0)))).bars[0]
    assert (bar.point, bar.span) == (None, None)
    assert drawn(("installs", NOTHING)).bars[0].span is None


def texts_of(picture: Picture) -> list[str]:
    return [picture.title, *(text for bar in picture.bars for text in (bar.variant, bar.about, bar.sentence))]


def test_hostile_names_become_one_bounded_line_each() -> None:
    bad = lift(HOSTILE, control=HOSTILE, harness=HOSTILE, doubt=HOSTILE)
    for text in texts_of(drawn((HOSTILE, bad), (HOSTILE, lift("x" * 10**6)))):
        assert text.isprintable()
        assert len(text) < 1000

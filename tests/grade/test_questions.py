"""Which attempts meet in a pair, and what answers add up to."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from reeval.grade.asked.pairs import is_asked, is_paired, pairs_of
from reeval.grade.asked.tallies import QuestionFold, answered_usage, answers_it, is_split
from reeval.schema.plan import PlannedAttempt, PlannedCell, PlannedEval, PlannedQuestion
from reeval.schema.record import Outcome
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, SideTally, Vote
from reeval.usage import Usage


def planned(*cells: str, cases: tuple[str, ...] = (), runs: int = 1) -> PlannedEval:
    made = tuple(
        PlannedCell(key=key, **dict(zip(("harness", "environment", "sandbox"), key.split("/"), strict=True)))
        for key in cells
    )
    return PlannedEval(
        id="e",
        file="e",
        path=("e",),
        slug="e",
        line=1,
        kind="pass-fail",
        mode="run",
        cells=made,
        cases=cases,
        runs=runs,
    )


def attempts(one: PlannedEval) -> list[PlannedAttempt]:
    return [
        PlannedAttempt(eval=one, cell=cell, case=case, run=run)
        for run in range(1, one.runs + 1)
        for case in one.cases or (None,)
        for cell in one.cells
    ]


def met(across: tuple[str, ...], found: list[PlannedAttempt]) -> list[str]:
    question = PlannedQuestion(text="Which?", across=across)
    return [f"{pair.factor}: {pair.left.id} {pair.right.id}" for pair in pairs_of(question, found)]


GRID = ("terse/plain/box", "terse/house/box", "chatty/plain/box", "chatty/house/box")
PAIRS = [
    (
        ("harness",),
        GRID,
        ["harness: terse/plain/box#1 chatty/plain/box#1", "harness: terse/house/box#1 chatty/house/box#1"],
    ),
    (
        ("environment",),
        GRID,
        ["environment: terse/plain/box#1 terse/house/box#1", "environment: chatty/plain/box#1 chatty/house/box#1"],
    ),
    (
        ("environment", "harness"),
        GRID[:3],
        ["environment: terse/plain/box#1 terse/house/box#1", "harness: terse/plain/box#1 chatty/plain/box#1"],
    ),
    (("harness",), ("terse/plain/box", "chatty/house/box"), []),
    (("harness",), ("terse/-/box", "chatty/-/docker"), []),
    (
        ("harness",),
        ("a/-/x", "b/-/x", "c/-/x"),
        ["harness: a/-/x#1 b/-/x#1", "harness: a/-/x#1 c/-/x#1", "harness: b/-/x#1 c/-/x#1"],
    ),
    (("harness",), ("a/-/x",), []),
]


@pytest.mark.parametrize(("across", "cells", "pairs"), PAIRS)
def test_pairs_differ_in_one_factor_and_hold_the_rest(across: Any, cells: Any, pairs: list[str]) -> None:
    assert met(across, attempts(planned(*cells))) == pairs


def test_pairs_hold_the_case_and_the_run() -> None:
    found = met(("harness",), attempts(planned("a/-/x", "b/-/x", cases=("one", "two"), runs=2)))
    assert found == [f"harness: a/-/x[{case}]#{run} b/-/x[{case}]#{run}" for run in (1, 2) for case in ("one", "two")]


def test_pairs_are_in_the_order_of_the_plan_however_attempts_ended() -> None:
    found = attempts(planned(*GRID))
    expected = met(("environment", "harness"), found)
    assert all(met(("environment", "harness"), list(order)) == expected for order in permutations(found))


def test_an_attempt_that_did_not_pass_has_no_pair() -> None:
    assert met(("harness",), attempts(planned("a/-/x", "b/-/x"))[:1]) == []


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_attempts_that_ended_by_themselves_are_asked_about(outcome: Outcome) -> None:
    assert is_asked(outcome) == (outcome not in {Outcome.ERROR, Outcome.SKIPPED})


@pytest.mark.parametrize(
    ("outcome", "verdict", "paired"),
    [
        (Outcome.PASS, None, True),
        (Outcome.FAIL, None, False),
        (Outcome.REVIEW, None, False),
        (Outcome.ERROR, None, False),
        (Outcome.SKIPPED, None, False),
        (Outcome.SCORED, None, True),
        (Outcome.SCORED, "pass", True),
        (Outcome.SCORED, "fail", False),
    ],
)
def test_what_passed_is_paired(outcome: Outcome, verdict: str | None, paired: bool) -> None:
    assert is_paired(outcome, verdict) is paired


# --- answers ------------------------------------------------------------------------------------------


def vote(first: str, winner: str | None, **more: Any) -> Vote:
    return Vote(shown_first=first, winner=winner, error=None if winner else "broken", **more)  # type: ignore[arg-type]


def pair(first: str | None, second: str | None, left: str = "plain", right: str = "house", **more: Any) -> PairRecord:
    votes = [vote("left", first), vote("right", second)]
    fields: dict[str, Any] = {"factor": "environment", "left": "l", "right": "r", "text": "Which?", "model": "fake"}
    return PairRecord(
        eval="e",
        question=1,
        left_value=left,
        right_value=right,
        votes=votes,
        split=is_split(votes),
        **{**fields, **more},
    )


VOTES = [
    ("left", "left", (2, 2, 0, 2), False, 0),
    ("right", "right", (0, 2, 2, 2), False, 0),
    ("left", "right", (1, 2, 1, 2), True, 0),
    ("right", "left", (1, 2, 1, 2), True, 0),
    ("left", "tie", (1, 1, 0, 1), False, 0),
    ("tie", "tie", (0, 0, 0, 0), False, 0),
    ("left", None, (1, 1, 0, 1), False, 1),
    (None, None, (0, 0, 0, 0), False, 2),
]


@pytest.mark.parametrize(("first", "second", "tallies", "split", "errors"), VOTES)
def test_a_split_is_one_win_each_and_a_tie_counts_for_neither(
    first: str | None, second: str | None, tallies: tuple[int, ...], split: bool, errors: int
) -> None:
    one = planned("a/plain/x", "a/house/x")
    fold = QuestionFold(1, PlannedQuestion(text="Which?", across=("environment",), model="fake"))
    fold.add_pair(pair(first, second))
    record = fold.record(one)
    assert record.sides == {
        "environment": [
            SideTally(value="plain", won=tallies[0], of=tallies[1]),
            SideTally(value="house", won=tallies[2], of=tallies[3]),
        ]
    }
    assert (record.pairs, record.splits, record.errors, record.asked) == (1, int(split), errors, 2)


def test_factors_are_tallied_apart_and_sides_stand_in_the_order_of_the_plan() -> None:
    one = planned(*GRID)
    fold = QuestionFold(1, PlannedQuestion(text="Which?", across=("environment", "harness"), model="fake"))
    fold.add_pair(pair("right", "right", factor="harness", left="chatty", right="terse"))
    fold.add_pair(pair("left", "left", left="house", right="plain"))
    sides = fold.record(one).sides
    assert list(sides) == ["environment", "harness"]
    assert [side.value for side in sides["environment"]] == ["plain", "house"]
    assert [(side.value, side.won) for side in sides["harness"]] == [("terse", 2), ("chatty", 0)]


def answer(**more: Any) -> AnswerRecord:
    return AnswerRecord(eval="e", attempt="a", question=1, **{"text": "Why?", "model": "fake", **more})


def test_choices_are_tallied_in_their_order_and_errors_apart() -> None:
    question = PlannedQuestion(text="Why?", choices=("yes", "no", "maybe"), model="fake")
    fold = QuestionFold(1, question)
    for choice in ("no", "yes", "no"):
        fold.add(answer(choice=choice))
    fold.add(answer(error="broken"))
    record = fold.record(planned("a/-/x"))
    assert list(record.tally.items()) == [("yes", 1), ("no", 2), ("maybe", 0)]
    assert (record.asked, record.errors) == (4, 1)


WORDS = PlannedQuestion(text="Why?", model="fake")
CHOICES = PlannedQuestion(text="Why?", model="fake", choices=("yes", "no"))
ACROSS = PlannedQuestion(text="Which?", model="fake", across=("environment",))


@pytest.mark.parametrize(
    ("record", "question", "fits"),
    [
        (answer(answer="So."), WORDS, True),
        (answer(choice="yes"), CHOICES, True),
        (answer(error="broken"), CHOICES, True),
        (answer(choice="perhaps"), CHOICES, False),
        (answer(answer="So."), CHOICES, False),
        (answer(choice="yes"), WORDS, False),
        (answer(answer="So.", text="What?"), WORDS, False),
        (answer(answer="So.", model="other"), WORDS, False),
        (answer(answer="So.", text="Which?"), ACROSS, False),
        (pair("left", "left"), ACROSS, True),
        (pair("left", "left", factor="harness"), ACROSS, False),
        (pair("left", "left", text="Why?"), WORDS, False),
    ],
)
def test_an_answer_to_another_question_does_not_count(record: Any, question: PlannedQuestion, fits: bool) -> None:
    assert answers_it(record, question) is fits


def test_the_usage_of_a_pair_is_that_of_both_calls() -> None:
    known = [
        vote("left", "left", usage=Usage(input=3, cost=0.5)),
        vote("right", "left", usage=Usage(input=4, cost=0.25)),
    ]
    assert answered_usage(pair("left", "left")) == Usage()
    record = PairRecord(
        eval="e",
        question=1,
        text="",
        model="",
        factor="harness",
        left="l",
        right="r",
        left_value="a",
        right_value="b",
        votes=known,
    )
    assert (answered_usage(record).input, answered_usage(record).cost) == (7, 0.75)

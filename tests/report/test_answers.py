"""Answers in a block, a line and an attempt's screen: compared as whole texts."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.report.answers import answer_texts, attempt_answer_lines, facts_of, question_lines
from reeval.report.screen.failures import Page
from reeval.report.screen.ink import PLAIN
from reeval.report.summary import summary_text
from reeval.report.text import width
from reeval.schema.record import FileRef
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, QuestionRecord, SideTally, Vote
from tests.report.records import HOSTILE, cell, entry, evaluated, run


def answer(attempt: str = "terse/-/fake#1", **more: Any) -> AnswerRecord:
    fields = {"question": 1, "text": "How?", "model": "fake", "eval": "evals/greet.eval.py::greets by name"}
    return AnswerRecord(attempt=attempt, **{**fields, **more})


def pair(**more: Any) -> PairRecord:
    votes = [Vote(shown_first="left", winner="right", reason="Shorter."), Vote(shown_first="right", winner="tie")]
    fields = {"eval": "e", "question": 2, "text": "Which?", "model": "fake", "factor": "harness", "votes": votes}
    sides = {"left": "terse/-/fake#1", "right": "chatty/-/fake#1", "left_value": "terse", "right_value": "chatty"}
    return PairRecord(**{**fields, **sides, **more})


def asked(*texts: str, **more: Any) -> Any:
    attempts = [
        entry(f"{harness}/-/fake#{number}", answers=[answer(f"{harness}/-/fake#{number}", answer=text)])
        for number, text in enumerate(texts, 1)
        for harness in ("terse", "chatty")
    ]
    questions = more.pop("questions", [QuestionRecord(number=1, text="How?", model="fake", asked=len(attempts))])
    return evaluated("greets", cell(), cell("chatty/-/fake"), attempts=attempts, questions=questions, **more)


def lines(record: Any, **more: Any) -> list[str]:
    return question_lines(record, ink=PLAIN, cells=None, **more)


def test_the_first_three_answers_are_shown_cell_by_cell_and_the_rest_is_counted() -> None:
    assert lines(asked("So.", "Thus.")) == [
        "  question  How?",
        "    terse/-/fake#1   So.",
        "    terse/-/fake#2   Thus.",
        "    chatty/-/fake#1  So.",
        "    1 more: reeval query attempt_answers",
    ]
    assert len(lines(asked("So.", "Thus."), every=True)) == 5


def test_a_tally_names_every_choice_in_its_order() -> None:
    question = QuestionRecord(number=1, text="Is it?", choices=("yes", "no"), asked=3, tally={"yes": 0, "no": 3})
    assert lines(evaluated(questions=[question])) == ["  question  Is it?", "    yes 0 · no 3"]


def test_sides_show_what_they_won_and_splits_are_said() -> None:
    tallies = [SideTally(value="plain", won=1, of=4), SideTally(value="with-house", won=3, of=4)]
    question = QuestionRecord(
        number=1, text="Which?", across=("environment",), asked=4, sides={"environment": tallies}, splits=1, pairs=2
    )
    assert lines(evaluated(questions=[question])) == [
        "  question  Which?",
        "    split 1 of 2 pairs: there the order decided",
        "    plain       won 1 of 4",
        "    with-house  won 3 of 4",
    ]


def test_sides_of_several_factors_name_their_factor() -> None:
    sides = {
        "environment": [SideTally(value="plain", won=1, of=2)],
        "harness": [SideTally(value="terse", won=0, of=2)],
    }
    question = QuestionRecord(number=1, text="Which?", across=tuple(sides), asked=4, sides=sides, pairs=2)
    assert lines(evaluated(questions=[question]))[1:] == [
        "    environment plain  won 1 of 2",
        "    harness terse      won 0 of 2",
    ]


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        (QuestionRecord(number=1, text="How?"), ["not asked of any attempt"]),
        (QuestionRecord(number=1, text="How?", asked=2, errors=2), ["2 errors: no answer"]),
        (QuestionRecord(number=1, text="W?", across=("harness",)), ["no pair: a pair needs two attempts that passed"]),
    ],
)
def test_what_is_missing_is_said(question: QuestionRecord, facts: list[str]) -> None:
    assert list(facts_of(question)) == facts


@pytest.mark.parametrize("cells", [20, 40, 80])
def test_hostile_texts_stay_on_their_line_and_in_the_width(cells: int) -> None:
    record = asked(HOSTILE * 20, questions=[QuestionRecord(number=1, text=HOSTILE, asked=2)])
    shown = question_lines(record, ink=PLAIN, cells=cells)
    assert all(line.isprintable() and width(line) <= cells for line in shown)


def test_a_line_for_each_answer_and_vote() -> None:
    texts = [
        text
        for one in (answer(choice="yes", reason="Seen."), answer(error="broken"), pair())
        for text in answer_texts(one)
    ]
    between = "question 2 between terse/-/fake#1 and chatty/-/fake#1"
    assert texts == [
        "question 1 @ terse/-/fake#1: yes (Seen.)",
        "question 1 @ terse/-/fake#1: not answered: broken",
        f"{between}: chatty (Shorter.)",
        f"{between}: tie",
    ]


def test_an_attempt_shows_its_answers_and_its_pairs_with_their_files() -> None:
    file = FileRef(file="greets/questions/2.json", bytes=1, sha256="")
    record = asked("So.", answers=[pair(input=file)])
    assert attempt_answer_lines(record, "chatty/-/fake#1", Page()) == [
        "  1  How?",
        "    So.",
        "  2  Which?",
        "    against terse/-/fake#1",
        "      chatty (Shorter.)",
        "      tie",
        "    sent and answered: greets/questions/2.json",
    ]


def test_the_summary_links_files_and_lets_no_text_become_markdown() -> None:
    file = FileRef(file="greets/terse/-/fake/1/questions/1.json", bytes=1, sha256="")
    attempts = [entry(answers=[answer(answer=HOSTILE, input=file)])]
    text = summary_text(
        run(evaluated(attempts=attempts, questions=[QuestionRecord(number=1, text="How?", asked=1)])), []
    )
    assert "* [`terse/-/fake#1`](greets/terse/-/fake/1/questions/1.json): " in text
    assert "\x1b" not in text

"""Answers in a journal: which count, when attempts run again, and how they are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reeval.errors import RecordError
from reeval.record.compile import compile_record
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.plan import PlannedAttempt, PlannedQuestion
from reeval.schema.record import Outcome
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, Vote
from reeval.secrets import Masker
from reeval.usage import Usage
from tests.record.samples import EVAL, attempt, big_turn, plan, planned_attempt, planned_eval, start

ASKED = planned_eval(
    harnesses=("terse", "chatty"),
    questions=(
        PlannedQuestion(text="Is it?", choices=("yes", "no"), model="fake"),
        PlannedQuestion(text="Which?", across=("harness",), model="fake"),
    ),
)


def answer(name: str = "terse/-/fake#1", **more: Any) -> AnswerRecord:
    fields = {"text": "Is it?", "model": "fake", "choice": "yes"}
    return AnswerRecord(eval=EVAL, attempt=name, question=1, **{**fields, **more})


def pair(run: int = 1, winner: Any = "left", **more: Any) -> PairRecord:
    left, right = f"terse/-/fake#{run}", f"chatty/-/fake#{run}"
    votes = [Vote(shown_first=first, winner=winner) for first in ("left", "right")]
    fields = {"text": "Which?", "model": "fake", "factor": "harness", "left_value": "terse", "right_value": "chatty"}
    return PairRecord(eval=EVAL, question=2, left=left, right=right, votes=votes, **{**fields, **more})


def written(root: Path, *lines: Any, masker: Masker | None = None) -> RunDirectory:
    with RunStore(root).create(masker or Masker()) as writer:
        writer.start(start(writer.directory.name, plan(ASKED)))
        for line in lines:
            if isinstance(line, str):
                writer.supersede(EVAL, line)
            elif isinstance(line, AnswerRecord | PairRecord):
                writer.answer(line)
            else:
                writer.attempt(line)
        return RunDirectory(writer.directory)


def both(run: int = 1) -> list[Any]:
    return [attempt(run), attempt(run, harness="chatty")]


def test_answers_stand_beside_their_attempt_and_pairs_beside_their_eval(tmp_path: Path) -> None:
    run = written(tmp_path, *both(), *both(2), pair(2), answer(), pair(), answer("chatty/-/fake#1", choice="no"))
    (found,) = compile_record(run).evals
    assert {one.attempt: [a.choice for a in one.answers] for one in found.attempts} == {
        "terse/-/fake#1": ["yes"], "chatty/-/fake#1": ["no"], "terse/-/fake#2": [], "chatty/-/fake#2": [],
    }  # fmt: skip
    assert [one.left for one in found.answers] == ["terse/-/fake#1", "terse/-/fake#2"]
    assert found.questions[0].tally == {"yes": 1, "no": 1}
    assert [(side.value, side.won) for side in found.questions[1].sides["harness"]] == [("terse", 4), ("chatty", 0)]


def test_the_last_answer_of_a_key_counts(tmp_path: Path) -> None:
    run = written(tmp_path, *both(), answer(choice=None, error="broken"), answer(), pair(), pair(winner="right"))
    (found,) = compile_record(run).evals
    assert (found.questions[0].asked, found.questions[0].errors) == (1, 0)
    assert [vote.winner for one in found.answers for vote in one.votes] == ["right", "right"]


GONE = [
    pytest.param([*both(), answer(), pair(), *both()], id="both ran again"),
    pytest.param([*both(), answer(), pair(), attempt()], id="one ran again"),
    pytest.param([*both(), answer(), pair(), "its task changed", *both()], id="superseded"),
    pytest.param([answer("gone/-/fake#1"), *both()], id="of no attempt"),
    pytest.param([*both(), answer(text="Was it?"), pair(text="What?")], id="to another question"),
]


@pytest.mark.parametrize("lines", GONE)
def test_answers_about_what_is_no_more_do_not_count(tmp_path: Path, lines: list[Any]) -> None:
    (found,) = compile_record(written(tmp_path, *lines)).evals
    assert [one.asked for one in found.questions] == [0, 0]
    assert found.answers == []
    assert all(not one.answers for one in found.attempts)


def test_the_cost_of_questions_is_part_of_the_runs(tmp_path: Path) -> None:
    spent = [attempt(turns=[])]
    known = written(tmp_path, *spent, answer(usage=Usage(cost=0.25)))
    assert compile_record(known).totals.cost == 0.25
    assert compile_record(written(tmp_path, *spent, answer())).totals.cost is None


def test_secrets_are_masked_in_answers_and_names_stay(tmp_path: Path) -> None:
    secret = "terse"
    run = written(tmp_path, *both(), answer(choice="yes", reason=f"{secret} said so"), masker=Masker([secret]))
    (found,) = [one for planned in compile_record(run).evals for one in planned.attempts if one.answers]
    assert found.attempt == "terse/-/fake#1"
    assert found.answers[0].reason == "*** said so"


def test_an_attempt_is_recalled_with_its_parts(tmp_path: Path) -> None:
    with RunStore(tmp_path).create(Masker()) as writer:
        writer.start(start(writer.directory.name, plan(ASKED)))
        before = attempt(turns=[big_turn()])
        assert not isinstance(writer.attempt(before).turns, list)
        assert writer.recall(planned_attempt(planned=ASKED)).turns == before.turns
        with pytest.raises(RecordError, match="terse/-/fake#2 has no record"):
            writer.recall(planned_attempt(2, ASKED))
    run = RunDirectory(writer.directory)
    with RunStore(tmp_path).resume(run, Masker()) as again:
        assert again.recall(planned_attempt(planned=ASKED)).turns == before.turns


def test_documents_stand_below_their_attempt_or_eval(tmp_path: Path) -> None:
    with RunStore(tmp_path).create(Masker(["hunter22"])) as writer:
        writer.start(start(writer.directory.name, plan(ASKED)))
        one = planned_attempt(planned=ASKED)
        files = [
            writer.document(of, "questions/1.json", b'{"prompt": "hunter22"}').file
            for of in (one, PlannedAttempt(eval=ASKED, cell=one.cell, case=None, run=1), ASKED)
        ]
        assert files == [
            "greet.greets-by-name/terse/-/fake/1/questions/1.json",
            "greet.greets-by-name/terse/-/fake/1/questions/1-2.json",
            "greet.greets-by-name/questions/1.json",
        ]
        assert (writer.directory / files[2]).read_bytes() == b'{"prompt": "***"}'


def test_an_attempt_that_failed_keeps_its_answers(tmp_path: Path) -> None:
    run = written(tmp_path, attempt(outcome=Outcome.FAIL), answer())
    assert compile_record(run).evals[0].questions[0].asked == 1

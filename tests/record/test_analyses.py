"""What is kept of an analysis, and what one reads of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reeval.errors import RecordError
from reeval.record.answers.analyses import keep_analysis
from reeval.record.answers.readings import RunReading
from reeval.record.format.parts import safe_name
from reeval.record.store import RunStore
from reeval.schema.record import AttemptFailure, FileRef, Outcome
from reeval.schema.recorded.answers import AnswerRecord
from reeval.secrets import Masker
from tests.record.samples import EVAL, attempt, big_turn, check, planned_eval, record

SECRET = "sk-very-secret"


def test_each_analysis_is_a_file_of_its_own_and_the_run_is_read_as_before(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    run = record(store, attempt(1), attempt(2))
    files = [keep_analysis(run, {"prompt": f"p{number}"}, Masker()) for number in (1, 2)]
    assert [path.name for path in files] == ["1.json", "2.json"]
    assert [json.loads(path.read_text())["prompt"] for path in files] == ["p1", "p2"]
    assert len(RunReading(run, Masker()).attempts) == 2


def test_texts_are_masked_and_the_json_around_them_is_not(tmp_path: Path) -> None:
    run = record(RunStore(tmp_path), attempt(1))
    data = {"prompt": [f"a {SECRET}", True, None, 1.5, {"deep": (SECRET,)}], "odd": "\ud800"}
    path = keep_analysis(run, data, Masker([SECRET, "prompt", "true", "null"]))
    assert json.loads(path.read_text()) == {"prompt": ["a ***", True, None, 1.5, {"deep": ["***"]}], "odd": "?"}


def test_a_run_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    run = record(RunStore(tmp_path), attempt(1))
    (run.path / "analysis").write_text("in the way")
    with pytest.raises(RecordError, match="cannot be written"):
        keep_analysis(run, {}, Masker())


def test_no_eval_has_the_folder_of_analyses() -> None:
    assert safe_name("analysis") != "analysis"


def test_findings_come_from_every_attempt_with_parts_read_from_their_files(tmp_path: Path) -> None:
    long = check("long", holds=False, message="m" * 9000)
    run = record(RunStore(tmp_path), attempt(1, outcome=Outcome.FAIL, checks=[long]), attempt(2, outcome=Outcome.FAIL))
    found = {key[2]: one.attempts for key, one in RunReading(run, Masker()).findings().checks.items()}
    assert found == {"long": 1, "includes 'Hello'": 1}


def test_a_part_that_is_gone_leaves_the_others_readable(tmp_path: Path) -> None:
    long = check("long", holds=False, message="m" * 9000)
    run = record(RunStore(tmp_path), attempt(1, outcome=Outcome.FAIL, turns=[big_turn()], checks=[long], log="a log"))
    for path in (*run.path.rglob("turns.ndjson"), *run.path.rglob("checks.json")):
        path.unlink()
    reading = RunReading(run, Masker())
    ((eval_id, one),) = reading.attempts
    whole = reading.whole(eval_id, one)
    assert isinstance(whole.turns, FileRef)
    assert isinstance(whole.checks, FileRef)
    assert reading.texts(eval_id, one) == ["a log"]
    assert reading.findings().checks == {}


def test_the_words_of_an_attempt_are_masked_and_hold_its_answers(tmp_path: Path) -> None:
    from reeval.schema.plan import PlannedQuestion
    from tests.record.samples import plan, start

    asked = planned_eval(questions=(PlannedQuestion(text="Why?", model="m"),))
    store = RunStore(tmp_path)
    with store.create(Masker()) as writer:
        writer.start(start(writer.directory.name, plan(asked)))
        writer.attempt(attempt(1, log=f"key {SECRET}"))
        writer.answer(
            AnswerRecord(eval=EVAL, attempt="terse/-/fake#1", question=1, text="Why?", model="m", answer="For a name.")
        )
    texts = RunReading(store.find("last"), Masker([SECRET])).texts(EVAL, "terse/-/fake#1")
    assert "key ***" in texts
    assert "For a name." in texts
    assert not any(SECRET in text for text in texts)


def test_a_secret_that_is_known_only_today_is_masked_before_anything_is_cut(tmp_path: Path) -> None:
    edge = "x" * 395 + SECRET
    checks = [check("long", holds=False, message=edge)]
    failure = AttemptFailure(reason=edge)
    run = record(RunStore(tmp_path), attempt(1, outcome=Outcome.FAIL, checks=checks, failure=failure, log=SECRET))
    reading = RunReading(run, Masker([SECRET]))
    findings = reading.findings()
    samples = [text for one in (*findings.checks.values(), *findings.errors.values()) for _, text in one.samples]
    assert samples == ["x" * 395 + "***"] * 2
    assert reading.whole(EVAL, "terse/-/fake#1").log == "***"

"""What a run adds up to, whatever happened to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from reeval.errors import ExitCode, Phase, RecordError
from reeval.record.compile import compile_record, load_record, write_record
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.plan import Selection
from reeval.schema.record import AttemptFailure, Outcome, RunEnd, RunState
from reeval.secrets import Masker
from tests.record.samples import EVAL, attempt, big_turn, check, plan, planned_eval, record, start, turn

OTHER = "evals/greet.eval.py::other"


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def test_the_record_of_a_small_run_whole(store: RunStore) -> None:
    failure = AttemptFailure(reason="no sandbox", phase=Phase.SANDBOX)
    run = record(store, attempt(1), attempt(2, outcome=Outcome.ERROR, failure=failure, checks=[], turns=[]))
    spans = run.index().attempts[EVAL]
    assert json.loads(msgspec.json.encode(compile_record(run))) == {
        "schema_version": 1,
        "run_id": run.id,
        "state": "completed",
        "kind": "pass-fail",
        "exit_code": 3,
        "created_at": 1_790_000_000_000,
        "ended_at": 1_790_000_005_000,
        "project": "demo",
        "reeval_version": "0.1.0",
        "python_version": "3.11.7",
        "platform": "Linux",
        "host": "here",
        "command": ["reeval", "run"],
        "selection": "",
        "totals": {"planned": 2, "passed": 1, "error": 1},
        "evals": [
            {
                "id": EVAL,
                "file": "evals/greet.eval.py",
                "path": ["greets by name"],
                "slug": "greet.greets-by-name",
                "kind": "pass-fail",
                "runs": 2,
                "task": "task1",
                "cells": [
                    {
                        "key": "terse/-/fake",
                        "harness": "terse",
                        "sandbox": "fake",
                        "environment": "-",
                        "planned": 2,
                        "passed": 1,
                        "error": 1,
                        "gate": {"rule": "all", "value": 1.0, "undecided": True},
                        "duration": 0.25,
                        "subject": "subject1",
                    }
                ],
                "attempts": [
                    {
                        "attempt": "terse/-/fake#1",
                        "outcome": "pass",
                        "duration": 0.25,
                        "line": list(spans["terse/-/fake#1"]),
                    },
                    {
                        "attempt": "terse/-/fake#2",
                        "outcome": "error",
                        "duration": 0.25,
                        "line": list(spans["terse/-/fake#2"]),
                        "reason": "no sandbox",
                    },
                ],
            }
        ],
        "journal_bytes": run.journal.stat().st_size,
    }


def test_an_entry_leads_to_its_line(store: RunStore) -> None:
    run = record(store, attempt(1), attempt(2))
    (one,) = compile_record(run).evals
    assert [run.attempt_at(*entry.line) for entry in one.attempts] == [attempt(1), attempt(2)]


def test_an_entry_takes_about_100_bytes(store: RunStore) -> None:
    count = 1000
    run = record(store, *(attempt(number) for number in range(1, count + 1)), planned=plan(planned_eval(runs=count)))
    write_record(run)
    assert (run.path / "record.json").stat().st_size < 105 * count


def test_attempts_come_in_the_order_of_the_plan_not_of_their_ends(store: RunStore) -> None:
    planned = plan(planned_eval(runs=2, harnesses=("b", "a"), cases=("y", "x")))
    ended = [attempt(run, harness=name, case=case) for name in "ab" for case in "xy" for run in (2, 1)]
    (one,) = compile_record(record(store, *ended, planned=planned)).evals
    assert [entry.attempt for entry in one.attempts] == [
        f"{name}/-/fake[{case}]#{run}" for run in (1, 2) for case in "yx" for name in "ba"
    ]


@pytest.mark.parametrize(
    ("outcomes", "state", "code"),
    [
        ([Outcome.PASS, Outcome.PASS], RunState.COMPLETED, ExitCode.OK),
        ([Outcome.PASS, Outcome.FAIL], RunState.COMPLETED, ExitCode.GATE),
        ([Outcome.PASS, Outcome.REVIEW], RunState.COMPLETED, ExitCode.GATE),
        ([Outcome.PASS, Outcome.ERROR], RunState.COMPLETED, ExitCode.UNDECIDED),
        ([Outcome.PASS], RunState.INTERRUPTED, ExitCode.INTERRUPTED),
        ([Outcome.PASS], RunState.FAILED, ExitCode.UNDECIDED),
        ([Outcome.PASS], None, ExitCode.INTERRUPTED),
    ],
)
def test_the_exit_code_comes_from_the_attempts(
    store: RunStore, outcomes: list[Outcome], state: RunState | None, code: ExitCode
) -> None:
    run = record(store, *(attempt(number, outcome=one) for number, one in enumerate(outcomes, 1)), state=state)
    found = compile_record(run)
    assert found.exit_code == code
    assert found.state == (state or RunState.INTERRUPTED)


def test_a_run_that_is_alive_is_running(store: RunStore) -> None:
    with store.create(Masker()) as writer:
        writer.start(start("x"))
        writer.attempt(attempt(1))
        found = load_record(RunDirectory(writer.directory))
    assert (found.state, found.totals.passed, found.ended_at) == (RunState.RUNNING, 1, None)


def test_resuming_twice_counts_every_attempt_once(store: RunStore) -> None:
    run = record(store, attempt(1, outcome=Outcome.FAIL), state=RunState.INTERRUPTED)
    for outcome in (Outcome.ERROR, Outcome.PASS):
        with store.resume(run, Masker()) as writer:
            writer.attempt(attempt(1))
            writer.attempt(attempt(2, outcome=outcome))
            writer.end(RunEnd(state=RunState.COMPLETED, ended_at=9))
    totals = write_record(run).totals
    assert (totals.passed, totals.finished, totals.planned) == (2, 2, 2)


def test_what_is_superseded_or_no_longer_planned_does_not_count_and_is_said(store: RunStore) -> None:
    with store.create(Masker()) as writer:
        writer.start(start("x", plan(planned_eval(harnesses=("terse", "gone")), planned_eval("other"))))
        writer.attempt(attempt(1))
        writer.attempt(attempt(1, harness="gone"))
        writer.attempt(attempt(1, eval=OTHER))
        writer.supersede(OTHER, "its task changed")
        writer.start(start("x", plan(planned_eval(), planned_eval("other"))))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=9, notes=["a note"]))
    found = compile_record(RunDirectory(writer.directory))
    assert found.totals.finished == 1
    assert [len(one.attempts) for one in found.evals] == [1, 0]
    assert found.notes == [
        "a note",
        f"{OTHER} ran again: its task changed",
        "attempts that the plan no longer has, left out: 1",
    ]


def test_a_torn_line_is_said_in_the_record(store: RunStore) -> None:
    run = record(store, attempt(1), state=None)
    with run.journal.open("ab") as file:
        file.write(b'{"type":"attempt","ev')
    (note,) = compile_record(run).notes
    assert note.startswith("journal, byte ")
    assert note.endswith("the last line is torn and does not count")


def test_evals_that_do_not_run_are_in_the_record(store: RunStore) -> None:
    planned = plan(
        planned_eval(), planned_eval("later", mode="todo"), planned_eval("off", mode="skip", skip_reason="flaky")
    )
    found = compile_record(record(store, attempt(1), planned=planned))
    assert [(one.name, one.mode, one.skip_reason, one.attempts != []) for one in found.evals] == [
        ("greets by name", "run", None, True),
        ("later", "todo", None, False),
        ("off", "skip", "flaky", False),
    ]
    assert found.totals.planned == 2
    assert found.evals[1].cells[0].planned == 0


def test_remarks_see_what_is_in_files(store: RunStore) -> None:
    failed = turn(status="failed", error="gave up")
    checks = [check(f"c{number}") for number in range(99)]
    run = record(store, attempt(1, turns=[big_turn(), failed], checks=checks))
    (remark,) = compile_record(run).remarks
    assert "although a turn of the agent failed" in remark
    (run.path / "greet.greets-by-name/terse/-/fake/1/turns.ndjson").unlink()
    assert compile_record(run).remarks == []


def test_a_long_reason_is_cut_in_the_entry_only(store: RunStore) -> None:
    reason = "because " * 100
    run = record(store, attempt(1, outcome=Outcome.SKIPPED, skip_reason=reason))
    (entry,) = compile_record(run).evals[0].attempts
    assert entry.reason is not None
    assert len(entry.reason) == 200
    assert run.attempt_at(*entry.line).skip_reason == reason


@pytest.mark.parametrize(
    ("selection", "text"),
    [
        (Selection(), ""),
        (Selection(paths=("evals/a.eval.py::one two",)), "'evals/a.eval.py::one two'"),
        (
            Selection(keyword="a and b", tags=("x", "y"), kind="scored", harnesses=("h",), runs=3, profile="ci"),
            "-k 'a and b' --tag x --tag y --kind scored --harness h --runs 3",
        ),
    ],
)
def test_the_selection_reads_as_one_types_it(store: RunStore, selection: Selection, text: str) -> None:
    found = compile_record(record(store, planned=replace(plan(), selection=selection)))
    assert found.selection == text
    assert found.profile == selection.profile


# --- record.json --------------------------------------------------------------------------------------


def test_the_record_is_written_whole_and_read_back(store: RunStore) -> None:
    run = record(store, attempt(1))
    written = write_record(run)
    assert load_record(run) == written == compile_record(run)
    assert sorted(path.name for path in run.path.iterdir()) == ["events.ndjson", "record.json"]


def test_a_record_that_does_not_fit_its_journal_is_not_believed(store: RunStore) -> None:
    run = record(store, attempt(1))
    write_record(run)
    with store.resume(run, Masker()) as writer:
        writer.attempt(attempt(2, outcome=Outcome.FAIL))
    assert load_record(run).totals.failed == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run_id":"x"}', "\xff"])
def test_a_damaged_record_is_made_again(store: RunStore, text: str) -> None:
    run = record(store, attempt(1))
    (run.path / "record.json").write_bytes(text.encode("latin-1"))
    assert load_record(run).totals.passed == 1


def test_a_record_that_fits_is_read_without_the_journal(store: RunStore) -> None:
    run = record(store, attempt(1))
    write_record(run)
    path = run.path / "record.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "host": "elsewhere"}))
    assert load_record(run).host == "elsewhere"


def test_what_was_dropped_stays_said(store: RunStore) -> None:
    run = record(store, attempt(1))
    write_record(run, ["old run"])
    assert write_record(run, ["logs", "old run"]).dropped == ["old run", "logs"]
    assert load_record(run).dropped == ["old run", "logs"]


def test_a_record_that_cannot_be_written_leaves_the_old_one(store: RunStore) -> None:
    run = record(store, attempt(1))
    (run.path / "record.json").mkdir()
    with pytest.raises(RecordError, match=r"record\.json: cannot be written: is a directory"):
        write_record(run)
    assert sorted(path.name for path in run.path.iterdir()) == ["events.ndjson", "record.json"]

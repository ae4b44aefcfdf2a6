"""Answers to data questions in the journal, the record and the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reeval.record.compile import load_record, write_record
from reeval.record.history import index_run, query
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.data.questions import DataQuestion, PlannedDatabase
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import Plan
from reeval.schema.record import AttemptFailure, FileRef, Outcome, RunEnd, RunState
from reeval.schema.recorded.data import DataRecord, Reason, ResultSample
from reeval.secrets import Masker
from tests.record.samples import attempt, plan, planned_eval, record, start, turn

Rows = Callable[[str], list[tuple[Any, ...]]]


def asked(*names: str, runs: int = 1, gate: ResolvedGate | None = None) -> Plan:
    evals = [
        planned_eval(
            name,
            id=f"auto/{name}",
            path=(name,),
            slug=name,
            runs=runs,
            gate=gate or ResolvedGate(rule="none"),
            data=DataQuestion(name=name, question=f"What is {name}?", sql="SELECT 1"),
        )
        for name in names
    ]
    database = PlannedDatabase(kind="duckdb", url="duckdb:shop", target="staging")
    return replace(plan(*evals), database=database)


def answered(name: str, outcome: Outcome = Outcome.PASS, run: int = 1, **fields: Any) -> Any:
    found = DataRecord(
        **{
            "space": "auto",
            "question": name,
            "truth_sql": "SELECT 1",
            "agent_sql": "SELECT 2",
            "truth": ResultSample(columns=("a",), rows=((1,),), row_count=1, column_count=1),
            **fields,
        }
    )
    failure = AttemptFailure(reason=f"{found.reason}: {found.analysis}") if found.reason else None
    return attempt(
        run,
        outcome=outcome,
        eval=f"auto/{name}",
        data=[found],
        failure=failure,
        checks=[],
        turns=[turn(message="One.")],
    )


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


@pytest.fixture
def rows(store: RunStore) -> Rows:
    def ask(sql: str) -> list[tuple[Any, ...]]:
        with query(store, sql, print) as answer:
            return list(answer.rows)

    return ask


def test_an_answer_has_its_row(store: RunStore, rows: Rows) -> None:
    why = {"reason": Reason.ROW_COUNT, "analysis": "two, not one", "warnings": ("a", "b")}
    agent = ResultSample(columns=("a", "b"), rows=((1, 2), (3, 4)), row_count=2, column_count=2)
    run = record(store, answered("n", Outcome.FAIL, agent=agent, **why), planned=asked("n"))
    assert rows(
        "SELECT run_id, eval, attempt_id, cell, harness, role, run, space, question, asks, outcome, reason, analysis, "
        "warnings, truth_sql, agent_sql, truth_rows, agent_rows, truth_columns, agent_columns, response "
        "FROM data_results"
    ) == [
        (
            *(run.id, "auto/n", "terse/-/fake#1", "terse/-/fake", "terse", None, 1, "auto", "n", "What is n?", "fail"),
            *("Row count mismatch", "two, not one", ["a", "b"], "SELECT 1", "SELECT 2", 1, 2, 1, 2, "One."),
        )
    ]
    assert rows("SELECT target FROM runs") == [("staging",)]
    assert rows("SELECT asks FROM evals") == [("What is n?",)]


def test_accuracy_is_a_view_over_all_questions(store: RunStore, rows: Rows) -> None:
    broken = {"reason": Reason.AGENT_ERROR, "analysis": "x"}
    record(
        store,
        answered("a"),
        answered("b", Outcome.ERROR, **broken),
        attempt(1),
        planned=plan(*asked("a", "b", "c").evals, planned_eval(runs=1)),
    )
    assert rows("SELECT cell, passed, total, round(accuracy, 2) FROM accuracy") == [("terse/-/fake", 1, 3, 0.33)]


def test_the_record_has_the_accuracy_and_the_question(store: RunStore) -> None:
    run = record(store, answered("a"), answered("b", Outcome.FAIL, reason=Reason.VALUE), planned=asked("a", "b"))
    written = write_record(run)
    assert written == load_record(run)
    assert [(one.passed, one.total, one.gate.rule) for one in written.accuracy] == [(1, 2, "none")]
    assert (written.target, written.evals[0].asks) == ("staging", "What is a?")
    assert written.remarks == []


def test_a_run_that_was_killed_counts_what_did_not_run(store: RunStore) -> None:
    gate = ResolvedGate(rule="accuracy", minimum=0.9)
    run = record(store, answered("a"), planned=asked("a", "b", gate=gate), state=None)
    found = load_record(run)
    assert [(one.passed, one.total, one.gate.undecided) for one in found.accuracy] == [(1, 2, True)]


def test_a_large_answer_is_a_file_that_is_read_back(store: RunStore, rows: Rows) -> None:
    big = answered("n", truth_sql="SELECT " + "1, " * 5000)
    run = record(store, big, planned=asked("n"))
    (stored,) = run.attempts()
    assert isinstance(stored.data, FileRef)
    assert stored.data.file.endswith("data.json")
    assert run.data(stored) == big.data
    assert run.whole(stored).data == big.data
    assert rows("SELECT truth_sql LIKE '%characters cut%' FROM data_results") == [(True,)]


def test_a_damaged_answer_keeps_nothing_else_out_of_the_history(store: RunStore, rows: Rows) -> None:
    run = record(store, answered("n", truth_sql="x" * 9000), planned=asked("n"))
    (stored,) = run.attempts()
    assert isinstance(stored.data, FileRef)
    (run.path / stored.data.file).write_text("[]")
    index_run(store, run, print)
    assert rows("SELECT count(*) FROM data_results") == [(0,)]
    assert rows("SELECT count(*) FROM attempts") == [(1,)]


def test_no_secret_is_in_an_answer_not_even_as_a_number(store: RunStore) -> None:
    secret = "73194862"
    sample = ResultSample(columns=(f"c{secret}",), rows=((int(secret), f"a{secret}b", None),), row_count=1)
    bad = answered(
        "n",
        Outcome.FAIL,
        truth_sql=f"SELECT '{secret}'",
        agent_sql=f"SELECT {secret}",
        reason=Reason.QUERY_ERROR,
        analysis=f"no {secret}",
        warnings=(secret,),
        truth=sample,
        agent=sample,
        differing=(((int(secret),), (f"{secret}",)),),
    )
    with store.create(Masker([secret])) as writer:
        writer.start(start(writer.directory.name, asked("n")))
        writer.attempt(bad)
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=1))
        run = RunDirectory(writer.directory)
    assert secret not in run.journal.read_text()
    (stored,) = run.attempts()
    assert run.data(stored)[0].reason is Reason.QUERY_ERROR

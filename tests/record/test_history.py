"""The history: what it holds, how it is brought up to date, and what a query can reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reeval.errors import Phase, RecordError, UsageError
from reeval.record.compile import write_record
from reeval.record.history import history_path, index_run, query
from reeval.record.history_file import locked
from reeval.record.store import RunDirectory, RunStore
from reeval.record.tables import TABLES, VIEWS
from reeval.schema.record import (
    AttemptFailure,
    FileRef,
    ObservationRecord,
    Outcome,
    RunEnd,
    RunState,
    SpenderUsage,
)
from reeval.schema.recorded.answers import JudgmentRecord, JudgmentVote
from reeval.schema.transcript import Changes, FileChange, ToolCall
from reeval.secrets import Masker
from reeval.usage import Usage
from tests.record.samples import EVAL, attempt, big_turn, check, plan, planned_eval, record, start, turn

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


class Asked:
    """Asks and remembers what was said."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self.said: list[str] = []

    def __call__(self, sql: str, run: RunDirectory | None = None) -> list[tuple[Any, ...]]:
        self.said.clear()
        with query(self.store, sql, self.said.append, run=run) as answer:
            return list(answer.rows)


@pytest.fixture
def ask(store: RunStore) -> Asked:
    return Asked(store)


def rich_attempt() -> Any:
    calls = (
        ToolCall(
            name="shell", native="Bash", input={"command": "ls"}, output="a\x00b", ok=True, exit_code=0, duration=0.5
        ),
        ToolCall(name="edit", input=None, ok=None),
    )
    changes = Changes(files=(FileChange(path="a", status="added"), FileChange(path="b", status="added")))
    return attempt(
        1,
        outcome=Outcome.FAIL,
        case="a case",
        failure=AttemptFailure(reason="timeout"),
        turns=[
            turn(events=calls, changes=changes, usage=Usage(input=10, output=5, cost=0.5), model="m"),
            turn("again", status="failed", error="gave up"),
        ],
        checks=[check(), check("other", holds=False, message="expected x\ngot y"), check("m", measurement=0.5)],
        observations=[ObservationRecord(name="n", value=3), ObservationRecord(name="o", value={"a": [True]})],
        usage=[
            SpenderUsage(spender="agent", usage=Usage(input=10, output=5, cost=0.5), model="m"),
            SpenderUsage(spender="judge", usage=Usage(input=1)),
        ],
        model="m",
    )


def judged_attempt() -> Any:
    votes = [JudgmentVote(score=score, reason="r") for score in (0.2, 0.5, 0.9)]
    kept = FileRef(file="a/judges/1.json", bytes=1, sha256="0")
    return attempt(
        1,
        judgments=[
            JudgmentRecord(
                label="kind",
                question="Be kind.\0",
                judge="kind",
                model="p/m",
                served="m-1",
                score=0.5,
                reason="x" * 5000,
                votes=votes,
                spread=0.7,
                usage=Usage(input=10, output=5, cost=0.25),
                duration=1.5,
                input=kept,
            ),
            JudgmentRecord(label="Short?", question="Short?", error="no judge model"),
            JudgmentRecord(label="One?", question="One?", model="p/m", score=1.0, reason="Yes."),
        ],
    )


# --- what it holds ------------------------------------------------------------------------------------


def test_judgments_have_a_row_each_also_from_a_file(store: RunStore, ask: Asked) -> None:
    record(store, judged_attempt())
    sql = "SELECT n, label, judge, question, model, served, score, votes, spread, error, duration, input, tokens, cost"
    assert ask(f"{sql} FROM judgments ORDER BY n") == [
        (1, "kind", "kind", "Be kind.\\0", "p/m", "m-1", 0.5, 3, 0.7, None, 1.5, "a/judges/1.json", 15, 0.25),
        (2, "Short?", None, "Short?", None, None, None, None, None, "no judge model", None, None, None, None),
        (3, "One?", None, "One?", "p/m", None, 1.0, 1, None, None, None, None, None, None),
    ]
    assert ask("SELECT length(reason) < 1100, reason LIKE '%characters cut%' FROM judgments WHERE n = 1") == [
        (True, True)
    ]
    assert ask("SELECT count(*) FROM judgments JOIN attempts USING (run_id, eval, attempt_id)") == [(3,)]


def test_every_table_has_the_rows_of_a_run(store: RunStore, ask: Asked) -> None:
    run = record(store, rich_attempt(), planned=plan(planned_eval(runs=1, cases=("a case",), tags=("t",))))
    key = f"'{run.id}', '{EVAL}', 'terse/-/fake[a case]#1'"
    wanted = {
        "runs": "SELECT kind, exit_code, created_at::VARCHAR, planned, failed FROM runs",
        "evals": "SELECT name, path, tags, runs, cases FROM evals",
        "cells": "SELECT cell, planned, failed, pass_rate, gate, value, holds, undecided FROM cells",
        "attempts": 'SELECT cell, "case", outcome, reason, phase, turns, tool_calls, files_changed, tokens, cost '
        "FROM attempts",
        "checks": "SELECT n, label, status, holds, measurement, message FROM checks ORDER BY n",
        "turns": "SELECT turn, prompt, status, error, tool_calls, files_changed, tokens, cost FROM turns ORDER BY turn",
        "tool_calls": "SELECT turn, n, name, native, input, output, ok, exit_code FROM tool_calls ORDER BY n",
        "observations": "SELECT n, name, value, number FROM observations ORDER BY n",
        "usage": 'SELECT n, spender, model, input, output, cost FROM "usage" ORDER BY n',
        "keys": "SELECT count(*) FROM attempts JOIN checks USING (run_id, eval, attempt_id) "
        f"WHERE (run_id, eval, attempt_id) = ({key})",
    }
    assert {name: ask(sql) for name, sql in wanted.items()} == {
        "runs": [("pass-fail", 1, "2026-09-21 14:13:20", 1, 1)],
        "evals": [("greets by name", ["greets by name"], ["t"], 1, 1)],
        "cells": [("terse/-/fake", 1, 1, 0.0, "all", 0.0, False, False)],
        "attempts": [("terse/-/fake", "a case", "fail", "timeout", None, 2, 2, 2, 15, 0.5)],
        "checks": [
            (1, "includes 'Hello'", "matched", True, None, ""),
            (2, "other", "mismatched", False, None, "expected x\ngot y"),
            (3, "m", "matched", True, 0.5, ""),
        ],
        "turns": [
            (1, "Say hello", "completed", None, 2, 2, 15, 0.5),
            (2, "again", "failed", "gave up", 0, 0, None, None),
        ],
        "tool_calls": [
            (1, 1, "shell", "Bash", '{"command":"ls"}', "a\\0b", True, 0),
            (1, 2, "edit", None, None, "", None, None),
        ],
        "observations": [(1, "n", "3", 3.0), (2, "o", '{"a":[true]}', None)],
        "usage": [(1, "agent", "m", 10, 5, 0.5), (2, "judge", None, 1, None, None)],
        "keys": [(3,)],
    }


def test_every_documented_column_is_there_and_no_other(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    for one in (*TABLES, *VIEWS):
        columns = [(name, type_) for name, type_, *_ in ask(f'DESCRIBE "{one.name}"')]
        assert columns == [(column.name, column.type) for column in one.columns], one.name


def test_keys_are_unique_as_documented(store: RunStore, ask: Asked) -> None:
    record(store, rich_attempt(), attempt(2), attempt(2), planned=plan(planned_eval(cases=("a case",))))
    for table in TABLES:
        key = ", ".join(f'"{name}"' for name in table.key)
        assert ask(f'SELECT {key} FROM "{table.name}" GROUP BY ALL HAVING count(*) > 1') == [], table.name


def test_parts_in_files_are_indexed_too(store: RunStore, ask: Asked) -> None:
    checks = [check(f"check {number}") for number in range(100)]
    record(store, attempt(1, turns=[big_turn(), big_turn()], checks=checks))
    assert ask("SELECT turns, tool_calls FROM attempts") == [(2, 2)]
    assert ask("SELECT count(*) FROM checks") == [(100,)]
    ((shortest, longest),) = ask("SELECT min(length(output)), max(length(output)) FROM tool_calls")
    assert 900 < shortest <= longest < 1100


def test_a_damaged_part_leaves_the_attempt_in(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1, turns=[big_turn()]))
    (stored,) = run.attempts()
    assert isinstance(stored.turns, FileRef)
    (run.path / stored.turns.file).unlink()
    assert ask("SELECT outcome, turns FROM attempts") == [("pass", None)]


def test_check_rates_say_how_often_a_check_held_where_it_was_reached(store: RunStore, ask: Asked) -> None:
    measured = check("close", match="similarity", gate=False, holds=None)
    measured = type(measured)(label="close", match="similarity", status="measured", measurement=0.5)
    record(
        store,
        attempt(1, checks=[check("a"), measured]),
        attempt(2, checks=[check("a", holds=False), check("b")]),
        attempt(3, checks=[check("a")]),
        planned=plan(planned_eval(runs=3)),
    )
    rows = ask("SELECT label, attempts, evaluated, held, round(rate, 2), measurement FROM check_rates ORDER BY label")
    assert rows == [("a", 3, 3, 2, 0.67, None), ("b", 3, 1, 1, 1.0, None), ("close", 3, 1, 0, None, 0.5)]


def test_latest_is_the_newest_run_of_each_eval(store: RunStore, ask: Asked) -> None:
    both = plan(planned_eval(), planned_eval("other"))
    record(store, attempt(1), planned=both, created_at=1)
    new = record(store, attempt(1), created_at=3)
    old = record(store, planned=both, created_at=2)
    rows = ask("SELECT run_id, eval[-5:] FROM latest ORDER BY eval")
    assert rows == [(new.id, " name"), (old.id, "other")]


# --- up to date ---------------------------------------------------------------------------------------


def test_runs_that_are_not_indexed_yet_are_brought_in_first(store: RunStore, ask: Asked) -> None:
    for number in range(3):
        assert ask("SELECT count(*) FROM runs") == [(number,)]
        record(store, attempt(1))
    assert ask("SELECT count(*) FROM runs") == [(3,)]
    assert ask.said == []


def test_a_killed_run_is_indexed_as_interrupted(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1), state=None)
    with run.journal.open("ab") as file:
        file.write(b'{"type":"att')
    assert ask("SELECT state, ended_at, planned, passed FROM runs") == [("interrupted", None, 2, 1)]


def test_a_resumed_run_replaces_its_rows(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1, outcome=Outcome.FAIL), state=RunState.INTERRUPTED)
    assert ask("SELECT outcome FROM attempts") == [("fail",)]
    with store.resume(run, Masker()) as writer:
        writer.attempt(attempt(1))
        writer.attempt(attempt(2))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=5))
    assert ask("SELECT run, outcome FROM attempts ORDER BY run") == [(1, "pass"), (2, "pass")]
    assert ask("SELECT state FROM runs") == [("completed",)]


def test_a_removed_run_leaves_the_history(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1))
    other = record(store, attempt(1))
    assert ask("SELECT count(*) FROM checks") == [(2,)]
    shutil.rmtree(run.path)
    for table in TABLES:
        assert ask(f'SELECT DISTINCT run_id FROM "{table.name}"') in ([(other.id,)], [])


def test_a_run_that_is_still_running_is_left_out_and_said(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    with store.create(Masker()) as writer:
        writer.start(start(writer.directory.name))
        writer.attempt(attempt(1))
        assert ask("SELECT count(*) FROM runs") == [(1,)]
        assert f"{writer.directory.name} is still running: what it finished is not in this answer" in ask.said
    assert ask("SELECT count(*) FROM runs") == [(2,)]


def test_a_run_that_cannot_be_read_is_left_out_and_said_each_time(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    bad = record(store)
    bad.journal.write_bytes(b"nonsense\n")
    for _ in range(2):
        assert ask("SELECT count(*) FROM runs") == [(1,)]
        assert [text for text in ask.said if text.startswith(f"left out of the history: {bad.id}: ")]


def test_a_run_with_rows_before_its_damage_leaves_none(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1), attempt(2))
    write_record(run)
    data = run.journal.read_bytes()
    second = data.splitlines(keepends=True)[2]
    run.journal.write_bytes(data.replace(second, second.replace(b'"run":2', b'"run":!')))
    assert ask("SELECT run FROM attempts") == [(1,)]


def test_the_end_of_a_run_indexes_it(store: RunStore, ask: Asked) -> None:
    said: list[str] = []
    run = record(store, attempt(1))
    assert index_run(store, run, said.append)
    assert said == []
    with duckdb.connect(str(history_path(store)), read_only=True) as connection:
        assert connection.execute("SELECT run_id, outcome FROM attempts").fetchall() == [(run.id, "pass")]
    assert ask("SELECT count(*) FROM runs") == [(1,)]
    assert ask.said == []


def test_the_end_of_a_run_leaves_other_runs_to_the_next_query(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    assert index_run(store, record(store, attempt(1)), print)
    assert ask("SELECT count(*) FROM runs") == [(2,)]


def test_a_run_that_cannot_lock_the_index_leaves_itself_to_the_next_query(store: RunStore, ask: Asked) -> None:
    said: list[str] = []
    run = record(store, attempt(1))
    with locked(history_path(store), write=False, patience=0):
        assert not index_run(store, run, said.append, patience=0.1)
    assert said == []
    assert ask("SELECT count(*) FROM runs") == [(1,)]


def test_who_holds_the_history_is_named(store: RunStore) -> None:
    record(store, attempt(1))
    with (
        locked(history_path(store), write=True, patience=0),
        pytest.raises(RecordError, match=rf"pid {os.getpid()} \(.*\) holds it for more than 0.1 s; try again"),
        locked(history_path(store), write=True, patience=0.1),
    ):
        pass


def test_another_program_that_has_the_file_open_is_named(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    ask("FROM runs")
    code = f"import duckdb, sys; c = duckdb.connect({str(history_path(store))!r}); print('ok', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(RecordError, match="another program has it open; close that, then try again"):
            ask("FROM runs")
        process.communicate("\n")
    assert ask("SELECT count(*) FROM runs") == [(1,)]


def test_two_runs_that_end_at_once_are_both_indexed(store: RunStore, ask: Asked) -> None:
    code = textwrap.dedent("""
        import sys
        from pathlib import Path
        from reeval.record.history import index_run
        from reeval.record.store import RunStore
        from tests.record.samples import attempt, record
        store = RunStore(Path(sys.argv[1]))
        run = record(store, *(attempt(number) for number in range(1, 200)))
        print(index_run(store, run, print, patience=20))
    """)
    argv = [sys.executable, "-c", code, str(store.root)]
    processes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == ["True\n"] * 3
    with duckdb.connect(str(history_path(store)), read_only=True) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT run_id) FROM attempts").fetchall() == [(597, 3)]
    assert ask("SELECT count(*) FROM attempts") == [(597,)]


# --- a file that is not as it should be ---------------------------------------------------------------


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def fill_with_noise(path: Path) -> None:
    path.write_bytes(os.urandom(50_000))


def noise_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[20_000:180_000] = os.urandom(160_000)
    path.write_bytes(data)


def noise_at_the_end(path: Path) -> None:
    """Where the data blocks are: the file still opens."""
    data = bytearray(path.read_bytes())
    data[-40_000:] = os.urandom(40_000)
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def of_another_version(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE about.version SET definition = 'older'")


def of_somebody_else(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE attempts (a INTEGER)")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (noise_at_the_end, "damaged"),
        (cut_in_half, "damaged"),
        (fill_with_noise, "damaged"),
        (noise_in_the_middle, "damaged"),
        (of_another_version, "is of another version"),
        (of_somebody_else, "damaged"),
        (empty, "damaged"),
        (Path.unlink, "is not there"),
    ],
)
def test_a_history_that_cannot_be_used_is_built_again_and_said(
    store: RunStore, ask: Asked, harm: Callable[[Path], None], reason: str
) -> None:
    record(store, *(attempt(number) for number in range(1, 1000)))
    assert ask("SELECT count(*) FROM attempts") == [(999,)]
    harm(history_path(store))
    assert ask("SELECT count(DISTINCT label), count(DISTINCT attempt_id) FROM checks") == [(1, 999)]
    assert [text for text in ask.said if reason in text and "built again from 1 run" in text], ask.said
    assert ask("SELECT count(*) FROM attempts") == [(999,)]
    assert ask.said == []
    assert sorted(path.name for path in store.directory.iterdir()) == ["history.duckdb", "history.lock", "runs"]


def test_a_log_of_noise_beside_the_history_changes_no_answer(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    ask("runs")
    for count in (1, 2):
        history_path(store).with_name("history.duckdb.wal").write_bytes(os.urandom(5000))
        assert ask("SELECT count(*) FROM attempts") == [(count,)]
        record(store, attempt(1))
    assert ask("SELECT count(*) FROM attempts") == [(3,)]


def test_a_damaged_history_does_not_stop_the_end_of_a_run(store: RunStore, ask: Asked) -> None:
    run = record(store, attempt(1))
    fill_with_noise(history_path(store))
    said: list[str] = []
    assert index_run(store, run, said.append)
    assert "damaged" in said[0]
    assert ask("SELECT count(*) FROM attempts") == [(1,)]


def test_an_indexer_that_was_killed_leaves_nothing_behind(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    (store.directory / "indexing-abc").mkdir(parents=True)
    (store.directory / "indexing-abc" / "runs.ndjson").write_text("{")
    assert ask("SELECT count(*) FROM attempts") == [(1,)]
    assert not (store.directory / "indexing-abc").exists()


def test_records_that_cannot_be_written_are_answered_from_memory(store: RunStore) -> None:
    record(store, attempt(1))
    code = textwrap.dedent("""
        import os, sys
        from pathlib import Path
        from reeval.record.history import query
        from reeval.record.store import RunStore
        import reeval.record.history_file, reeval.record.compile
        store = RunStore(Path(sys.argv[1]))
        for path in [store.root, *store.root.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            path = Path(sys.argv[1])
            os.chdir(path)  # the parents of a test's directory are closed to others
            os.setuid(65534)
            store = RunStore(Path("."))
        with query(store, "SELECT outcome FROM attempts", lambda text: print(text)) as answer:
            print(list(answer.rows))
    """)
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    for path in [store.root, *store.root.rglob("*")]:
        path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    said, rows = done.stdout.splitlines()
    assert "history.lock: cannot be written: permission denied" in said
    assert said.endswith("this answer comes from memory")
    assert rows == "[('pass',)]"
    assert not history_path(store).exists()


def test_a_project_whose_path_holds_odd_characters_is_indexed(tmp_path: Path) -> None:
    root = tmp_path / 'a [b]*?\' "c" é'
    root.mkdir()
    store = RunStore(root)
    record(store, attempt(1))
    assert Asked(store)("SELECT count(*) FROM attempts") == [(1,)]


def test_a_project_without_records_answers_with_nothing_and_writes_nothing(store: RunStore, ask: Asked) -> None:
    assert ask("attempts") == []
    assert list(store.root.iterdir()) == []


# --- what a query can reach ---------------------------------------------------------------------------


def test_one_run_restricts_every_table_and_view(store: RunStore, ask: Asked) -> None:
    first = record(store, attempt(1), created_at=1)
    second = record(store, attempt(1), attempt(2), created_at=2)
    for one in (*TABLES, *VIEWS):
        assert {row[0] for row in ask(f'SELECT run_id FROM "{one.name}"', run=first)} <= {first.id}, one.name
    assert ask("SELECT run_id FROM latest", run=first) == [(first.id,)]
    assert ask("SELECT count(*) FROM attempts", run=second) == [(2,)]


def test_a_run_elsewhere_is_read_without_touching_the_history(store: RunStore, ask: Asked, tmp_path: Path) -> None:
    run = record(store, attempt(1))
    away = tmp_path / "artifact"
    run.path.rename(away)
    assert ask("SELECT run_id, outcome FROM attempts", run=store.find(str(away))) == [("artifact", "pass")]
    assert not history_path(store).exists()


@pytest.mark.parametrize(
    "text", ["attempts", " attempts ; ", "ATTEMPTS", "-- all of them\nSELECT * FROM attempts -- x"]
)
def test_a_bare_name_or_a_comment_in_front_is_fine(store: RunStore, ask: Asked, text: str) -> None:
    record(store, attempt(1))
    assert len(ask(text)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("atempts", "there is no table 'atempts'; did you mean attempts?"),
        ("SELECT * FROM check", "query is no SQL"),
        ("SELECT * FROM chekcs", "there is no table 'chekcs'; did you mean checks?"),
        ("nothing_like_it", "there is no table 'nothing_like_it'. These are"),
        ("SELECT outcom FROM attempts", 'Referenced column "outcom" not found'),
        ("SELECT 1; SELECT 2", "not SELECT and SELECT"),
        ("", "not nothing"),
        ("-- only a comment", "not nothing"),
        ("SELEC 1", "query is no SQL"),
        ("DELETE FROM attempts", "not DELETE"),
        ("DROP TABLE attempts", "not DROP"),
        ("COPY attempts TO 'x.csv'", "not COPY"),
        ("ATTACH 'x.duckdb'", "not ATTACH"),
        ("INSTALL httpfs", "not LOAD"),
        ("SET threads = 1", "not SET"),
        ("PRAGMA version", "not PRAGMA"),
        ("CREATE TABLE x AS SELECT 1", "not CREATE"),
        ("SELECT * FROM read_text('/etc/passwd')", "file system operations are disabled"),
        ("SELECT * FROM read_csv('http://localhost/x')", "disabled"),
        ("SELECT * FROM glob('/*')", "file system operations are disabled"),
        ("FROM store", "there is no table 'store'"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'", "disabled"),
    ],
)
def test_what_is_no_reading_of_the_history_is_refused(store: RunStore, ask: Asked, text: str, message: str) -> None:
    record(store, attempt(1))
    with pytest.raises(UsageError) as caught:
        ask(text)
    assert message in str(caught.value)


def test_an_unknown_table_lists_the_tables_with_their_columns(store: RunStore, ask: Asked) -> None:
    with pytest.raises(UsageError) as caught:
        ask("nope")
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [one.name for one in (*TABLES, *VIEWS)]
    assert "outcome" in str(caught.value)


def test_an_error_while_rows_are_made_is_a_usage_error(store: RunStore, ask: Asked) -> None:
    record(store, attempt(1))
    with pytest.raises(UsageError, match="Conversion Error"):
        ask("SELECT outcome::INTEGER FROM attempts")


def test_parquet_is_the_only_file_that_can_be_written(store: RunStore, tmp_path: Path) -> None:
    record(store, attempt(1), attempt(2))
    target = tmp_path / "it's.parquet"
    quoted = str(target).replace("'", "''")
    with query(store, "SELECT eval, outcome FROM attempts -- all;", print, parquet=target) as answer:
        assert list(answer.rows) == [(2,)]
    assert duckdb.read_parquet(str(target)).fetchall() == [(EVAL, "pass")] * 2
    with pytest.raises(UsageError, match="disabled"), query(store, f"FROM read_parquet('{quoted}')", print):
        pass
    with (
        pytest.raises(UsageError, match="disabled"),
        query(store, "FROM read_text('/etc/passwd')", print, parquet=tmp_path / "x.parquet"),
    ):
        pass


def test_errors_carry_their_phase(store: RunStore, ask: Asked) -> None:
    failure = AttemptFailure(reason="no such image", phase=Phase.SANDBOX)
    record(store, attempt(1, outcome=Outcome.ERROR, failure=failure))
    assert ask("SELECT outcome, phase, reason FROM attempts") == [("error", "sandbox", "no such image")]

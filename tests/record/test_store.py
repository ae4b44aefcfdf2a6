"""Finding runs, and reading what may be torn, changed or hostile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from reeval.errors import RecordError
from reeval.record.format.journal import whole_size
from reeval.record.store import RunDirectory, RunStore, new_run_id
from reeval.schema.record import FileRef, Outcome, RunEnd, RunState
from reeval.secrets import Masker
from tests.record.samples import EVAL, attempt, plan, planned_eval, record, start

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def named(store: RunStore, run_id: str) -> RunDirectory:
    run = record(store, attempt(1))
    run.path.rename(store.runs / run_id)
    return RunDirectory(store.runs / run_id)


# --- finding ------------------------------------------------------------------------------------------


def test_ids_sort_by_time() -> None:
    first = datetime(2026, 11, 30, 14, 25, 1, tzinfo=UTC)
    ids = [new_run_id(first + timedelta(milliseconds=number)) for number in range(2500)]
    assert ids == sorted(ids)
    assert ids[1].startswith("20261130-142501-")
    assert {len(run_id) for run_id in ids} == {20}


def test_two_runs_of_one_second_have_two_ids() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert len({new_run_id(now) for _ in range(100)}) > 90


def test_runs_are_listed_newest_first_and_other_directories_are_none(store: RunStore) -> None:
    assert store.list() == []
    for run_id in ("20260101-000000-aaaa", "20260301-000000-aaaa", "20260201-000000-aaaa"):
        named(store, run_id)
    (store.runs / "notes").mkdir()
    (store.runs / "file").write_text("")
    assert [run.id[:8] for run in store.list()] == ["20260301", "20260201", "20260101"]


def test_a_run_is_found_by_last_id_beginning_and_directory(store: RunStore, tmp_path: Path) -> None:
    old, new = named(store, "20260101-000000-aaaa"), named(store, "20260201-000000-bbbb")
    assert store.find("last") == new
    assert store.find(old.id) == old
    assert store.find("202601") == old
    elsewhere = tmp_path / "artifact"
    old.path.rename(elsewhere)
    assert store.find(str(elsewhere)).path == elsewhere
    assert store.find("artifact").path == elsewhere


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("2026", "is the beginning of 2 runs: 20260201-000000-bbbb, 20260101-000000-aaaa; write more of it"),
        ("20260101-000000-aaab", "there is no run '20260101-000000-aaab'; nearest: 20260101-000000-aaaa"),
        ("zzz", "there is no run 'zzz'; the newest: 20260201-000000-bbbb"),
        ("", "there is no run ''"),
    ],
)
def test_a_run_that_is_not_found_is_answered_with_near_ones(store: RunStore, ref: str, text: str) -> None:
    named(store, "20260101-000000-aaaa")
    named(store, "20260201-000000-bbbb")
    with pytest.raises(RecordError) as caught:
        store.find(ref)
    assert text in str(caught.value)


def test_without_runs_the_message_says_what_makes_one(store: RunStore) -> None:
    with pytest.raises(RecordError, match="`reeval run` makes one"):
        store.find("last")
    with pytest.raises(RecordError, match="nothing is recorded here yet"):
        store.find("abc")


# --- reading ------------------------------------------------------------------------------------------


def test_the_last_line_of_an_attempt_counts(store: RunStore) -> None:
    run = record(store, attempt(1, outcome=Outcome.ERROR), attempt(2), attempt(1))
    assert [(one.attempt, one.outcome) for one in run.attempts()] == [
        ("terse/-/fake#2", Outcome.PASS),
        ("terse/-/fake#1", Outcome.PASS),
    ]
    assert run.index().keys() == {f"{EVAL}@terse/-/fake#1", f"{EVAL}@terse/-/fake#2"}


def test_superseded_attempts_do_not_count(store: RunStore) -> None:
    with store.create(Masker()) as writer:
        writer.start(start("x", plan(planned_eval(), planned_eval("other"))))
        writer.attempt(attempt(1))
        writer.attempt(attempt(2))
        writer.attempt(attempt(1, eval="evals/greet.eval.py::other"))
        writer.supersede(EVAL, "its task changed")
        writer.attempt(attempt(2, outcome=Outcome.FAIL))
    run = RunDirectory(writer.directory)
    assert [(one.eval[-5:], one.run) for one in run.attempts()] == [("other", 1), (" name", 2)]
    assert [one.reason for one in run.index().superseded] == ["its task changed"]


def test_an_attempt_is_read_from_its_place(store: RunStore) -> None:
    run = record(store, attempt(1), attempt(2))
    span = run.index().attempts[EVAL]["terse/-/fake#2"]
    assert run.attempt_at(*span) == attempt(2)


@pytest.mark.parametrize("place", [(0, 10), (5, 200), (10**9, 10), (-1, 5), (0, 10**12)])
def test_a_wrong_place_is_an_error_that_names_the_run(store: RunStore, place: tuple[int, int]) -> None:
    run = record(store, attempt(1))
    with pytest.raises(RecordError, match=run.id):
        run.attempt_at(*place)


def test_start_and_plan_come_back(store: RunStore) -> None:
    planned = plan(planned_eval(runs=3))
    run = record(store, planned=planned)
    assert run.plan() == planned
    assert run.start().command == ["reeval", "run"]


def test_a_resume_with_a_changed_project_brings_its_plan(store: RunStore) -> None:
    run = record(store, attempt(1), state=RunState.INTERRUPTED)
    assert run.index().end is not None
    with store.resume(run, Masker()) as writer:
        writer.start(start(run.id, plan(planned_eval(runs=9)), created_at=5))
        index = run.index()
        assert index.end is None
        assert run.plan(index).evals[0].runs == 9
        assert run.start(index).created_at == 1_790_000_000_000


def test_an_end_that_is_followed_by_an_attempt_is_no_end(store: RunStore) -> None:
    run = record(store, attempt(1), state=RunState.INTERRUPTED)
    with store.resume(run, Masker()) as writer:
        writer.attempt(attempt(2))
    assert run.index().end is None


@pytest.mark.parametrize("torn", [b'{"type":"attempt","eval":"e', b"\x00" * 5000, b"\xff\xfe", b"{"])
def test_a_torn_last_line_is_passed_over_and_cut_on_resume(store: RunStore, torn: bytes) -> None:
    run = record(store, attempt(1), state=None)
    whole = run.journal.stat().st_size
    with run.journal.open("ab") as file:
        file.write(torn)
    index = run.index()
    assert index.problems == [f"byte {whole}: the last line is torn and does not count"]
    assert index.size == whole_size(run.journal) == whole
    assert len(list(run.attempts(index))) == 1
    with store.resume(run, Masker()) as writer:
        assert run.journal.stat().st_size == whole
        writer.attempt(attempt(2))
    assert len(list(run.attempts())) == 2


def test_a_garbage_line_in_the_middle_costs_only_itself(store: RunStore) -> None:
    run = record(store, attempt(1), state=None)
    with run.journal.open("ab") as file:
        file.write(b"\x00\x00\x00\n[1]\n{}\n" + b"[" * 100_000 + b'\n{"type":"newer","x":1}\n')
    with store.resume(run, Masker()) as writer:
        writer.attempt(attempt(2))
    index = run.index()
    assert len(index.problems) == 5
    assert len(list(run.attempts(index))) == 2


def test_a_run_without_a_head_says_so(store: RunStore) -> None:
    run = record(store, attempt(1))
    run.journal.write_bytes(b"")
    with pytest.raises(RecordError, match="does not begin with the run's head"):
        run.start()
    with pytest.raises(RecordError, match="does not begin with the run's head"):
        store.resume(run, Masker())


def test_a_record_of_a_newer_reeval_is_refused(store: RunStore) -> None:
    run = record(store, schema_version=99)
    with pytest.raises(RecordError, match=r"schema version 99.*read it with a newer reeval"):
        run.index()


def test_a_long_journal_without_an_end_of_line_is_one_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"x" * 300_000)
    assert whole_size(path) == 0
    path.write_bytes(b"a\n" + b"x" * 300_000)
    assert whole_size(path) == 2


# --- files that a record points to --------------------------------------------------------------------


@pytest.mark.parametrize("file", ["../secret", "/etc/passwd", "link", "link/passwd", "", ".", "a\x00b", "x/../../s"])
def test_a_file_outside_of_the_run_is_not_read(store: RunStore, tmp_path: Path, file: str) -> None:
    run = record(store, attempt(1))
    (run.path / "link").symlink_to("/etc")
    (run.path.parent / "secret").write_text("s")
    with pytest.raises(RecordError, match="outside of the run"):
        run.part(FileRef(file=file, bytes=1, sha256="0"))


def test_a_file_that_was_changed_or_removed_says_so(store: RunStore) -> None:
    run = record(store, attempt(1, log="l" * 5000))
    (stored,) = run.attempts()
    assert isinstance(stored.log, FileRef)
    path = run.path / stored.log.file
    path.write_text("m" * 5000)
    with pytest.raises(RecordError, match="is not what was recorded"):
        run.log(stored)
    path.unlink()
    with pytest.raises(RecordError, match="is not there any more"):
        run.log(stored)
    path.mkdir()
    with pytest.raises(RecordError, match="cannot be read"):
        run.log(stored)


def test_a_part_that_is_no_record_says_so(store: RunStore) -> None:
    from hashlib import sha256

    run = record(store, attempt(1))
    (run.path / "turns.ndjson").write_bytes(b"[]")
    ref = FileRef(file="turns.ndjson", bytes=2, sha256=sha256(b"[]").hexdigest())
    with pytest.raises(RecordError, match="the record is damaged"):
        run.turns(msgspec.structs.replace(attempt(1), turns=ref))


# --- kill -9 ------------------------------------------------------------------------------------------

VICTIM = """
import sys
from pathlib import Path
from reeval.record.store import RunStore
from reeval.secrets import Masker
from tests.record.samples import attempt, plan, planned_eval, start

with RunStore(Path(sys.argv[1])).create(Masker()) as writer:
    writer.start(start(writer.directory.name, plan(planned_eval(runs=100_000))))
    for number in range(1, 100_000):
        writer.attempt(attempt(number, log="l" * 5000 if number % 7 == 0 else ""))
        print(number, flush=True)
"""


def killed(store: RunStore, after: int) -> int:
    """Kill a process that writes attempts, after it reported so many; return the last one it reported."""
    code = textwrap.dedent(VICTIM)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.root)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        reported = 0
        for line in process.stdout:
            reported = int(line)
            if reported == after:
                os.kill(process.pid, signal.SIGKILL)
        return reported


@pytest.mark.parametrize("after", [1, 13, 200])
def test_kill_9_loses_no_attempt_that_was_reported_and_doubles_none(store: RunStore, after: int) -> None:
    reported = killed(store, after)
    run = store.find("last")
    assert not run.is_alive()
    found = [one.run for one in run.attempts()]
    assert found == list(range(1, len(found) + 1))
    assert len(found) >= reported >= after
    assert all(run.log(one) == "l" * 5000 for one in run.attempts() if one.run % 7 == 0)

    done = run.index().keys()
    with store.resume(run, Masker()) as writer:
        for number in range(1, len(found) + 11):
            if f"{EVAL}@terse/-/fake#{number}" not in done:
                writer.attempt(attempt(number, log="l" * 5000))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=1))
    assert [one.run for one in run.attempts()] == list(range(1, len(found) + 11))
    assert sum(b'"type":"attempt"' in line for line in run.journal.read_bytes().splitlines()) == len(found) + 10

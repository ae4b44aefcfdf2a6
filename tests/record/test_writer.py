"""What a writer puts on the disk, and what it does when the disk refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reeval.errors import Phase, RecordError
from reeval.record.store import RunDirectory, RunStore
from reeval.record.writer import writing
from reeval.schema.record import (
    ArtifactRef,
    AttemptFailure,
    FileRef,
    ObservationRecord,
    Outcome,
    RunEnd,
    RunState,
)
from reeval.secrets import Masker
from tests.record.samples import (
    EVAL,
    attempt,
    big_turn,
    check,
    plan,
    planned_attempt,
    planned_eval,
    record,
    start,
    turn,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def files(run: RunDirectory) -> list[str]:
    return sorted(path.relative_to(run.path).as_posix() for path in run.path.rglob("*") if path.is_file())


def test_a_trivial_attempt_is_one_line_and_no_file(store: RunStore) -> None:
    run = record(store, attempt(1), attempt(2))
    assert files(run) == ["events.ndjson"]
    assert len(run.journal.read_bytes().splitlines()) == 4
    assert len(run.journal.read_bytes().splitlines()[1]) < 450
    assert [path for path in run.path.iterdir() if path.is_dir()] == []


def test_what_is_written_comes_back(store: RunStore) -> None:
    records = [attempt(1), attempt(2, outcome=Outcome.FAIL, diff="+a\n", log="said\n", diagnostics=["one"])]
    assert list(record(store, *records).attempts()) == records


def test_big_parts_become_files_that_read_back(store: RunStore) -> None:
    checks = [check(f"check {number}", message="m" * 50) for number in range(100)]
    whole = attempt(1, turns=[turn(), big_turn()], checks=checks, diff="+é\n" * 5000, log="line\n" * 2000)
    run = record(store, whole)
    assert files(run) == [
        "events.ndjson",
        *(f"greet.greets-by-name/terse/-/fake/1/{name}" for name in ("checks.json", "diff.patch", "logs/body.log")),
        "greet.greets-by-name/terse/-/fake/1/turns.ndjson",
    ]
    (stored,) = run.attempts()
    assert isinstance(stored.turns, FileRef)
    assert stored.turns.bytes == (run.path / stored.turns.file).stat().st_size
    assert run.turns(stored) == whole.turns
    assert run.checks(stored) == checks
    assert run.diff(stored) == whole.diff
    assert run.log(stored) == whole.log
    assert run.journal.stat().st_size < 5000


def test_the_writer_returns_what_the_journal_holds(store: RunStore) -> None:
    with store.create(Masker(["hunter22"])) as writer:
        writer.start(start("x"))
        returned = [writer.attempt(attempt(1, log="hunter22")), writer.attempt(attempt(2, turns=[big_turn()]))]
        assert list(RunDirectory(writer.directory).attempts()) == returned


def test_a_case_has_its_own_folder_whatever_its_name(store: RunStore) -> None:
    planned = plan(planned_eval(cases=("a", "..", "x" * 300, "é/b")))
    attempts = [attempt(1, case=case, log="l" * 5000) for case in planned.evals[0].cases]
    run = record(store, *attempts, planned=planned)
    folders = {Path(name).parts[:-2] for name in files(run) if name.endswith("body.log")}
    assert len(folders) == 4
    assert all(len(part) <= 80 for folder in folders for part in folder)
    assert [run.log(one) for one in run.attempts()] == ["l" * 5000] * 4


def test_an_eval_that_the_plan_does_not_know_still_gets_a_folder(store: RunStore) -> None:
    run = record(store, attempt(1, eval="../../etc/passwd::x", log="l" * 5000))
    (stored,) = run.attempts()
    assert run.log(stored) == "l" * 5000


def test_a_file_is_never_written_again(store: RunStore) -> None:
    run = record(store, attempt(1, log="first\n" * 1000), attempt(1, log="second\n" * 1000))
    assert [name for name in files(run) if name.endswith(".log")] == [
        "greet.greets-by-name/terse/-/fake/1/logs/body-2.log",
        "greet.greets-by-name/terse/-/fake/1/logs/body.log",
    ]
    (last,) = run.attempts()
    assert run.log(last) == "second\n" * 1000


def test_artifacts_are_kept_by_safe_names(store: RunStore) -> None:
    with store.create(Masker(["hunter22"])) as writer:
        refs = [
            writer.artifact(planned_attempt(), name, b"data hunter22 \xff")
            for name in ("shot.png", "shot.png", "../../evil.png", "a hunter22.txt")
        ]
        run = RunDirectory(writer.directory)
        assert [run.part(ref) for ref in refs] == [b"data *** \xff"] * 4
    folder = "greet.greets-by-name/terse/-/fake/1/artifacts/"
    assert [ref.file.startswith(folder) for ref in refs] == [True] * 4
    assert [ref.file.removeprefix(folder) for ref in refs[:2]] == ["shot.png", "shot-2.png"]
    assert "hunter22" not in refs[3].file
    assert refs[2].file.endswith(".png")


def test_what_cannot_be_a_file_is_bounded_and_said(store: RunStore) -> None:
    ref = FileRef(file="f", bytes=1, sha256="0" * 64)
    huge = attempt(
        1,
        outcome=Outcome.ERROR,
        failure=AttemptFailure(reason="r" * 100_000, phase=Phase.BODY, detail="d" * 100_000),
        observations=[ObservationRecord(name=f"o{number}", value="v" * 3000) for number in range(200)],
        diagnostics=["diagnostic " * 100] * 500,
        artifacts=[ArtifactRef(name=f"a{number}", ref=ref) for number in range(150)],
    )
    run = record(store, huge)
    (stored,) = run.attempts()
    assert max(map(len, run.journal.read_bytes().splitlines())) < 200_000
    assert stored.failure is not None
    assert "characters cut" in stored.failure.detail
    assert stored.diagnostics[-3:] == [
        "190 more observations were cut from the record",
        "400 more diagnostics were cut from the record",
        "50 more artifacts were cut from the record",
    ]


def test_text_that_is_no_unicode_is_written_with_question_marks(store: RunStore) -> None:
    odd = attempt(
        1,
        turns=[turn(message="caf\udce9")],
        observations=[ObservationRecord(name="o", value={"k\udce9": [1, 2.5, None, True, "\udce9"]})],
    )
    (stored,) = record(store, odd).attempts()
    assert isinstance(stored.turns, list)
    assert stored.turns[0].message == "caf?"
    assert stored.observations[0].value == {"k?": [1, 2.5, None, True, "?"]}


def test_a_value_nested_without_end_is_cut(store: RunStore) -> None:
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    (stored,) = record(store, attempt(1, observations=[ObservationRecord(name="deep", value=value)])).attempts()
    assert "nested too deeply" in str(stored.observations[0].value)


def test_a_second_writer_of_one_run_is_refused(store: RunStore) -> None:
    with store.create(Masker()) as writer:
        writer.start(start("x"))
        run = RunDirectory(writer.directory)
        assert run.is_alive()
        with pytest.raises(RecordError, match="another process is writing this run"):
            store.resume(run, Masker())
    assert not run.is_alive()
    store.resume(run, Masker()).close()


def test_two_runs_at_once_do_not_meet(store: RunStore) -> None:
    with store.create(Masker()) as one, store.create(Masker()) as two:
        for writer in (one, two):
            writer.start(start(writer.directory.name))
        for number in range(1, 51):
            one.attempt(attempt(number))
            two.attempt(attempt(number, outcome=Outcome.FAIL))
    assert {record.outcome for record in RunDirectory(one.directory).attempts()} == {Outcome.PASS}
    assert {record.outcome for record in RunDirectory(two.directory).attempts()} == {Outcome.FAIL}


def test_a_run_that_never_began_leaves_no_trace(store: RunStore) -> None:
    with store.create(Masker()):
        assert store.list() == []
    assert list(store.runs.iterdir()) == []


def test_a_disk_that_is_full_from_the_start_leaves_no_run(store: RunStore) -> None:
    code = """
    import resource, sys
    from pathlib import Path
    from reeval.errors import RecordError
    from reeval.record.store import RunStore
    from reeval.secrets import Masker
    from tests.record.samples import start
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        with RunStore(Path(sys.argv[1])).create(Masker()) as writer:
            writer.start(start("x"))
    except RecordError as error:
        print(error)
    """
    assert "cannot be written: file too large" in in_child(code, store.root)
    assert list(store.runs.iterdir()) == []


def test_closing_twice_is_fine(store: RunStore) -> None:
    writer = store.create(Masker())
    writer.close()
    writer.close()


def test_lines_are_synced_without_being_asked(store: RunStore) -> None:
    """The syncer clears the mark of unsynced lines by itself; nobody calls ``end`` or ``close``."""
    with store.create(Masker()) as writer:
        writer.start(start("x"))
        writer.attempt(attempt(1, log="l" * 5000))
        deadline = 100
        while (writer._dirty or writer._unsynced) and deadline:
            deadline -= 1
            os.sched_yield()
            writer._stop.wait(0.1)
        assert deadline


# --- a disk that refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (errno.ENOSPC, "cannot be written: no space left on device; free some space, then resume the run"),
        (errno.EROFS, "read-only file system; records need a place that can be written"),
        (errno.EACCES, "permission denied; records need a place that you may write"),
        (errno.EIO, "input/output error; mend that, then resume the run"),
    ],
)
def test_a_refusal_of_the_disk_names_the_place_and_the_next_step(code: int, text: str) -> None:
    with pytest.raises(RecordError, match=r"^/there: ") as caught, writing(Path("/there")):
        raise OSError(code, os.strerror(code))
    assert text in str(caught.value)


def test_what_is_no_part_of_a_run_has_a_next_step_of_its_own() -> None:
    with pytest.raises(RecordError, match=r"; free some space, then ask again$"), writing(Path("/there"), "ask again"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def in_child(code: str, *args: object) -> str:
    """Run code in a process of its own and return what it printed."""
    script = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FULL = """
import resource, sys
from pathlib import Path
from reeval.errors import RecordError
from reeval.record.store import RunStore
from reeval.secrets import Masker
from tests.record.samples import attempt, start

with RunStore(Path(sys.argv[1])).create(Masker()) as writer:
    writer.start(start(writer.directory.name))
    room = writer.path.stat().st_size + 3000
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    written = 0
    try:
        for number in range(1, 100):
            writer.attempt(attempt(number, log={log}))
            written += 1
    except RecordError as error:
        print(written, error)
"""


def test_a_full_disk_leaves_whole_lines_only(store: RunStore) -> None:
    """A limit of the file's size refuses like a full disk: after a short write."""
    written, _, message = in_child(FULL.format(log="''"), store.root).partition(" ")
    run = store.find("last")
    assert 0 < int(written) < 99
    assert len(list(run.attempts())) == int(written)
    assert run.index().problems == []
    assert message.startswith(f"{run.journal}: cannot be written: file too large; ")


def test_a_full_disk_leaves_no_part_of_a_file(store: RunStore) -> None:
    written, _, _ = in_child(FULL.format(log="'l' * 10_000"), store.root).partition(" ")
    run = store.find("last")
    assert written == "0"
    assert files(run) == ["events.ndjson"]
    assert list(run.attempts()) == []


def test_a_directory_that_may_not_be_written_is_a_clear_error(tmp_path: Path) -> None:
    code = """
    import os, sys
    from pathlib import Path
    from reeval.errors import RecordError
    from reeval.record.store import RunStore
    from reeval.secrets import Masker
    os.chmod(sys.argv[1], 0o555)
    if os.geteuid() == 0:
        os.setuid(65534)  # root may write anywhere
    try:
        RunStore(Path(sys.argv[1])).create(Masker())
    except RecordError as error:
        print(error)
    """
    try:
        assert "cannot be written: permission denied; records need a place that you may write" in in_child(
            code, tmp_path
        )
    finally:
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_after_a_failure_the_next_line_is_whole_again(store: RunStore) -> None:
    in_child(FULL.format(log="''"), store.root)
    run = store.find("last")
    before = len(list(run.attempts()))
    with store.resume(run, Masker()) as writer:
        writer.attempt(attempt(99))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=1))
    index = run.index()
    assert len(index.attempts[EVAL]) == before + 1
    assert index.problems == []


def test_a_sync_that_fails_is_told_to_the_next_attempt(store: RunStore) -> None:
    with store.create(Masker()) as writer:
        writer._sync_error = OSError(errno.EIO, os.strerror(errno.EIO))
        with pytest.raises(RecordError, match="input/output error"):
            writer.attempt(attempt(1))

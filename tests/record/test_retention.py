"""What the history settings drop, and what they never do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reeval.errors import ConfigError, RecordError
from reeval.plan.config import History
from reeval.record.compile import load_record, write_record
from reeval.record.retention import Keep, apply_retention, clean_history, parse_keep, to_drop
from reeval.record.store import RunDirectory, RunStore, new_run_id
from reeval.schema.record import ArtifactRef, Outcome, RunEnd, RunState
from reeval.secrets import Masker
from tests.record.samples import attempt, big_turn, planned_attempt, record, start


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def with_artifacts(store: RunStore) -> RunDirectory:
    """A run whose first attempt passed and whose second failed, both with every kind of file."""
    with store.create(Masker()) as writer:
        writer.start(start(writer.directory.name))
        for number, outcome in ((1, Outcome.PASS), (2, Outcome.FAIL)):
            ref = writer.artifact(planned_attempt(number), "shot.png", b"x" * 1000)
            one = attempt(
                number,
                outcome=outcome,
                artifacts=[ArtifactRef(name="shot", ref=ref)],
                log="l" * 5000,
                diff="d" * 5000,
                turns=[big_turn()],
            )
            writer.attempt(one)
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=5))
    write_record(RunDirectory(writer.directory))
    return RunDirectory(writer.directory)


def files(run: RunDirectory) -> list[str]:
    parts = (path.relative_to(run.path).parts for path in run.path.rglob("*") if path.is_file())
    return sorted("/".join(part[4:]) for part in parts if len(part) > 1)


EVIDENCE = ["diff.patch", "turns.ndjson"]
FILES = ["artifacts/shot.png", *EVIDENCE[:1], "logs/body.log", *EVIDENCE[1:]]


@pytest.mark.parametrize(
    ("artifacts", "first", "second"),
    [("all", FILES, FILES), ("failed", EVIDENCE, FILES), ("none", EVIDENCE, EVIDENCE)],
)
def test_artifacts_and_logs_follow_the_setting_and_evidence_stays(
    store: RunStore, artifacts: str, first: list[str], second: list[str]
) -> None:
    run = with_artifacts(store)
    texts = apply_retention(store, History(artifacts=artifacts), run)  # type: ignore[arg-type]
    kept = {number: [name[2:] for name in files(run) if name.startswith(f"{number}/")] for number in (1, 2)}
    assert kept == {1: first, 2: second}
    assert load_record(run).dropped == texts
    assert load_record(run).totals.finished == 2
    for stored in run.attempts():
        assert run.turns(stored) == [big_turn()]


def test_what_went_is_said_with_its_size(store: RunStore) -> None:
    run = with_artifacts(store)
    assert apply_retention(store, History(artifacts="none")) == [
        f"{run.id}: 4 artifact or log files, 0.0 MB (history.artifacts = 'none')"
    ]
    assert apply_retention(store, History(artifacts="none")) == []
    (stored, _) = run.attempts()
    with pytest.raises(RecordError, match="is not there any more"):
        run.log(stored)


def aged(store: RunStore, days: float, size: int = 0) -> RunDirectory:
    run = record(store, attempt(1))
    made = datetime.now(UTC) - timedelta(days=days)
    path = store.runs / new_run_id(made)
    run.path.rename(path)
    (path / "extra").write_bytes(b"x" * size)
    return RunDirectory(path)


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        (None, [0, 1, 2, 3]),
        (2, [0, 1]),
        (10, [0, 1, 2, 3]),
        ("15d", [0, 1]),
        ("0d", [0]),
        ("250kB", [0, 1]),
        ("1 GB", [0, 1, 2, 3]),
        ("1kB", [0]),
    ],
)
def test_runs_are_kept_by_number_age_or_size(store: RunStore, keep: int | str | None, kept: list[int]) -> None:
    runs = [aged(store, 10 * number + 0.1, 100_000) for number in range(4)]
    write_record(runs[0])
    texts = apply_retention(store, History(keep=keep), runs[0])
    assert [run.id for run in store.list()] == [runs[number].id for number in kept]
    assert len(texts) == 4 - len(kept)
    assert load_record(runs[0]).dropped == texts
    assert sorted(path.name for path in store.runs.iterdir()) == sorted(run.id for run in store.list())


def test_a_run_that_is_alive_stays(store: RunStore) -> None:
    old = aged(store, 100)
    new = aged(store, 0)
    with store.resume(old, Masker()):
        assert apply_retention(store, History(keep=1), new) == []
    assert old.journal.exists()
    (text,) = apply_retention(store, History(keep=1), new)
    assert old.id in text


def test_cleaning_looks_at_every_run_and_shows_first_what_it_would_drop(store: RunStore) -> None:
    runs = [with_artifacts(store) for _ in range(2)]
    old = aged(store, 100)
    history = History(artifacts="failed", keep=2)
    planned = to_drop(store, history)
    assert {(drop.run.id, len(drop.files)) for drop in planned} == {(old.id, 0), *((run.id, 2) for run in runs)}
    assert old.journal.exists()
    assert clean_history(store, history) == planned
    assert to_drop(store, history) == []
    assert not old.path.exists()
    for run in runs:
        assert len(load_record(run).dropped) == 1


def test_without_runs_there_is_nothing_to_drop(store: RunStore) -> None:
    history = History(artifacts="none", keep=1)
    assert apply_retention(store, history) == []
    assert clean_history(store, history) == []


@pytest.mark.parametrize(
    ("value", "keep"),
    [
        (20, Keep(unit="runs", amount=20)),
        ("30d", Keep(unit="seconds", amount=30 * 86400)),
        ("500MB", Keep(unit="bytes", amount=5e8)),
        ("2 GB", Keep(unit="bytes", amount=2e9)),
        ("1kB", Keep(unit="bytes", amount=1000)),
    ],
)
def test_keep_is_a_number_an_age_or_a_size(value: int | str, keep: Keep) -> None:
    assert parse_keep(value) == keep


@pytest.mark.parametrize("value", [0, -1, True, "", "d", "30", "-1d", "2 weeks", "1.5GB", "2gb"])
def test_anything_else_is_refused_with_what_to_write(value: int | str) -> None:
    with pytest.raises(ConfigError, match=r"write a number of runs \(20\), an age \(30d\) or a size"):
        parse_keep(value)

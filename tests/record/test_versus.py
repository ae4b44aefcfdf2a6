"""What a recorded run brings into a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from reeval.errors import RecordError
from reeval.record.store import RunDirectory, RunStore
from reeval.record.versus.sides import run_side
from reeval.schema.record import AttemptRecord, Outcome, RunEnd, RunState
from reeval.schema.transcript import ToolCall, Turn
from reeval.secrets import Masker
from tests.cli.projects import failed_check, finished, plan_of, planned, recorded, start_of

LONG = Turn(prompt="x" * 5000, events=(ToolCall(name="shell"), ToolCall(name="shell")))


def with_turns(root: Path) -> RunDirectory:
    """Record two attempts whose transcripts are too long for a line."""
    plan = plan_of(planned())
    with RunStore(root).create(Masker()) as writer:
        run = RunDirectory(writer.directory)
        writer.start(start_of(run.id, plan))
        for record in finished(plan):
            writer.attempt(msgspec.structs.replace(record, turns=[LONG, LONG]))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=0))
    return run


def measured(run: RunDirectory, name: str) -> list[float]:
    (cell,) = run_side(run).cells.values()
    return list(cell.attempts.measure(name).get(None, ()))


def test_turns_and_tool_calls_are_counted_from_their_files(tmp_path: Path) -> None:
    run = with_turns(tmp_path)
    assert measured(run, "turns") == [2, 2]
    assert measured(run, "tool_calls") == [4, 4]


def test_checks_are_counted_from_their_file(tmp_path: Path) -> None:
    plan = plan_of(planned())
    many = [msgspec.structs.replace(failed_check(), label=f"check {number}") for number in range(100)]
    with RunStore(tmp_path).create(Masker()) as writer:
        run = RunDirectory(writer.directory)
        writer.start(start_of(run.id, plan))
        for record in finished(plan):
            writer.attempt(msgspec.structs.replace(record, checks=many))
    assert list(run.path.rglob("checks*"))
    (cell,) = run_side(run).cells.values()
    assert len(cell.attempts.checks()) == 100


def test_a_transcript_that_is_gone_leaves_its_attempt_in_and_its_measures_unknown(tmp_path: Path) -> None:
    run = with_turns(tmp_path)
    (first, *_) = sorted(run.path.rglob("turns*"))
    first.unlink()
    (cell,) = run_side(run).cells.values()
    assert cell.attempts.side.decided == 2
    assert measured(run, "turns") == [2]
    assert measured(run, "tool_calls") == [4]


def test_a_run_that_was_killed_brings_what_finished(tmp_path: Path) -> None:
    side = run_side(recorded(tmp_path, ended=False))
    (cell,) = side.cells.values()
    assert cell.attempts.side.decided == 1
    assert side.record.state is RunState.INTERRUPTED


@pytest.mark.parametrize(("version", "said"), [(0, "schema version 0"), (99, "newer reeval")])
def test_only_runs_of_one_schema_version_are_compared(tmp_path: Path, version: int, said: str) -> None:
    run = recorded(tmp_path)
    head, rest = run.journal.read_text().split("\n", 1)
    run.journal.write_text(json.dumps(json.loads(head) | {"schema_version": version}) + "\n" + rest)
    with pytest.raises(RecordError, match=said):
        run_side(run)


def test_the_models_that_served_and_the_skips_are_known(tmp_path: Path) -> None:
    plan = plan_of(planned(runs=3))
    with RunStore(tmp_path).create(Masker()) as writer:
        run = RunDirectory(writer.directory)
        writer.start(start_of(run.id, plan))
        for number, record in enumerate(finished(plan)):
            changed: AttemptRecord = msgspec.structs.replace(record, model=f"m-{number % 2}")
            writer.attempt(changed if number else msgspec.structs.replace(changed, outcome=Outcome.SKIPPED))
    (cell,) = run_side(run).cells.values()
    assert (cell.models, cell.skipped, cell.attempts.side.decided) == ({"m-0", "m-1"}, 1, 2)

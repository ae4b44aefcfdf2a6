"""What does one recorded run bring into a comparison with another one?"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from reeval.errors import RecordError
from reeval.grade.versus.sides import RunFold, RunSide
from reeval.record.compile import load_record
from reeval.record.store import RunDirectory
from reeval.schema.record import SCHEMA_VERSION, AttemptRecord, FileRef
from reeval.schema.transcript import Turn

__all__ = ["run_side"]


def run_side(run: RunDirectory) -> RunSide:
    """Read a run, one attempt at a time.

    Raises ``RecordError`` when it cannot be read, or has the schema of an older reeval: what its figures meant then may
    not be what they mean now, and the difference would be taken for the agent's.
    """
    index = run.index()
    version = run.start(index).schema_version
    if version < SCHEMA_VERSION:
        raise RecordError(
            f"run {run.id} was recorded with schema version {version}, and only runs of version {SCHEMA_VERSION} are "
            f"compared; record it again with this reeval"
        )
    fold = RunFold(run.plan(index))
    for attempt in run.attempts(index):
        fold.add(_counted(run, attempt), tool_calls=_tool_calls(run, attempt))
    return fold.run(load_record(run))


def _counted(run: RunDirectory, attempt: AttemptRecord) -> AttemptRecord:
    """Return an attempt whose turns and checks can be counted; those in a damaged file stay unknown."""
    if isinstance(attempt.turns, FileRef):
        with suppress(RecordError):
            turns = [Turn(prompt="", status=status) for status in run.turn_statuses(attempt)]
            attempt = msgspec.structs.replace(attempt, turns=turns)
    if isinstance(attempt.checks, FileRef):
        with suppress(RecordError):
            attempt = msgspec.structs.replace(attempt, checks=run.checks(attempt))
    return attempt


def _tool_calls(run: RunDirectory, attempt: AttemptRecord) -> int | None:
    try:
        return run.tool_calls(attempt)
    except RecordError:
        return None

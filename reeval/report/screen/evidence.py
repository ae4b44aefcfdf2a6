"""Where do reports find the parts of an attempt, and which attempts are worth showing?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from reeval.errors import RecordError
from reeval.schema.record import (
    AttemptEntry,
    AttemptRecord,
    CheckRecord,
    EvalRecord,
    FileRef,
    Outcome,
    RunRecord,
)
from reeval.schema.recorded.answers import JudgmentRecord
from reeval.schema.transcript import Turn

__all__ = [
    "SHOWN_FAILURES",
    "RunReader",
    "attempt_key",
    "checks_of",
    "diff_of",
    "is_failing",
    "judgments_of",
    "load_failures",
    "log_of",
    "turns_of",
]

SHOWN_FAILURES = 50
"""Failing attempts that a report shows in detail; the rest is counted."""


class RunReader(Protocol):
    """A run's directory, as reports read it: the journal's lines and the files that hold big parts."""

    def attempt_at(self, offset: int, length: int) -> AttemptRecord:
        """Read one attempt's line; raise ``RecordError`` when it is not one."""
        ...

    def checks(self, record: AttemptRecord) -> list[CheckRecord]:
        """Return an attempt's checks, from its file when they are in one."""
        ...

    def turns(self, record: AttemptRecord) -> list[Turn]:
        """Return an attempt's turns."""
        ...

    def judgments(self, record: AttemptRecord) -> list[JudgmentRecord]:
        """Return what judges said about an attempt."""
        ...

    def diff(self, record: AttemptRecord) -> str:
        """Return what the agent changed."""
        ...

    def log(self, record: AttemptRecord) -> str:
        """Return what the body printed and logged."""
        ...


def attempt_key(eval_id: str, attempt: str) -> str:
    """``EVAL@ATTEMPT``: what ``reeval show`` takes."""
    return f"{eval_id}@{attempt}"


def is_failing(entry: AttemptEntry | AttemptRecord) -> bool:
    """Say whether an attempt is worth a look: it failed, could not be decided, or has a failed verdict."""
    if entry.outcome is Outcome.SCORED:
        return entry.verdict in {"fail", "error"}
    return entry.outcome in {Outcome.FAIL, Outcome.ERROR, Outcome.REVIEW}


def _failing(evals: Sequence[EvalRecord]) -> Iterator[AttemptEntry]:
    for planned in evals:
        yield from filter(is_failing, planned.attempts)


def load_failures(record: RunRecord, reader: RunReader, limit: int = SHOWN_FAILURES) -> list[AttemptRecord]:
    """Read the first ``limit`` failing attempts of a run, and no other line of its journal."""
    found: list[AttemptRecord] = []
    for entry in _failing(record.evals):
        if len(found) == limit:
            break
        found.append(reader.attempt_at(*entry.line))
    return found


def checks_of(record: AttemptRecord, reader: RunReader | None) -> list[CheckRecord]:
    """Return the checks; none when they are in a file that cannot be read."""
    if not isinstance(record.checks, FileRef):
        return record.checks
    try:
        return reader.checks(record) if reader else []
    except RecordError:
        return []


def turns_of(record: AttemptRecord, reader: RunReader | None) -> list[Turn]:
    """Return the turns; none when they are in a file that cannot be read."""
    if not isinstance(record.turns, FileRef):
        return record.turns
    try:
        return reader.turns(record) if reader else []
    except RecordError:
        return []


def judgments_of(record: AttemptRecord, reader: RunReader | None) -> list[JudgmentRecord]:
    """Return what judges said; nothing when it is in a file that cannot be read."""
    if not isinstance(record.judgments, FileRef):
        return record.judgments
    try:
        return reader.judgments(record) if reader else []
    except RecordError:
        return []


def diff_of(record: AttemptRecord, reader: RunReader | None) -> str:
    """Return the diff; a note when it is in a file that cannot be read."""
    return _text(record.diff, None if reader is None else lambda: reader.diff(record))


def log_of(record: AttemptRecord, reader: RunReader | None) -> str:
    """Return the log; a note when it is in a file that cannot be read."""
    return _text(record.log, None if reader is None else lambda: reader.log(record))


def _text(part: str | FileRef, read: Callable[[], str] | None) -> str:
    if isinstance(part, str):
        return part
    if read is None:
        return f"(in {part.file})"
    try:
        return read()
    except RecordError as error:
        return f"({error})"

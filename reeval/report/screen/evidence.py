"""Where do reports find the parts of an attempt, and which attempts are worth showing?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
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
from reeval.schema.recorded.data import DataRecord
from reeval.schema.transcript import Turn

__all__ = [
    "SHOWN_FAILURES",
    "RunReader",
    "attempt_key",
    "cell_of",
    "checks_of",
    "data_of",
    "diff_of",
    "failing_of",
    "is_failing",
    "is_open",
    "judgments_of",
    "load_failures",
    "log_of",
    "silent_of",
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

    def data(self, record: AttemptRecord) -> list[DataRecord]:
        """Return an attempt's answer to a data question."""
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


def is_open(planned: EvalRecord) -> bool:
    """Say whether a gate of an eval, or a lift that it asks for, does not hold or is undecided."""
    gates = any(cell.gate.holds is False or cell.gate.undecided for cell in planned.cells)
    return gates or _open_lift(planned)


def _open_lift(planned: EvalRecord) -> bool:
    return any(lift.holds is False or lift.undecided for lift in planned.lifts)


def failing_of(planned: EvalRecord) -> Iterator[AttemptEntry]:
    """Yield the attempts that failed: errors, and those of a cell whose gate does not hold or is undecided.

    A control's misses, or those that a pass rate allows for, are no failures: the run passes with them.
    """
    silent = _silent_cells(planned)
    for entry in filter(is_failing, planned.attempts):
        if entry.outcome is Outcome.ERROR or cell_of(entry) not in silent:
            yield entry


def silent_of(planned: EvalRecord) -> Iterator[AttemptEntry]:
    """Yield the attempts that did not pass and decide nothing."""
    silent = _silent_cells(planned)
    for entry in filter(is_failing, planned.attempts):
        if entry.outcome is not Outcome.ERROR and cell_of(entry) in silent:
            yield entry


def _silent_cells(planned: EvalRecord) -> set[str]:
    """Return the keys of the cells whose gate holds or only reports, so that no attempt of theirs is to blame."""
    lift = _open_lift(planned)
    return {
        cell.key
        for cell in planned.cells
        if not (cell.gate.holds is False or cell.gate.undecided or (lift and cell.role != "control"))
    }


def cell_of(entry: AttemptEntry) -> str:
    """``terse/plain/fake[case]#1`` → ``terse/plain/fake``; words of an id hold neither sign."""
    return entry.attempt.partition("#")[0].partition("[")[0]


def load_failures(record: RunRecord, reader: RunReader, limit: int = SHOWN_FAILURES) -> list[AttemptRecord]:
    """Read the first ``limit`` failing attempts of a run, and no other line of its journal."""
    found: list[AttemptRecord] = []
    for entry in chain.from_iterable(map(failing_of, record.evals)):
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


def data_of(record: AttemptRecord, reader: RunReader | None) -> DataRecord | None:
    """Return the answer to a data question; None when it is in a file that cannot be read, or there is none."""
    found = record.data
    if isinstance(found, FileRef):
        try:
            found = reader.data(record) if reader else []
        except RecordError:
            return None
    return found[0] if found else None


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

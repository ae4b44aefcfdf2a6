"""Where are the runs of a project, and how is one read back?

Nothing in a record is trusted: a file that a record points to must be inside its run's directory.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from reeval.errors import RecordError
from reeval.record.format import parts
from reeval.record.format.journal import (
    JOURNAL,
    JournalIndex,
    decode_answer,
    decode_attempt,
    decode_plan_of,
    decode_start,
    index_journal,
    read_span,
    read_spans,
)
from reeval.record.writer import RunWriter, writing
from reeval.schema.plan import Plan
from reeval.schema.record import AttemptRecord, CheckRecord, FileRef, RunStart
from reeval.schema.recorded.answers import AnswerRecord, JudgmentRecord, PairRecord
from reeval.schema.recorded.data import DataRecord
from reeval.schema.transcript import CommandResult, Turn
from reeval.secrets import Masker

__all__ = ["RunDirectory", "RunStore"]

T = TypeVar("T")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""In the order in which they sort."""


class RunDirectory(msgspec.Struct, frozen=True):
    """One recorded run, read from its journal. Every method raises ``RecordError`` when what it needs is damaged."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id: the name of its directory."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The journal's path."""
        return self.path / JOURNAL

    def has_begun(self) -> bool:
        """Say whether there is anything in the journal."""
        try:
            return self.journal.stat().st_size > 0
        except OSError:
            return False

    def is_alive(self) -> bool:
        """Say whether a process is writing this run: it holds the journal's lock."""
        try:
            fd = os.open(self.journal, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False  # a file system without locks
        finally:
            os.close(fd)
        return False

    def index(self) -> JournalIndex:
        """Read the journal once and say which of its lines count."""
        return index_journal(self.journal)

    def start(self, index: JournalIndex | None = None) -> RunStart:
        """Return the head of the run."""
        span = (index or self.index()).start
        return self._decoded(self._line(span), decode_start)

    def plan(self, index: JournalIndex | None = None) -> Plan:
        """Return the plan that counts: the one of the last resume."""
        span = (index or self.index()).plan
        return self._decoded(self._line(span), decode_plan_of)

    def attempt_at(self, offset: int, length: int) -> AttemptRecord:
        """Return the attempt whose line is there (``AttemptEntry.line``)."""
        return self._decoded(read_span(self.journal, (offset, length)), decode_attempt)

    def whole(self, record: AttemptRecord) -> AttemptRecord:
        """Return an attempt with its turns, checks, diff, commands and answer to a data question read back."""
        return msgspec.structs.replace(
            record,
            turns=self.turns(record),
            checks=self.checks(record),
            diff=self.diff(record),
            commands=self.commands(record),
            data=self.data(record),
        )

    def answers(self, index: JournalIndex) -> Iterator[AnswerRecord | PairRecord]:
        """Yield the answers to questions that count, in the order they were given."""
        for line in read_spans(self.journal, sorted(index.answer_spans())):
            yield self._decoded(line, decode_answer)

    def attempts(self, index: JournalIndex | None = None) -> Iterator[AttemptRecord]:
        """Yield the attempts that count, as they finished, one at a time in memory."""
        spans = sorted((index or self.index()).spans())
        for line in read_spans(self.journal, spans):
            yield self._decoded(line, decode_attempt)

    def turns(self, record: AttemptRecord) -> list[Turn]:
        """Return the turns of an attempt."""
        if isinstance(record.turns, FileRef):
            return self._decoded(self.part(record.turns), parts.decode_turns)
        return record.turns

    def turn_statuses(self, record: AttemptRecord) -> list[Literal["completed", "failed"]]:
        """Return only how each turn ended: fast where a transcript is large."""
        if isinstance(record.turns, FileRef):
            return self._decoded(self._content(record.turns), parts.decode_statuses)
        return [turn.status for turn in record.turns]

    def tool_calls(self, record: AttemptRecord) -> int:
        """Return how many tool calls all turns have: fast where a transcript is large."""
        if isinstance(record.turns, FileRef):
            return self._decoded(self._content(record.turns), parts.decode_tool_calls)
        return sum(len(turn.tool_calls) for turn in record.turns)

    def checks(self, record: AttemptRecord) -> list[CheckRecord]:
        """Return the checks of an attempt."""
        if isinstance(record.checks, FileRef):
            return self._decoded(self.part(record.checks), parts.decode_checks)
        return record.checks

    def judgments(self, record: AttemptRecord) -> list[JudgmentRecord]:
        """Return what judges said about an attempt."""
        if isinstance(record.judgments, FileRef):
            return self._decoded(self.part(record.judgments), parts.decode_judgments)
        return record.judgments

    def commands(self, record: AttemptRecord) -> list[CommandResult]:
        """Return the commands of the body that a question shows."""
        if isinstance(record.commands, FileRef):
            return self._decoded(self.part(record.commands), parts.decode_commands)
        return record.commands

    def data(self, record: AttemptRecord) -> list[DataRecord]:
        """Return a data question's answer: one, or none where it is no data question."""
        if isinstance(record.data, FileRef):
            return self._decoded(self.part(record.data), parts.decode_data)
        return record.data

    def diff(self, record: AttemptRecord) -> str:
        """Return what the agent changed."""
        return self._text(record.diff)

    def log(self, record: AttemptRecord) -> str:
        """Return what the body printed and logged."""
        return self._text(record.log)

    def part(self, ref: FileRef) -> bytes:
        """Return the content of a file of the record, as it was recorded."""
        data = self._content(ref)
        if sha256(data).hexdigest() != ref.sha256:
            raise self._changed(ref)
        return data

    def _content(self, ref: FileRef) -> bytes:
        path = self._inside(ref)
        try:
            with path.open("rb") as file:
                data = file.read(ref.bytes + 1)
        except FileNotFoundError:
            raise RecordError(
                f"{self.id}: {ref.file} is not there any more; the history settings or a person removed it"
            ) from None
        except OSError as error:
            raise RecordError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from error
        if len(data) != ref.bytes:
            raise self._changed(ref)
        return data

    def _changed(self, ref: FileRef) -> RecordError:
        return RecordError(f"{self.id}: {ref.file} is not what was recorded; it was changed or cut since")

    def _inside(self, ref: FileRef) -> Path:
        root = self.path.resolve()
        try:
            path = (root / ref.file).resolve()
        except (OSError, ValueError, RuntimeError):
            path = root
        if not path.is_relative_to(root) or path == root:
            raise RecordError(f"{self.id}: the record points to {ref.file!r}, outside of the run; it is not read")
        return path

    def _text(self, part: str | FileRef) -> str:
        return self.part(part).decode("utf-8", "replace") if isinstance(part, FileRef) else part

    def _line(self, span: tuple[int, int] | None) -> bytes:
        if span is None:
            raise RecordError(f"{self.id}: {self.journal} does not begin with the run's head; it cannot be read")
        return read_span(self.journal, span)

    def _decoded(self, data: bytes, decode: Callable[[bytes], T]) -> T:
        try:
            return decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RecordError(f"{self.id}: the record is damaged: {error}") from error


class RunStore(msgspec.Struct, frozen=True):
    """The records of a project: ``.reeval`` below its root."""

    root: Path

    @property
    def directory(self) -> Path:
        """``.reeval``."""
        return self.root / ".reeval"

    @property
    def runs(self) -> Path:
        """Where the run directories are."""
        return self.directory / "runs"

    def create(self, masker: Masker) -> RunWriter:
        """Make the directory of a new run, whose name is the run's id, and open its journal."""
        while True:
            path = self.runs / new_run_id()
            with writing(path):
                self.runs.mkdir(parents=True, exist_ok=True)
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
            return RunWriter(RunDirectory(path), masker)

    def resume(self, run: RunDirectory, masker: Masker) -> RunWriter:
        """Open a run again, cutting a torn last line; raise ``RecordError`` while another process writes it."""
        slugs = {planned.id: planned.slug for planned in run.plan().evals}
        return RunWriter(run, masker, slugs)

    def list(self) -> Sequence[RunDirectory]:
        """Return every run, the newest first."""
        try:
            entries = [entry for entry in os.scandir(self.runs) if entry.is_dir() and not entry.name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RecordError(f"{self.runs}: cannot be read: {(error.strerror or str(error)).lower()}") from error
        runs = (RunDirectory(self.runs / name) for name in sorted((entry.name for entry in entries), reverse=True))
        return [run for run in runs if run.has_begun()]

    def find(self, ref: str) -> RunDirectory:
        """Return the run that ``ref`` names: ``last``, an id, the beginning of one, or a directory."""
        runs = self.list()
        if ref == "last":
            if not runs:
                raise RecordError(f"there is no run in {self.runs}; `reeval run` makes one")
            return runs[0]
        matching = [run for run in runs if run.id == ref] or [run for run in runs if ref and run.id.startswith(ref)]
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise RecordError(f"{ref!r} is the beginning of {len(matching)} runs: {_some(matching)}; write more of it")
        for path in (Path(ref), self.root / ref):
            if ref and (path / JOURNAL).is_file():
                return RunDirectory(path.resolve())
        raise RecordError(f"there is no run {ref!r}; {_nearest(ref, runs)}")

    def ref_of(self, run: RunDirectory) -> str | None:
        """Return what names a run in a command; None for the last one, which commands mean without a name."""
        if run.path.parent.resolve() != self.runs.resolve():
            return str(run.path)
        return None if self.list()[0].id == run.id else run.id


def new_run_id(now: datetime | None = None) -> str:
    """Return a new id. Ids sort by the time they were made (UTC): two characters are less than a thousandth second."""
    made = now or datetime.now(UTC)
    part = made.microsecond * len(_DIGITS) ** 2 // 1_000_000
    chance = "".join(secrets.choice(_DIGITS) for _ in range(2))
    return f"{made:%Y%m%d-%H%M%S}-{_DIGITS[part // len(_DIGITS)]}{_DIGITS[part % len(_DIGITS)]}{chance}"


def _some(runs: Sequence[RunDirectory]) -> str:
    ids = [run.id for run in runs[:3]]
    return ", ".join(ids) + (", …" if len(runs) > 3 else "")


def _nearest(ref: str, runs: Sequence[RunDirectory]) -> str:
    if not runs:
        return "nothing is recorded here yet"
    near = get_close_matches(ref, [run.id for run in runs], n=3, cutoff=0.5)
    return f"nearest: {', '.join(near)}" if near else f"the newest: {_some(runs)}"

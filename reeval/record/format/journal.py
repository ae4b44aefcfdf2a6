"""How are the lines of a journal written and read back, when the last one may be torn?

A line is one JSON object with a ``type``, ended by a newline, at most ``MAX_LINE`` bytes. Lines only ever follow each
other; a line that is not whole or not JSON (a kill, a power cut) is passed over and said in ``JournalIndex.problems``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from reeval.errors import RecordError
from reeval.schema.plan import Plan
from reeval.schema.record import SCHEMA_VERSION, AttemptRecord, JournalLine, RunEnd, RunStart, Superseded
from reeval.schema.recorded.answers import AnswerRecord, AskedKey, PairRecord

__all__ = [
    "JOURNAL",
    "JournalIndex",
    "Span",
    "decode_answer",
    "decode_attempt",
    "decode_plan_of",
    "decode_start",
    "encode_line",
    "index_journal",
    "last_lines",
    "read_span",
    "read_spans",
    "whole_size",
]

JOURNAL = "events.ndjson"
MAX_LINE = 64 * 1024 * 1024
"""Bytes. The writer stays far below, except for the plan of a huge selection."""
_TAIL = 64 * 1024


class Span(NamedTuple):
    """Where a line stands in its journal, in bytes; the length leaves its newline out."""

    offset: int
    length: int


class _Run(msgspec.Struct, tag="run"):
    schema_version: int = SCHEMA_VERSION


class _WithPlan(msgspec.Struct, tag="run"):
    plan: Plan


_encoder = msgspec.json.Encoder()
_attempts = msgspec.json.Decoder(AttemptRecord)
_answers = msgspec.json.Decoder(AnswerRecord | PairRecord)
_lines = msgspec.json.Decoder(_Run | AttemptRecord | AnswerRecord | PairRecord | Superseded | RunEnd)


def encode_line(line: JournalLine) -> bytes:
    """Return one line without its newline; raise ``ValueError`` or ``TypeError`` when it holds what JSON cannot."""
    return _encoder.encode(line)


def decode_attempt(data: bytes) -> AttemptRecord:
    """Read an attempt's line; raise ``msgspec.MsgspecError`` when it is none."""
    return _attempts.decode(data)


def decode_answer(data: bytes) -> AnswerRecord | PairRecord:
    """Read the line of an answer to a question; raise ``msgspec.MsgspecError`` when it is none."""
    return _answers.decode(data)


def decode_start(data: bytes) -> RunStart:
    """Read a run's first line; raise ``msgspec.MsgspecError`` when it is none."""
    return msgspec.json.decode(data, type=RunStart)


def decode_plan_of(data: bytes) -> Plan:
    """Read only the plan of a run's first line; raise ``msgspec.MsgspecError`` when there is none."""
    return msgspec.json.decode(data, type=_WithPlan).plan


@dataclass(kw_only=True)
class JournalIndex:
    """Which lines of a journal count, without what they hold: about 300 bytes of memory for each attempt."""

    start: Span | None = None
    """The first line of the run; None: it was killed before it could write one."""
    plan: Span | None = None
    """The line whose plan counts: a resume writes another one when the project changed in between."""
    attempts: dict[str, dict[str, Span]] = field(default_factory=dict)
    """Eval id → attempt id → its last line."""
    answers: dict[str, dict[AskedKey, Span]] = field(default_factory=dict)
    """Eval id → question and what it was asked about → its last line."""
    end: RunEnd | None = None
    """None: nothing ended the run, or it was resumed since."""
    superseded: list[Superseded] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Lines that were passed over, bounded in number."""
    size: int = 0
    """Bytes of the journal that were read."""

    def spans(self) -> Iterator[Span]:
        """Yield the line of every attempt that counts, eval by eval."""
        for attempts in self.attempts.values():
            yield from attempts.values()

    def answer_spans(self) -> Iterator[Span]:
        """Yield the line of every answer that counts, eval by eval."""
        for answers in self.answers.values():
            yield from answers.values()

    def keys(self) -> frozenset[str]:
        """Return the key (``EVAL@ATTEMPT``) of every attempt that counts."""
        return frozenset(f"{eval_id}@{attempt}" for eval_id, attempts in self.attempts.items() for attempt in attempts)


def index_journal(path: Path) -> JournalIndex:
    """Read a journal once and say which lines count; raise ``RecordError`` when it cannot be read."""
    index = JournalIndex()
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE):
                span = Span(index.size, len(line) - line.endswith(b"\n"))
                index.size += len(line)
                if not line.endswith(b"\n"):
                    index.size -= len(line)
                    index.problems.append(f"byte {span.offset}: the last line is torn and does not count")
                    break
                _take(index, line, span)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    return index


def _take(index: JournalIndex, line: bytes, span: Span) -> None:
    try:
        found = _lines.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if len(index.problems) < 20:
            index.problems.append(f"byte {span.offset}: {span.length} bytes are no line of a journal ({error})")
        return
    if isinstance(found, AttemptRecord):
        attempts = index.attempts.setdefault(found.eval, {})
        if found.attempt in attempts:
            _forget_answers(index, found)
        attempts[found.attempt] = span
    elif isinstance(found, AnswerRecord | PairRecord):
        index.answers.setdefault(found.eval, {})[found.key] = span
    elif isinstance(found, Superseded):
        index.attempts.pop(found.eval, None)
        index.answers.pop(found.eval, None)
        index.superseded.append(found)
    elif isinstance(found, _Run):
        if found.schema_version > SCHEMA_VERSION:
            raise RecordError(
                f"this run was recorded with schema version {found.schema_version}, and this reeval reads up to "
                f"{SCHEMA_VERSION}; read it with a newer reeval"
            )
        index.start = index.start or span
        index.plan = span
    index.end = found if isinstance(found, RunEnd) else None


def _forget_answers(index: JournalIndex, again: AttemptRecord) -> None:
    """Drop what was answered about an attempt that ran again: it was about another one."""
    answers = index.answers.get(again.eval, {})
    for key in [key for key in answers if again.attempt in key.attempts]:
        del answers[key]


def read_span(path: Path, span: tuple[int, int]) -> bytes:
    """Return one line; raise ``RecordError`` when the journal is shorter than that."""
    (line,) = read_spans(path, (span,))
    return line


def read_spans(path: Path, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """Yield some lines; raise ``RecordError`` when the journal is shorter than that."""
    try:
        with path.open("rb") as file:
            for offset, length in spans:
                if offset < 0 or not 0 <= length <= MAX_LINE:
                    raise RecordError(f"{path}: {length!r} bytes at {offset!r} cannot be a line; the record is damaged")
                file.seek(offset)
                data = file.read(length)
                if len(data) < length:
                    raise RecordError(f"{path}: ends before byte {offset + length}; it was cut after it was recorded")
                yield data
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error


def last_lines(path: Path, most: int) -> Iterator[AttemptRecord | AnswerRecord | PairRecord]:
    """Yield attempts and answers in the last ``most`` bytes, the newest first; what cannot be read is passed over."""
    try:
        with path.open("rb") as file:
            begin = max(0, file.seek(0, 2) - most)
            file.seek(begin)
            lines = file.read(most).split(b"\n")
    except OSError:
        return
    for line in reversed(lines[1:] if begin else lines):
        try:
            found = _lines.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(found, AttemptRecord | AnswerRecord | PairRecord):
            yield found


def whole_size(path: Path) -> int:
    """Return how many bytes of a journal are whole lines: where a torn last line begins, or the whole file."""
    with path.open("rb") as file:
        end = file.seek(0, 2)
        position = end
        while position > 0:
            step = min(_TAIL, position)
            position -= step
            file.seek(position)
            newline = file.read(step).rfind(b"\n")
            if newline >= 0:
                return position + newline + 1
    return 0

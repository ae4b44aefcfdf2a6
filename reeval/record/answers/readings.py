"""What of a recorded run is an analysis made of? Its record, what its attempts hold, and the words of any of them.

All of it is masked again, before anything is cut: a secret may be known today that was not when the run was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TypeVar

import msgspec

from reeval.errors import RecordError
from reeval.grade.analysis.findings import Findings
from reeval.grade.analysis.texts import attempt_texts
from reeval.record.compile import load_record
from reeval.record.format.masking import rewrite_line, rewrite_record
from reeval.record.store import RunDirectory
from reeval.schema.record import AttemptRecord, EvalRecord, FileRef
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.secrets import Masker

__all__ = ["RunReading"]

T = TypeVar("T")
_REMEMBERED = 4
"""Attempts whose words are kept: claims quote the same few again and again."""


class RunReading:
    """A recorded run, read as far as it can be: a part that is damaged or gone leaves the others readable."""

    def __init__(self, run: RunDirectory, masker: Masker) -> None:
        self.run = run
        self._masker = masker
        self.record = load_record(run)
        if masker:
            self.record = rewrite_record(self.record, masker.text)
        self.texts = lru_cache(_REMEMBERED)(self._texts)
        """Takes the ids of an eval and an attempt; returns every text there is of it, masked."""

    @cached_property
    def attempts(self) -> frozenset[tuple[str, str]]:
        """Every attempt, by the ids of its eval and its own."""
        return frozenset(self._lines)

    @cached_property
    def _lines(self) -> dict[tuple[str, str], tuple[int, int]]:
        return {(one.id, entry.attempt): entry.line for one in self.record.evals for entry in one.attempts}

    def findings(self) -> Findings:
        """Count what the attempts hold, one at a time in memory."""
        found = Findings()
        for attempt in self.run.attempts():
            checks = _tried(self.run.checks, attempt, attempt.checks)
            judgments = _tried(self.run.judgments, attempt, attempt.judgments)
            # Without its transcript, which is not counted and would be the most to mask.
            small = msgspec.structs.replace(attempt, checks=checks, judgments=judgments, turns=[], diff="", log="")
            masked = self._masked(small)
            found.add(masked, _inline(masked.checks), _inline(masked.judgments))
        return found

    def whole(self, eval_id: str, attempt: str) -> AttemptRecord:
        """Return an attempt with its parts; what cannot be read stays a reference."""
        record = self.run.attempt_at(*self._lines[eval_id, attempt])
        whole = msgspec.structs.replace(
            record,
            turns=_tried(self.run.turns, record, record.turns),
            checks=_tried(self.run.checks, record, record.checks),
            diff=_tried(self.run.diff, record, record.diff),
            log=_tried(self.run.log, record, record.log),
            commands=_tried(self.run.commands, record, record.commands),
            judgments=_tried(self.run.judgments, record, record.judgments),
        )
        return self._masked(whole)

    def _texts(self, eval_id: str, attempt: str) -> list[str]:
        record = self.whole(eval_id, attempt)
        planned = next(one for one in self.record.evals if one.id == eval_id)
        return [text for text in attempt_texts(record, _answers(planned, attempt)) if text]

    def _masked(self, record: AttemptRecord) -> AttemptRecord:
        return rewrite_line(record, self._masker.text) if self._masker else record


def _tried(read: Callable[[AttemptRecord], T], record: AttemptRecord, otherwise: T | FileRef) -> T | FileRef:
    if not isinstance(otherwise, FileRef):
        return otherwise
    try:
        return read(record)
    except RecordError:
        return otherwise


def _inline(part: list[T] | FileRef) -> list[T]:
    return [] if isinstance(part, FileRef) else part


def _answers(planned: EvalRecord, attempt: str) -> list[AnswerRecord | PairRecord]:
    own = [answer for entry in planned.attempts if entry.attempt == attempt for answer in entry.answers]
    return [*own, *(pair for pair in planned.answers if attempt in {pair.left, pair.right})]

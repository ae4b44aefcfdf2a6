"""Which evals are done, and what did they come to, while the run goes on? The same folds as in its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reeval.grade.cells import CellFold
from reeval.grade.early.early import Early, place_of
from reeval.grade.early.rules import cell_record, early_of
from reeval.schema.plan import PlannedAttempt, PlannedEval
from reeval.schema.record import AttemptEntry, AttemptRecord, EvalRecord

__all__ = ["EvalFolds"]


@dataclass
class _Fold:
    cells: dict[str, CellFold]
    entries: list[AttemptEntry] = field(default_factory=list)
    finished: int = 0
    left_out: int = 0
    early: Early | None = None
    """What stops the eval's runs; a compare is never told here."""


class EvalFolds:
    """Adds up attempts by eval, and forgets an eval once it is done."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        """Ids of the evals whose every planned attempt was added."""
        self._open: dict[str, _Fold] = {}

    def add(self, attempt: PlannedAttempt, record: AttemptRecord) -> EvalRecord | None:
        """Count an attempt; return its eval's record when that was the last one, without its list of attempts.

        An eval with questions or a compare is never done here.
        """
        planned = attempt.eval
        fold = self._of(planned)
        if fold.early is not None:
            fold.early.add(place_of(attempt.cell), attempt.case, attempt.run, record.outcome)
        fold.cells[attempt.cell.key].add(record)
        fold.finished += 1
        if planned.cases or planned.data:
            fold.entries.append(_entry(record))
        if fold.finished + fold.left_out < planned.attempts:
            return None
        if planned.questions or planned.compare:  # its block says what was answered, or the lift: both come later
            del self._open[planned.id]
            return None
        self.done.add(planned.id)
        return _record(planned, self._open.pop(planned.id))

    def leave_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """Wait no longer for attempts that need not run. An attempt of theirs is still to be added."""
        for attempt in attempts:
            self._of(attempt.eval).left_out += 1

    def _of(self, planned: PlannedEval) -> _Fold:
        fold = self._open.get(planned.id)
        if fold is None:
            cells = {cell.key: CellFold() for cell in planned.cells}
            early = early_of(planned, seed="") if planned.until == "majority" else None
            fold = self._open[planned.id] = _Fold(cells, early=early)
        return fold


def _entry(record: AttemptRecord) -> AttemptEntry:
    return AttemptEntry(
        attempt=record.attempt,
        outcome=record.outcome,
        duration=record.duration,
        line=(0, 0),
        verdict=record.verdict,
        score=record.score,
        reason=record.failure.reason if record.failure else None,
        analysis=record.failure.analysis if record.failure else "",
    )


def _record(planned: PlannedEval, fold: _Fold) -> EvalRecord:
    return EvalRecord(
        id=planned.id,
        file=planned.file,
        path=planned.path,
        slug=planned.slug,
        kind=planned.kind,
        asks=planned.data.question if planned.data else None,
        cases=planned.cases,
        cells=[cell_record(planned, cell, fold.cells[cell.key], fold.early) for cell in planned.cells],
        attempts=fold.entries,
    )

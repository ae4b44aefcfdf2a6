"""Which evals are done, and what did they come to, while the run goes on? The same folds as in its record."""

from __future__ import annotations

from dataclasses import dataclass, field

from reeval.grade.cells import CellFold, gate_of
from reeval.schema.plan import PlannedAttempt, PlannedEval
from reeval.schema.record import AttemptEntry, AttemptRecord, EvalRecord

__all__ = ["EvalFolds"]


@dataclass
class _Fold:
    cells: dict[str, CellFold]
    entries: list[AttemptEntry] = field(default_factory=list)
    finished: int = 0


class EvalFolds:
    """Adds up attempts by eval, and forgets an eval once it is done."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        """Ids of the evals whose every planned attempt was added."""
        self._open: dict[str, _Fold] = {}

    def add(self, attempt: PlannedAttempt, record: AttemptRecord) -> EvalRecord | None:
        """Count an attempt; return its eval's record when that was the last one, without its list of attempts.

        An eval with questions is never done here.
        """
        planned = attempt.eval
        fold = self._open.get(planned.id)
        if fold is None:
            fold = self._open[planned.id] = _Fold({cell.key: CellFold() for cell in planned.cells})
        fold.cells[attempt.cell.key].add(record)
        fold.finished += 1
        if planned.cases:
            fold.entries.append(_entry(record))
        if fold.finished < planned.attempts:
            return None
        if planned.questions:  # its block says what was answered, and that comes later
            del self._open[planned.id]
            return None
        self.done.add(planned.id)
        return _record(planned, self._open.pop(planned.id))


def _entry(record: AttemptRecord) -> AttemptEntry:
    return AttemptEntry(
        attempt=record.attempt,
        outcome=record.outcome,
        duration=record.duration,
        line=(0, 0),
        verdict=record.verdict,
        score=record.score,
    )


def _record(planned: PlannedEval, fold: _Fold) -> EvalRecord:
    each = len(planned.cases or (None,)) * planned.runs
    return EvalRecord(
        id=planned.id,
        file=planned.file,
        path=planned.path,
        slug=planned.slug,
        kind=planned.kind,
        cases=planned.cases,
        cells=[fold.cells[cell.key].record(cell, planned=each, gate=gate_of(planned, cell)) for cell in planned.cells],
        attempts=fold.entries,
    )

"""What do the data questions of a run add up to? ``NN% (passed/total)`` of each cell, and the gate over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from reeval.grade.early.early import Place
from reeval.schema.record import AccuracyRecord, CellRecord, EvalRecord, GateResult

__all__ = ["with_accuracy"]

ACCURACY = "accuracy"


def with_accuracy(evals: Sequence[EvalRecord]) -> tuple[list[EvalRecord], list[AccuracyRecord]]:
    """Return the evals, gates of data questions settled over all of them together, and each cell's accuracy."""
    tallies: dict[Place, _Tally] = {}
    for one in evals:
        for cell in one.cells if one.asks is not None else ():
            tallies.setdefault(_place(cell), _Tally(cell)).add(cell, one.runs)
    if not tallies:
        return list(evals), []
    found = {place: tally.record() for place, tally in tallies.items()}
    settled = [one if one.asks is None else _settled(one, found) for one in evals]
    return settled, list(found.values())


@dataclass
class _Tally:
    """The questions of one cell."""

    cell: CellRecord
    total: int = 0
    passed: int = 0
    open: int = 0
    """Questions that could still pass: an attempt ended in an error, or has not ended."""
    attempts: int = 0
    attempts_passed: int = 0
    most_runs: int = 1

    def add(self, cell: CellRecord, runs: int) -> None:
        self.total += 1
        self.passed += _passed(cell)
        self.open += _is_open(cell)
        self.attempts += cell.planned
        self.attempts_passed += cell.passed
        self.most_runs = max(self.most_runs, runs)

    def record(self) -> AccuracyRecord:
        repeated = self.most_runs > 1 and self.attempts
        return AccuracyRecord(
            key=self.cell.key,
            harness=self.cell.harness,
            sandbox=self.cell.sandbox,
            environment=self.cell.environment,
            role=self.cell.role,
            passed=self.passed,
            total=self.total,
            mean=self.attempts_passed / self.attempts if repeated else None,
            gate=self._gate(),
        )

    def _gate(self) -> GateResult:
        rule, given = self.cell.gate.rule, self.cell.gate.minimum
        if rule == "none":
            return GateResult(rule=rule)
        minimum = 1.0 if given is None else given
        # Counted and not divided: 7 of 10 hold an accuracy of 0.7, whatever 0.7 is in binary.
        holds = self.passed >= minimum * self.total - 1e-9
        fails = self.passed + self.open < minimum * self.total - 1e-9
        return GateResult(
            rule=rule,
            minimum=given,
            value=self.passed / self.total,
            holds=holds if holds or fails else None,
            undecided=not (holds or fails),
        )


def _place(cell: CellRecord) -> Place:
    return cell.harness, cell.environment, cell.sandbox


def _passed(cell: CellRecord) -> bool:
    return cell.planned > 0 and cell.passed == cell.planned


def _is_open(cell: CellRecord) -> bool:
    return not _passed(cell) and not cell.failed and not cell.review


def _settled(one: EvalRecord, found: dict[Place, AccuracyRecord]) -> EvalRecord:
    """Return a question whose gates say what it has to do with the gate over all questions."""
    cells = [
        msgspec.structs.replace(cell, gate=_share(cell, found[_place(cell)].gate))
        if cell.gate.rule == ACCURACY
        else cell
        for cell in one.cells
    ]
    return msgspec.structs.replace(one, cells=cells)


def _share(cell: CellRecord, gate: GateResult) -> GateResult:
    """Return a question's part in the gate: it is to blame where the gate does not hold and it did not pass."""
    passed, undecided = _passed(cell), gate.undecided and _is_open(cell)
    blamed = gate.holds is False and not passed and not _is_open(cell)
    return msgspec.structs.replace(
        gate, value=None, holds=True if passed else False if blamed else None, undecided=undecided
    )

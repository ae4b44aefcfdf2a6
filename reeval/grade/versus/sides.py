"""What did a run's attempts come to, cell by cell? Kept so small that two whole runs are held side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reeval.grade.comparing.sides import SideFold
from reeval.schema.plan import Plan, PlannedCell, PlannedEval
from reeval.schema.record import AttemptRecord, Outcome, RunRecord

__all__ = ["CellSide", "Place", "RunFold", "RunSide"]


class Place(NamedTuple):
    """A cell of an eval: what two runs must share to be compared there."""

    eval: str
    harness: str
    environment: str
    sandbox: str

    @classmethod
    def of(cls, planned: PlannedEval, cell: PlannedCell) -> Place:
        """Return the place of a planned cell."""
        return cls(planned.id, cell.harness, cell.environment, cell.sandbox)

    @property
    def cell(self) -> str:
        """``terse/plain/fake``."""
        return f"{self.harness}/{self.environment}/{self.sandbox}"


@dataclass(kw_only=True)
class CellSide:
    """The attempts of one cell of one run."""

    attempts: SideFold
    models: frozenset[str] = frozenset()
    """Models that served them, as they called themselves."""
    skipped: int = 0

    def add(self, attempt: AttemptRecord, *, tool_calls: int | None) -> None:
        """Count one finished attempt (see ``SideFold.add``)."""
        self.attempts.add(attempt, tool_calls=tool_calls)
        self.skipped += attempt.outcome is Outcome.SKIPPED
        if attempt.model:
            self.models |= {attempt.model}


@dataclass(frozen=True, kw_only=True)
class RunSide:
    """A whole run, ready to be compared."""

    record: RunRecord
    plan: Plan
    cells: Mapping[Place, CellSide]
    """Those of the plan that run."""


class RunFold:
    """Takes the attempts of a run one by one, in any order, and keeps a few numbers of each."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._cells = {
            Place.of(planned, cell): CellSide(attempts=SideFold(planned.cases))
            for planned in plan.evals
            if planned.mode == "run"
            for cell in planned.cells
        }

    def add(self, attempt: AttemptRecord, *, tool_calls: int | None) -> None:
        """Count one finished attempt; one that no cell of the plan stands for is passed over."""
        place = Place(attempt.eval, attempt.harness, attempt.environment, attempt.sandbox)
        if place in self._cells:
            self._cells[place].add(attempt, tool_calls=tool_calls)

    def run(self, record: RunRecord) -> RunSide:
        """Return the whole."""
        return RunSide(record=record, plan=self._plan, cells=self._cells)

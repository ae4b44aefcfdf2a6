"""What do the settled attempts of one eval say of those that have not run? The common part of both rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import GateResult, Outcome

if TYPE_CHECKING:
    from reeval.grade.compared.stopping import Stopped

__all__ = ["Early", "Group", "Place", "passed", "place_of"]

Place = tuple[str, str, str]
"""Harness, environment and sandbox: a cell."""
Group = tuple[Place, str | None]
"""The attempts of one cell and case; None: the eval has no cases."""


def place_of(cell: PlannedCell) -> Place:
    """Return which cell it is."""
    return cell.harness, cell.environment, cell.sandbox


class Early(ABC):
    """One eval whose runs stop early. Attempts are added in any order; what a rule says does not depend on it."""

    def __init__(self, planned: PlannedEval) -> None:
        self.planned = planned
        self.cases: tuple[str | None, ...] = planned.cases or (None,)
        self.outcomes: dict[Group, dict[int, Outcome]] = {
            (place_of(cell), case): {} for cell in planned.cells for case in self.cases
        }
        """By run, from 1. An attempt that is not there is not settled."""

    def add(self, place: Place, case: str | None, run: int, outcome: Outcome) -> None:
        """Count an attempt that is settled; one that the plan does not have is left out."""
        runs = self.outcomes.get((place, case))
        if runs is not None and 0 < run <= self.planned.runs and run not in runs:
            runs[run] = outcome
            self._added((place, case), run)

    @abstractmethod
    def needed(self, group: Group, run: int) -> bool:
        """Say whether an attempt has to run, as far as is known by now."""

    @abstractmethod
    def closed(self) -> list[Group]:
        """Return the groups of which more attempts need not run than when this was asked before."""

    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Return what to say of attempts that were not run, or not looked at."""

    def gate(self, cell: PlannedCell, gate: ResolvedGate, *, body_errors: bool) -> GateResult | None:  # noqa: ARG002 - a hook
        """Return what a gate says that looks at more than a cell's counts; None: they are enough."""
        return None

    def told(self) -> dict[Place, Stopped]:
        """Return what is known of each variant, by its cell; nothing unless the rule decides a compare."""
        return {}

    @abstractmethod
    def _added(self, group: Group, run: int) -> None: ...

    def groups(self, cell: PlannedCell) -> Iterator[Group]:
        """Yield the groups of a cell."""
        return ((place_of(cell), case) for case in self.cases)

    def had_to_run(self, cell: PlannedCell) -> int:
        """Return how many attempts of a cell ran or still have to."""
        return sum(
            run in self.outcomes[group] or self.needed(group, run)
            for group in self.groups(cell)
            for run in range(1, self.planned.runs + 1)
        )

    def spare_errors(self, cell: PlannedCell) -> int:
        """Return how many attempts of a cell ended as error and need not be run again: they were not needed."""
        return sum(
            outcome is Outcome.ERROR and not self.needed(group, run)
            for group in self.groups(cell)
            for run, outcome in self.outcomes[group].items()
        )

    @property
    def not_run(self) -> int:
        """How many attempts of the plan need not run and have not."""
        return self.planned.attempts - sum(map(self.had_to_run, self.planned.cells))


def passed(outcome: Outcome) -> bool | None:
    """Return whether an attempt passed; None: an error or a skip, which says nothing of the agent."""
    if outcome in {Outcome.ERROR, Outcome.SKIPPED}:
        return None
    return outcome is Outcome.PASS

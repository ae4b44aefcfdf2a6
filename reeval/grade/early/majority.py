"""Does a cell pass by majority? ``runs = {best_of = N}``: until the attempts to come cannot change that.

Each case has a majority of its own. The order of attempts does not matter: what is settled stays settled.
"""

from __future__ import annotations

from reeval.grade.compared.stopping import best_of
from reeval.grade.early.early import Early, Group, passed
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import GateResult, Outcome

__all__ = ["MAJORITY", "Majority"]

MAJORITY = "majority"
"""The rule of a gate: the majority of each case's attempts passes."""


class Majority(Early):
    """The cells and cases of an eval while their attempts settle."""

    def __init__(self, planned: PlannedEval) -> None:
        super().__init__(planned)
        self._settled: set[Group] = set()
        self._new: list[Group] = []

    def needed(self, group: Group, run: int) -> bool:  # noqa: ARG002 - whichever runs come, they are votes alike
        """Say whether the majority of its cell and case is open."""
        return group not in self._settled

    def closed(self) -> list[Group]:
        """Return the groups that settled since this was asked before."""
        found, self._new = self._new, []
        return found

    def notes(self) -> tuple[str, ...]:
        """Say how many attempts no majority needed."""
        left = self.not_run if not any(map(self._open, self.outcomes)) else 0
        were = "was" if left == 1 else "were"
        return (f"{left:,} of {self.planned.attempts:,} attempts {were} not needed for a majority",) if left else ()

    def gate(self, cell: PlannedCell, gate: ResolvedGate, *, body_errors: bool) -> GateResult | None:
        """Return whether every case of a cell passes; None: its gate is another one.

        Here an error is open, since run again it could still have a vote. An error of the body may well depend on what
        the agent did, so the cell never passes around it.
        """
        if gate.rule != MAJORITY:
            return None
        votes = [self._verdict(group) for group in self.groups(cell) if not self._only_skipped(group)]
        if not votes:
            return GateResult(rule=MAJORITY)
        holds: bool | None = None
        if False in votes:
            holds = False
        elif None not in votes and not body_errors:
            holds = True
        known = [vote for vote in votes if vote is not None]
        value = sum(known) / len(known) if known else None
        return GateResult(rule=MAJORITY, value=value, holds=holds, undecided=holds is None)

    def _added(self, group: Group, run: int) -> None:  # noqa: ARG002 - votes are counted, not ordered
        if group in self._settled:
            return
        good, bad, mute = self._counts(group)
        if best_of(good, bad, mute, self.planned.runs) is not None:
            self._settled.add(group)
            self._new.append(group)

    def _open(self, group: Group) -> bool:
        return group not in self._settled and len(self.outcomes[group]) < self.planned.runs

    def _counts(self, group: Group) -> tuple[int, int, int]:
        votes = [passed(outcome) for outcome in self.outcomes[group].values()]
        return votes.count(True), votes.count(False), votes.count(None)

    def _verdict(self, group: Group) -> bool | None:
        good, bad, _ = self._counts(group)
        skipped = list(self.outcomes[group].values()).count(Outcome.SKIPPED)
        return best_of(good, bad, 0, self.planned.runs - skipped)

    def _only_skipped(self, group: Group) -> bool:
        found = self.outcomes[group].values()
        return len(found) == self.planned.runs and set(found) == {Outcome.SKIPPED}

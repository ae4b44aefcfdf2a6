"""Is the answer of a compare known? ``runs = {until_decided = MAX}``: until every variant is told from its control.

The rule is fed run by run: run k counts when it is settled on every side, on all harnesses, sandboxes and cases. Which
attempt was faster must not matter: where passes take longer than failures, looking at what finished first sees one
side's failures before the other's passes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from reeval.grade.compared.stopping import Stopped, looks, settled_runs, until_decided
from reeval.grade.early.early import Early, Group, Place, passed, place_of
from reeval.schema.plan import PlannedEval

__all__ = ["Decided", "Pair"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A variant and its control, on one harness and sandbox."""

    control: Place
    variant: Place


class Decided(Early):
    """The sides of a compare while runs are added. Once all pairs are told, later runs are not needed."""

    def __init__(self, planned: PlannedEval, *, seed: str) -> None:
        """``seed`` is the run's id."""
        super().__init__(planned)
        self._seed = seed
        self._settled: Counter[int] = Counter()
        self._looks = looks(planned.runs, len(planned.cases)) if planned.cases else range(1, planned.runs + 1)
        self._fed = 0
        self._looked = 0
        self._told: dict[Pair, Stopped] = {}
        self._closed = False
        controls = {(cell.harness, cell.sandbox): place_of(cell) for cell in planned.cells if cell.role == "control"}
        self._pairs = [
            Pair(control=control, variant=place_of(cell))
            for cell in planned.cells
            if cell.role == "variant" and (control := controls.get((cell.harness, cell.sandbox)))
        ]

    def needed(self, group: Group, run: int) -> bool:  # noqa: ARG002 - all groups stop alike
        """Say whether the answer is still open before this run."""
        last = self.last_run
        return last is None or run <= last

    def closed(self) -> list[Group]:
        """Return all groups once, when the answer is known."""
        if self._closed or self.last_run is None:
            return []
        self._closed = True
        return list(self.outcomes)

    @property
    def last_run(self) -> int | None:
        """The run after which every pair was told; None: not yet."""
        self._look()
        if not self._pairs or len(self._told) < len(self._pairs):
            return None
        return max(found.run or 0 for found in self._told.values())

    def told(self) -> dict[Place, Stopped]:
        """Return what is known of each variant, by its cell: valid however often it was looked at."""
        self._look()
        return {pair.variant: self._told.get(pair) or self._asked(pair) for pair in self._pairs}

    def notes(self) -> tuple[str, ...]:
        """Say after how many runs the answer was known."""
        last, most = self.last_run, self.planned.runs
        if last is None or last == most:
            return ()
        later = sum(run > last for runs in self.outcomes.values() for run in runs)
        was = f"; {later} of later runs, which had started, {'is' if later == 1 else 'are'} not looked at"
        return (f"decided after {last} of at most {most} runs a side{was if later else ''}",)

    def _added(self, group: Group, run: int) -> None:  # noqa: ARG002 - every group counts alike
        self._settled[run] += 1
        while self._settled[self._fed + 1] == len(self.outcomes):
            self._fed += 1

    def _look(self) -> None:
        """Ask the rule, when a run was added since it was asked after which it may tell."""
        looked, self._looked = self._looked, self._fed
        if not any(looked < run <= self._fed for run in self._looks):
            return
        for pair in self._pairs:
            if pair not in self._told and (found := self._asked(pair, open_interval=False)).run is not None:
                self._told[pair] = found

    def _asked(self, pair: Pair, *, open_interval: bool = True) -> Stopped:
        others = {place for place, _ in self.outcomes} - {pair.control, pair.variant}
        runs = settled_runs(
            self._side(pair.control), self._side(pair.variant), others=[*map(self._side, others)], cases=self.cases
        )
        return until_decided(
            runs,
            most=self.planned.runs,
            cases=bool(self.planned.cases),
            seed=self._seed,
            open_interval=open_interval,
        )

    def _side(self, place: Place) -> dict[tuple[str | None, int], bool | None]:
        return {
            (case, run): passed(outcome) for case in self.cases for run, outcome in self.outcomes[place, case].items()
        }

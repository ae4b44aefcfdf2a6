"""Did it get better or worse between two runs? A lift for each cell that both have, and one over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reeval.grade.compared.differences import Counted
from reeval.grade.comparing.recorded import Pair, lift_record
from reeval.grade.versus.matching import Apart, match
from reeval.grade.versus.sides import CellSide, Place, RunSide
from reeval.grade.versus.subjects import differences
from reeval.schema.record import RunRecord
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["ChangedCheck", "ComparedCell", "ComparedEval", "PooledCells", "Versus", "versus"]

_MOST_CHECKS = 20


@dataclass(frozen=True, kw_only=True)
class ChangedCheck:
    """A check that was evaluated in both runs, and held in another share of attempts."""

    label: str
    earlier: Counted
    later: Counted

    @property
    def change(self) -> float:
        """Share of the later run minus that of the earlier one."""
        return self.later.held / self.later.evaluated - self.earlier.held / self.earlier.evaluated


@dataclass(frozen=True, kw_only=True)
class ComparedCell:
    """One cell of both runs: the earlier one is the control."""

    place: Place
    earlier: CellSide
    later: CellSide
    lift: LiftRecord
    """Control and variant are the same environment, in the earlier and in the later run."""
    checks: tuple[ChangedCheck, ...] = ()
    """Of a lift that can be told: the checks that hold more or less often, those that changed most first."""


@dataclass(frozen=True, kw_only=True)
class ComparedEval:
    """One eval that both runs asked."""

    id: str
    path: tuple[str, ...]
    cells: tuple[ComparedCell, ...]


@dataclass(frozen=True, kw_only=True)
class PooledCells:
    """What several evals say together; no attempts are added up."""

    cell: str | None
    """``terse/plain/fake``; None: over all cells."""
    lift: LiftRecord


@dataclass(frozen=True, kw_only=True)
class Versus:
    """Two runs, compared."""

    earlier: RunRecord
    later: RunRecord
    scored: bool
    evals: tuple[ComparedEval, ...]
    pooled: tuple[PooledCells, ...]
    apart: tuple[Apart, ...]
    """What is not compared."""
    differences: tuple[str, ...]
    """In what ran the cells; empty: nothing that is recorded."""

    def worse(self) -> Iterator[tuple[str, LiftRecord]]:
        """Yield what got worse, cells first: what it is (``EVAL@CELL``, ``all evals@CELL``), and its lift."""
        cells = ((f"{it.place.eval}@{it.place.cell}", it.lift) for one in self.evals for it in one.cells)
        pools = (("all evals" + (f"@{it.cell}" if it.cell else ""), it.lift) for it in self.pooled)
        yield from ((what, it) for what, it in (*cells, *pools) if it.said == "made it worse")


def versus(earlier: RunSide, later: RunSide) -> Versus:
    """Compare two runs; raise ``UsageError`` when they have nothing in common. Chance is seeded by the later run."""
    plans = [(f"run {run.record.run_id}", run.plan) for run in (earlier, later)]
    matching = match(plans[0], plans[1])
    scored = later.plan.kind == "scored"
    seed = later.record.run_id
    evals = tuple(
        ComparedEval(
            id=planned.id,
            path=planned.path,
            cells=tuple(_cell(place, (earlier, later), scored=scored, seed=seed) for place in places),
        )
        for planned, places in matching.evals
    )
    return Versus(
        earlier=earlier.record,
        later=later.record,
        scored=scored,
        evals=evals,
        pooled=tuple(_pooled(evals, scored=scored, seed=seed)),
        apart=matching.apart,
        differences=tuple(differences(earlier, later, matching.evals)),
    )


def _cell(place: Place, runs: tuple[RunSide, RunSide], *, scored: bool, seed: str) -> ComparedCell:
    old, new = (run.cells[place] for run in runs)
    lift = lift_record([_pair(place, old, new)], scored=scored, seed=seed)
    checks = () if lift.said == "can't tell yet" else tuple(_changed(old, new))
    return ComparedCell(place=place, earlier=old, later=new, lift=lift, checks=checks)


def _changed(earlier: CellSide, later: CellSide) -> list[ChangedCheck]:
    sides = earlier.attempts.checks(), later.attempts.checks()
    both = [ChangedCheck(label=it, earlier=sides[0][it], later=sides[1][it]) for it in sides[1] if it in sides[0]]
    return sorted((it for it in both if it.change), key=lambda it: -abs(it.change))[:_MOST_CHECKS]


def _pair(place: Place, earlier: CellSide, later: CellSide) -> Pair:
    return Pair(
        eval=place.eval,
        control=place.environment,
        variant=place.environment,
        harness=place.harness,
        sandbox=place.sandbox,
        sides=(earlier.attempts, later.attempts),
    )


def _pooled(evals: Sequence[ComparedEval], *, scored: bool, seed: str) -> Iterator[PooledCells]:
    """Yield a lift for each cell that several evals have, and one over all where there are several cells."""
    cells: defaultdict[str, list[ComparedCell]] = defaultdict(list)
    for one in evals:
        for cell in one.cells:
            cells[cell.place.cell].append(cell)
    groups: dict[str | None, list[ComparedCell]] = {key: several for key, several in cells.items() if len(several) > 1}
    if len(cells) > 1 and len(evals) > 1:
        groups[None] = [cell for several in cells.values() for cell in several]
    for key, several in groups.items():
        pairs = [_pair(it.place, it.earlier, it.later) for it in several]
        yield PooledCells(cell=key, lift=lift_record(pairs, scored=scored, seed=seed))

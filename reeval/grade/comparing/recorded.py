"""What did the variants of a compare do? A run's attempts become the lifts of its record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from reeval.grade.compared.boschloo import LEVEL, boschloo
from reeval.grade.compared.differences import measured, without_difference
from reeval.grade.compared.lifts import Lift
from reeval.grade.compared.pooled import Stratum, pooled_lift
from reeval.grade.compared.stopping import Stopped
from reeval.grade.comparing.sides import MEASURES, SideFold
from reeval.grade.comparing.told import until_told, untold
from reeval.schema.plan import PlannedEval
from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.lifts import LiftRecord, MeasureRecord

__all__ = ["CompareFold", "Pair", "flags_of", "lift_record", "measure_records", "pooled_lifts"]

Place = tuple[str, str, str]
"""Harness, environment and sandbox."""
_MOST_ALIKE = 20
_MUCH = 0.25
"""Points between two error rates that are flagged however few attempts there are."""
_PLACES = 9
"""0.6 - 0.4 is at least 0.2, whatever floats say."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A variant and its control, on one harness and sandbox of an eval."""

    eval: str
    control: str
    variant: str
    harness: str
    sandbox: str
    sides: tuple[SideFold, SideFold]
    """Control, variant."""

    @property
    def stratum(self) -> Stratum:
        """The decided attempts of both."""
        return Stratum(eval=self.eval, control=self.sides[0].side, variant=self.sides[1].side)


class CompareFold:
    """The attempts of one eval with a compare."""

    def __init__(self, planned: PlannedEval) -> None:
        self._planned = planned
        self._sides = {
            (cell.harness, cell.environment, cell.sandbox): SideFold(planned.cases)
            for cell in planned.cells
            if cell.role
        }

    def add(self, attempt: AttemptRecord, *, tool_calls: int | None) -> None:
        """Count one finished attempt of the eval, each attempt once, in any order."""
        side = self._sides.get((attempt.harness, attempt.environment, attempt.sandbox))
        if side is not None:
            side.add(attempt, tool_calls=tool_calls)

    def pairs(self) -> Iterator[Pair]:
        """Yield every variant on every harness and sandbox that runs it, variant by variant."""
        compare = self._planned.compare
        for variant in compare.variants if compare else ():
            for (harness, environment, sandbox), side in self._sides.items():
                control = self._sides.get((harness, compare.control, sandbox)) if compare else None
                if environment == variant and control is not None and compare:
                    yield Pair(
                        eval=self._planned.id,
                        control=compare.control,
                        variant=variant,
                        harness=harness,
                        sandbox=sandbox,
                        sides=(control, side),
                    )

    def lifts(self, seed: str, told: Mapping[Place, Stopped]) -> list[LiftRecord]:
        """Return a lift for each variant and harness, then the stratified ones; ``seed`` is the run's id.

        ``told`` is by the variant's harness, environment and sandbox what is known where runs were added until decided.
        """
        scored = self._planned.kind == "scored"
        pairs = list(self.pairs())
        variants: defaultdict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            variants[pair.variant].append(pair)
        stratified = [
            lift_record(several, scored=scored, seed=seed) for several in variants.values() if len(several) > 1
        ]
        alone = [
            self._alone(pair, told.get((pair.harness, pair.variant, pair.sandbox)), scored, seed) for pair in pairs
        ]
        return [*alone, *map(untold, stratified)] if self.stops_early else [*alone, *stratified]

    @property
    def stops_early(self) -> bool:
        """Whether its runs were added until it was decided."""
        return self._planned.until == "decided"

    def _alone(self, pair: Pair, told: Stopped | None, scored: bool, seed: str) -> LiftRecord:
        compare, runs = self._planned.compare, self._planned.runs
        least = compare.min_lift if compare and compare.gate != "none" else None
        found = lift_record([pair], scored=scored, seed=seed)
        if told is not None:
            runs = told.run or runs
            found = until_told(found, pair.sides, told, runs)
        if least is None:
            return found
        holds = _holds(pair.sides, runs, least, scored=scored)
        undecided = holds is None and all(side.bounds(runs) for side in pair.sides)
        return structs.replace(found, min_lift=least, holds=holds, undecided=undecided)


def pooled_lifts(folds: Collection[CompareFold], *, scored: bool, seed: str) -> list[LiftRecord]:
    """Return a lift for each control and variant that several evals compare."""
    found: defaultdict[tuple[str, str], list[Pair]] = defaultdict(list)
    for fold in folds:
        for pair in fold.pairs():
            found[pair.control, pair.variant].append(pair)
    several = [pairs for pairs in found.values() if len({pair.eval for pair in pairs}) > 1]
    early = {pair.eval for fold in folds if fold.stops_early for pair in fold.pairs()}
    lifts = [lift_record(pairs, scored=scored, seed=seed) for pairs in several]
    return [
        untold(lift) if early & {pair.eval for pair in pairs} else lift
        for lift, pairs in zip(lifts, several, strict=True)
    ]


def lift_record(pairs: Sequence[Pair], *, scored: bool, seed: str) -> LiftRecord:
    """Return the lift over ``pairs``, which all have the same control and variant."""
    found = pooled_lift([pair.stratum for pair in pairs], scored=scored, seed=seed)
    passed = [0 if scored else sum(pair.sides[side].passed for pair in pairs) for side in (0, 1)]
    means = _means(pairs)
    low, high = found.interval or (None, None)
    alone = len(pairs) == 1
    evals = {pair.eval for pair in pairs}
    return LiftRecord(
        variant=pairs[0].variant,
        control=pairs[0].control,
        harness=_only({pair.harness for pair in pairs}),
        sandbox=_only({pair.sandbox for pair in pairs}),
        scored=scored,
        control_passed=passed[0],
        control_decided=found.decided[0],
        variant_passed=passed[1],
        variant_decided=found.decided[1],
        control_mean=means[0],
        variant_mean=means[1],
        lift=found.lift,
        low=low,
        high=high,
        p=found.p,
        said=found.said.value,
        doubt=found.doubt and found.doubt.value,
        cases=found.cases,
        evals=_evals(found, evals),
        measures=measure_records(*pairs[0].sides, seed=seed) if alone else [],
        alike=_alike(pairs[0].sides) if alone else [],
        flags=sorted({flag for pair in pairs for flag in flags_of(pair.sides)}),
    )


def _only(names: set[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _evals(found: Lift, evals: set[str]) -> int | None:
    return found.evals if len(evals) > 1 and found.lift is not None else None


def _means(pairs: Sequence[Pair]) -> list[float | None]:
    """Return what each side's attempts average to, each pair once."""
    means = [[pair.sides[side].side.mean for pair in pairs] for side in (0, 1)]
    known = [[mean for mean in several if mean is not None] for several in means]
    return [sum(several) / len(several) if several else None for several in known]


def measure_records(control: SideFold, variant: SideFold, *, seed: str) -> list[MeasureRecord]:
    """Return how every measure changed that is known on both sides."""
    records = []
    for name in MEASURES:
        found = measured(control.measure(name), variant.measure(name), seed=seed)
        if found.control is not None and found.variant is not None:
            records.append(
                MeasureRecord(
                    name=name,
                    control=found.control,
                    variant=found.variant,
                    difference=found.difference,
                    relative=found.relative,
                    p=found.p,
                    said=found.said.value,
                )
            )
    return records


def _alike(sides: tuple[SideFold, SideFold]) -> list[str]:
    control, variant = (side.checks() for side in sides)
    both = {label: (counted, variant[label]) for label, counted in control.items() if label in variant}
    return without_difference(both)[:_MOST_ALIKE]


def flags_of(sides: tuple[SideFold, SideFold]) -> list[str]:
    """Return ``errors`` where the sides' error rates differ, ``identical`` where both ran the very same."""
    control, variant = sides
    found = ["errors"] if _errors_differ(control, variant) else []
    same = len(control.subjects) == 1 and control.subjects == variant.subjects
    return [*found, *(["identical"] if same else [])]


def _errors_differ(control: SideFold, variant: SideFold) -> bool:
    counts = [(side.errors, side.finished) for side in (control, variant)]
    if not all(finished for _, finished in counts):
        return False
    rates = [errors / finished for errors, finished in counts]
    return rates[0] != rates[1] and (abs(rates[0] - rates[1]) >= _MUCH or boschloo(counts[0], counts[1]) <= LEVEL)


def _holds(sides: tuple[SideFold, SideFold], runs: int, least: float, *, scored: bool) -> bool | None:
    """Say whether the lift is at least ``least``, whatever becomes of attempts without a result; None: they decide.

    An error of the body may well depend on what the agent did, so ``min_lift`` never holds around it.
    """
    control, variant = (side.bounds(runs) for side in sides)
    cases = control.keys() & variant.keys()
    if not cases:
        return None
    low = sum(_rate(variant[case], 0.0) - _rate(control[case], _best(scored)) for case in cases) / len(cases)
    high = sum(_rate(variant[case], _best(scored)) - _rate(control[case], 0.0) for case in cases) / len(cases)
    if round(high, _PLACES) < least:
        return False
    return True if round(low, _PLACES) >= least and not any(side.side.body_errors for side in sides) else None


def _best(scored: bool) -> float:
    return float("inf") if scored else 1.0


def _rate(bounds: tuple[float, int, int], each: float) -> float:
    """Return the mean if every attempt without a result were worth ``each``."""
    total, still_open, count = bounds
    return (total + (each * still_open if still_open else 0.0)) / count

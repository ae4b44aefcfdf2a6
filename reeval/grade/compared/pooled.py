"""What is the lift over several evals or harnesses? The mean of theirs: attempts are never added up.

Adding up would let the eval with the most attempts decide, or the sides' different numbers of them (Simpson's paradox).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from reeval.grade.calibration.intervals import Interval
from reeval.grade.compared.estimates import combined
from reeval.grade.compared.lifts import (
    FEWEST_ATTEMPTS,
    FEWEST_CASES,
    CaseDifference,
    Difference,
    Doubt,
    Lift,
    Part,
    Side,
    case_differences,
    has_cases,
    judged,
    lift,
    nothing,
    of_cases,
    part_of,
)
from reeval.grade.compared.resampling import two_sided

__all__ = ["Stratum", "pooled_lift"]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The two sides of one eval on one harness."""

    eval: str
    control: Side
    variant: Side


def pooled_lift(strata: Sequence[Stratum], *, scored: bool = False, seed: str) -> Lift:
    """Return the lift over several evals, on one harness or several; all are scored, or none is.

    Each eval counts once, and in it each harness once. An eval without a decided attempt on both sides does not count,
    nor does it on a harness where that is so. A case is one case on all harnesses: its attempts depend on each other.
    """
    if len(strata) == 1:
        return lift(strata[0].control, strata[0].variant, scored=scored, seed=seed)
    evals: defaultdict[str, list[Stratum]] = defaultdict(list)
    for stratum in strata:
        evals[stratum.eval].append(stratum)
    found = [_parts(several, scored=scored, seed=seed) for several in evals.values()]
    counted = [parts for parts in found if parts]
    if not counted:
        sides = [sum(getattr(one, side).decided for one in strata) for side in ("control", "variant")]
        return nothing(*sides)
    weighted = [(1 / (len(counted) * len(parts)), part) for parts in counted for part in parts]
    whole = _whole(weighted)
    nulls = [(weight, part.null) for weight, part in weighted]
    p = two_sided(whole.tested, nulls, seed=seed, size=sum(whole.decided))
    said, doubt = judged(whole, p, _doubt(strata, whole, len(counted)))
    return Lift(
        lift=whole.difference,
        interval=whole.interval,
        p=p,
        said=said,
        doubt=doubt,
        decided=whole.decided,
        cases=whole.cases,
        evals=len(counted),
    )


def _whole(weighted: Sequence[tuple[float, Part]]) -> Difference:
    cases = [part.cases for _, part in weighted if part.cases is not None]
    return Difference(
        difference=sum(weight * part.difference for weight, part in weighted),
        interval=_interval(weighted),
        tested=sum(weight * part.tested for weight, part in weighted),
        decided=(sum(part.decided[0] for _, part in weighted), sum(part.decided[1] for _, part in weighted)),
        cases=sum(cases) if cases else None,
    )


def _interval(weighted: Sequence[tuple[float, Part]]) -> Interval | None:
    """Return the interval around the whole; an eval whose scores do not vary adds nothing to its width."""
    if all(part.interval is None for _, part in weighted):
        return None
    ends = [(weight, part.difference, part.interval or (part.difference,) * 2) for weight, part in weighted]
    return combined(ends)


def _doubt(strata: Sequence[Stratum], whole: Difference, evals: int) -> Doubt | None:
    if any(side.body_errors for stratum in strata for side in (stratum.control, stratum.variant)):
        return Doubt.BODY_ERRORS
    if evals == 1 and whole.cases is not None and whole.cases < FEWEST_CASES:
        return Doubt.CASES
    return Doubt.ATTEMPTS if min(whole.decided) < FEWEST_ATTEMPTS else None


def _parts(strata: Sequence[Stratum], *, scored: bool, seed: str) -> list[Part]:
    """Return what one eval adds: a part for each harness, or one for all when cases tie them together."""
    if not any(has_cases(stratum.control) or has_cases(stratum.variant) for stratum in strata):
        parts = [part_of(one.control, one.variant, scored=scored, seed=seed) for one in strata]
        return [part for part in parts if part is not None]
    several: defaultdict[str | None, list[CaseDifference]] = defaultdict(list)
    for one in strata:
        for case, difference in case_differences(one.control, one.variant, scored=scored).items():
            several[case].append(difference)
    part = of_cases({case: _mean(found) for case, found in several.items()}, scored=scored, seed=seed)
    return [part] if part is not None else []


def _mean(found: Sequence[CaseDifference]) -> CaseDifference:
    return CaseDifference(
        control=fmean(one.control for one in found),
        variant=fmean(one.variant for one in found),
        even=sum((one.even for one in found[1:]), found[0].even) / len(found),
        decided=(sum(one.decided[0] for one in found), sum(one.decided[1] for one in found)),
    )

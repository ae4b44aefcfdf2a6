"""What may be said of a lift whose runs were added until it was decided? Not what a fixed number of runs would say."""

from __future__ import annotations

from msgspec import structs

from reeval.grade.compared.lifts import FEWEST_ATTEMPTS, FEWEST_CASES, Doubt, Said
from reeval.grade.compared.stopping import Stopped
from reeval.grade.comparing.sides import SideFold
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["until_told", "untold"]


def until_told(found: LiftRecord, sides: tuple[SideFold, SideFold], told: Stopped, runs: int) -> LiftRecord:
    """Return a lift as it was when it was told, after ``runs``: its figures, and what the rule for that says.

    There is no p: the rule goes by evidence that may be looked at after every run.
    """
    control, variant = (side.first(runs) for side in sides)
    low, high = told.interval or (None, None)
    doubt = None if told.said is not Said.OPEN else _doubt(found, told)
    if any(side.side.body_errors for side in sides):
        doubt = Doubt.BODY_ERRORS
    return structs.replace(
        found,
        control_passed=int(sum(control)),
        control_decided=len(control),
        variant_passed=int(sum(variant)),
        variant_decided=len(variant),
        control_mean=sum(control) / len(control) if control else None,
        variant_mean=sum(variant) / len(variant) if variant else None,
        lift=told.lift,
        low=low,
        high=high,
        p=None,
        said=told.said.value if doubt is None else Said.OPEN.value,
        doubt=doubt and doubt.value,
    )


def untold(found: LiftRecord) -> LiftRecord:
    """Return a lift over several compares of which some stopped when they were decided.

    Their number of runs depends on their passes, so an interval or a test that takes it as fixed would be wrong.
    """
    return structs.replace(found, low=None, high=None, p=None, said=Said.OPEN.value, doubt=Doubt.EARLY.value)


def _doubt(found: LiftRecord, told: Stopped) -> Doubt:
    if not told.pairs:
        return Doubt.NOTHING
    if found.cases is not None and found.cases < FEWEST_CASES:
        return Doubt.CASES
    return Doubt.ATTEMPTS if told.pairs < FEWEST_ATTEMPTS else Doubt.CHANCE

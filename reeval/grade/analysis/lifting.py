"""In which figures is a lift told? Counts of both sides, their means, the lift with its interval, other measures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from reeval.grade.analysis.figures import Figures, Unit
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["lift_figures"]

_ENDS = {
    "low": "lower end of the interval of the lift",
    "high": "upper end of the interval of the lift",
    "p": "p of the test of the lift",
}
_MEASURES = 10


def lift_figures(
    lift: LiftRecord, figures: Figures, *, run: str, of: tuple[str, ...], eval: str | None, sides: tuple[str, str]
) -> Iterator[str]:
    """Yield a line for each number of a lift; ``sides`` are the words for control and variant."""

    def add(short: str, value: float, unit: Unit) -> str:
        return "  " + figures.add(short, value, unit, run=run, of=of, eval=eval)

    for side, name in zip(("control", "variant"), sides, strict=True):
        if not lift.scored:
            yield add(f"attempts of {name} that passed", getattr(lift, f"{side}_passed"), "count")
        yield add(f"attempts of {name} that count", getattr(lift, f"{side}_decided"), "count")
        if (mean := getattr(lift, f"{side}_mean")) is not None:
            yield add(f"{'mean score' if lift.scored else 'pass rate'} of {name}", mean, "share")
    if lift.lift is not None:
        yield add(f"lift ({lift.said})", lift.lift, "share")
    for field, short in _ENDS.items():
        if (value := getattr(lift, field)) is not None:
            yield add(short, value, "share")
    for measure in islice(lift.measures, _MEASURES):
        if measure.relative is not None:
            yield add(f"relative difference of {measure.name} ({measure.said})", measure.relative, "share")

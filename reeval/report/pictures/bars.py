"""Which lifts does a picture show, what does it call each, and on which scale do they lie?

What comes out is the same for every way to draw it: escaped texts, and numbers that lie on the axis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from reeval.report.screen.numbers import plural
from reeval.report.text import one_line
from reeval.schema.plan import NO_ENVIRONMENT
from reeval.schema.record import RunRecord
from reeval.schema.recorded.lifts import LiftRecord, Said

__all__ = ["MARKS", "SHOWN_BARS", "Bar", "Picture", "Titled", "lifts_of", "picture_of", "tick_text"]

SHOWN_BARS = 40
"""Lifts that a picture shows; the rest is counted."""
MARKS: dict[Said, str] = {"helped": "▲", "made it worse": "▼", "can't tell yet": "○"}
"""So that nothing is told by color alone."""

Titled = tuple[str, LiftRecord]
"""A lift and what it is about, such as the name of its eval."""

_SIDES = ("the variant", "the control's")
_NAME_CELLS = 200
_STEPS = (1, 2, 5, 10)
_MINUS = "−"


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One lift, ready to be drawn. Texts are escaped; numbers are finite and lie on the picture's axis."""

    variant: str
    about: str
    """Eval, harness, and the sandbox where there are several: ``greets by name · scribe``."""
    numbers: str
    """``+1.00 [0.31, 1.00]``, or that a side has nothing decided."""
    said: Said
    notes: tuple[str, ...]
    """What makes it too small or doubtful, in a few words each; mostly none."""
    point: float | None
    span: tuple[float, float] | None
    """The interval; None: there is none."""

    @property
    def sentence(self) -> str:
        """Everything of it, for those who hear the picture."""
        return f"{self.variant}, {self.about}: {', '.join((self.numbers, self.said, *self.notes))}"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Lifts on one axis from ``-extent`` to ``extent``."""

    title: str
    meaning: str
    """What is drawn, in one line."""
    bars: tuple[Bar, ...]
    more: int
    """Lifts that are left out."""
    extent: float

    @property
    def summary(self) -> str:
        """``1 helped, 2 can't tell yet``, of the bars that are shown."""
        counts = Counter(bar.said for bar in self.bars)
        return ", ".join(f"{counts[said]} {said}" for said in MARKS if counts[said])

    @property
    def rest(self) -> str:
        """How many lifts are left out; empty: none."""
        return f"… {plural(self.more, 'more lift')}" if self.more else ""

    @property
    def ticks(self) -> tuple[float, ...]:
        """Where the axis has numbers."""
        return (-self.extent, -self.extent / 2, 0.0, self.extent / 2, self.extent)


def lifts_of(record: RunRecord) -> list[Titled]:
    """Return a run's lifts with what they are about: the pooled ones first, then those of each eval."""
    names = Counter(" › ".join(planned.path) for planned in record.evals)
    pooled = [("all evals" if lift.evals is None else plural(lift.evals, "eval"), lift) for lift in record.lifts]
    single = [
        (name if names[name := " › ".join(planned.path)] == 1 else planned.title, lift)
        for planned in record.evals
        for lift in planned.lifts
    ]
    return [*pooled, *single]


def picture_of(
    lifts: Sequence[Titled], *, most: int | None = SHOWN_BARS, sides: tuple[str, str] = _SIDES
) -> Picture | None:
    """Return the picture of some lifts; None when there are none. ``sides`` says what is subtracted from what.

    Of more than ``most`` (None: no limit) those that can be told come before those that cannot; their order stays.
    """
    if not lifts:
        return None
    shown = _chosen(lifts, most)
    several = len({lift.sandbox for _, lift in shown if lift.sandbox}) > 1
    with_harness = any(lift.harness for _, lift in shown)
    controls = {lift.control for _, lift in shown}
    control = _name(controls.pop()) if len(controls) == 1 else None
    scored = any(lift.scored for _, lift in shown)
    extent = _extent(lift for _, lift in shown) if scored else 1.0
    return Picture(
        title=f"Lift over {control or 'the control'}",
        meaning=f"{'mean score' if scored else 'pass rate'} of {sides[0]} minus {sides[1]}, with its 95 % interval",
        bars=tuple(
            _bar(lift, _about(title, lift, harness=with_harness, sandbox=several, control=control is None), extent)
            for title, lift in shown
        ),
        more=len(lifts) - len(shown),
        extent=extent,
    )


def tick_text(value: float) -> str:
    """``−1``, ``0``, ``+0.5``."""
    return f"{value:+g}".replace("-", _MINUS) if value else "0"


def _chosen(lifts: Sequence[Titled], most: int | None) -> list[Titled]:
    ranked = sorted(range(len(lifts)), key=lambda place: lifts[place][1].said == "can't tell yet")
    return [lifts[place] for place in sorted(ranked[:most])]


def _name(environment: str) -> str:
    return "no environment" if environment == NO_ENVIRONMENT else one_line(environment, _NAME_CELLS)


def _about(title: str, lift: LiftRecord, *, harness: bool, sandbox: bool, control: bool) -> str:
    parts = [one_line(title, _NAME_CELLS)]
    if harness:
        parts.append(one_line(lift.harness or "all harnesses", _NAME_CELLS))
    if sandbox:
        parts.append(one_line(lift.sandbox or "all sandboxes", _NAME_CELLS))
    if control:
        parts.append(f"over {_name(lift.control)}")
    return " · ".join(parts)


def _bar(lift: LiftRecord, about: str, extent: float) -> Bar:
    point, low, high = map(_finite, (lift.lift, lift.low, lift.high))
    span = None if low is None or high is None else (low, high)
    return Bar(
        variant=_name(lift.variant),
        about=about,
        numbers=_numbers(point, span, extent),
        said=lift.said,
        notes=tuple(_notes(lift)),
        point=None if point is None else _within(point, extent),
        span=None if span is None or point is None else (_within(span[0], extent), _within(span[1], extent)),
    )


def _notes(lift: LiftRecord) -> Iterator[str]:
    if lift.holds is False:
        yield "below min_lift"
    elif lift.undecided:
        yield "min_lift undecided"
    if "identical" in lift.flags:
        yield "nothing varied"
    if "errors" in lift.flags:
        yield "errors differ"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _within(value: float, extent: float) -> float:
    return min(extent, max(-extent, value))


def _numbers(point: float | None, span: tuple[float, float] | None, extent: float) -> str:
    if point is None:
        return "nothing decided"
    amount = partial(_amount, digits=max(2, 1 - _power(extent)))
    text = amount(point)
    sign = "+" if point > 0 and text.strip("0.") else ""
    return sign + text if span is None else f"{sign}{text} [{amount(span[0])}, {amount(span[1])}]"


def _amount(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:.3g}"
    return text.replace("-", _MINUS) if float(text) else text.removeprefix("-")


def _power(value: float) -> int:
    """Return the power of ten that a positive number is at or above: −1 of 0.5."""
    return math.floor(math.log10(value))


def _extent(lifts: Iterable[LiftRecord]) -> float:
    """Return the end of an axis on which every number lies: 1, 2 or 5 times a power of ten."""
    found = (_finite(value) for lift in lifts for value in (lift.lift, lift.low, lift.high))
    most = max((abs(value) for value in found if value is not None), default=0.0)
    if not most:
        return 1.0
    power = 10.0 ** _power(most)
    return next(step * power for step in _STEPS if step * power >= most)

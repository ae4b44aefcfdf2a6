"""What did each variant do against its control? The rows of a compare: passes, lift with its interval, tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reeval.report.screen.ink import Ink
from reeval.report.screen.numbers import count, dollars, number, plural, seconds
from reeval.report.screen.table import table
from reeval.report.text import one_line, width, wrap
from reeval.schema.record import CellRecord, EvalRecord
from reeval.schema.recorded.lifts import LiftRecord, MeasureRecord

__all__ = [
    "DOUBTS",
    "compare_lines",
    "is_shown",
    "lift_parts",
    "lift_text",
    "measure_line",
    "measure_text",
    "said_of",
    "value_text",
]

DOUBTS = {
    "nothing decided": "a side has no attempt with a result",
    "few attempts": "a side has fewer than 4 attempts with a result",
    "few cases": "fewer than 6 cases have results on both sides",
    "body errors": "errors of the eval's own code may hide what the agent did",
    "stopped early": "the compares stopped when they were decided; look at each alone",
    "chance": "the difference may be chance",
}
"""Why it can't be told yet, in words."""

_MINUS = "−"
_ALIKE = 3
"""Checks without a difference that are named."""
_UNITS: dict[str, Callable[[float], str]] = {
    "tokens": count,
    "cost": dollars,
    "duration": seconds,
    "turns": number,
    "tool_calls": number,
}

Text = Callable[[CellRecord], str]


def lift_text(lift: LiftRecord) -> str:
    """``+1.00 [0.31, 1.00] helped``."""
    number, between = lift_parts(lift)
    return " ".join(part for part in (number, between, lift.said) if part)


def lift_parts(lift: LiftRecord) -> tuple[str, str]:
    """Return the lift and its interval, ``+1.00`` and ``[0.31, 1.00]``; ``–`` and nothing where they are unknown."""
    if lift.lift is None:
        return "–", ""
    between = "" if lift.low is None or lift.high is None else f"[{_points(lift.low)}, {_points(lift.high)}]"
    return _points(lift.lift, sign=True), between


def _points(value: float, *, sign: bool = False) -> str:
    shown = round(value, 2) + 0.0  # never -0.00
    return f"{shown:{'+' if sign else ''}.2f}".replace("-", _MINUS)


def measure_text(measure: MeasureRecord) -> str:
    """``2.8k  −10% (can't tell yet)``: the variant's value and its change."""
    value = value_text(measure.name, measure.variant)
    change = _change(measure)
    return f"{value}  {change}" if change else value


def _change(measure: MeasureRecord) -> str:
    if measure.relative is None or not measure.difference:
        return "" if not measure.difference else f"({measure.said})"
    percent = round(100 * measure.relative) + 0
    return f"{percent:+,}% ({measure.said})".replace("-", _MINUS)


def value_text(name: str, value: float | None) -> str:
    """Write a value of a measure in its unit; ``–``: unknown."""
    return "–" if value is None else _UNITS[name](value)


def said_of(lift: LiftRecord) -> Iterator[str]:
    """Yield what else is to be known of a lift: why it is open, a lift that is too small, what makes it doubtful."""
    if lift.holds is False:
        yield f"the lift is below min_lift {number(lift.min_lift or 0.0)}"
    if lift.undecided:
        yield f"errors or missing attempts could still change whether min_lift {number(lift.min_lift or 0.0)} holds"
    if lift.doubt is not None:
        yield f"{lift.said}: {DOUBTS.get(lift.doubt, lift.doubt)}"
    if "identical" in lift.flags:
        yield "both sides ran the very same: nothing was varied"
    if "errors" in lift.flags:
        yield "the sides' error rates differ: what is left may not be alike"
    if lift.alike:
        more = f" and {len(lift.alike) - _ALIKE} more" if len(lift.alike) > _ALIKE else ""
        yield f"alike on both sides: {', '.join(one_line(label, 60) for label in lift.alike[:_ALIKE])}{more}"


# --- the rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    names: tuple[str, ...]
    reading: str
    lift: LiftRecord | None
    counts: tuple[str, ...]
    tokens: str
    bad: bool = False


@dataclass(frozen=True)
class _Rows:
    heads: tuple[str, ...]
    """Of the names."""
    counts: tuple[str, ...]
    rows: tuple[_Row, ...]


def compare_lines(
    record: EvalRecord, reading: Text, counts: Sequence[tuple[str, Text]], ink: Ink, cells: int | None, *, every: bool
) -> list[str]:
    """Return the rows of an eval with lifts, at most ``cells`` wide, and what else is to be known of them.

    ``reading`` and ``counts`` (a head and its text) say what a cell has. ``every``: measures without a difference too.
    """
    found = _rows(record, reading, counts)
    lines, with_tokens = _laid_out(found, record, ink, cells)
    return [*lines, *_below(record.lifts, ink, cells, every=every, tokens=not with_tokens)]


def _rows(record: EvalRecord, reading: Text, counts: Sequence[tuple[str, Text]]) -> _Rows:
    harnesses = len({cell.harness for cell in record.cells}) > 1
    sandboxes = len({cell.sandbox for cell in record.cells}) > 1
    heads = (*(["harness"] if harnesses else []), "", *(["sandbox"] if sandboxes else []))
    lifts = {(lift.variant, lift.harness, lift.sandbox): lift for lift in record.lifts}
    rows = []
    for cell in record.cells:
        lift = lifts.get((cell.environment, cell.harness, cell.sandbox))
        names = (*([cell.harness] if harnesses else []), cell.environment, *([cell.sandbox] if sandboxes else []))
        bad = cell.gate.holds is False or (lift is not None and lift.holds is False)
        texts = tuple(text(cell) for _, text in counts)
        rows.append(_Row(tuple(map(one_line, names)), reading(cell), lift, texts, _tokens(record, cell, lift), bad))
    single = {(cell.environment, cell.harness, cell.sandbox) for cell in record.cells}
    for key, lift in lifts.items():
        if key not in single:
            names = (*([lift.harness or "all"] if harnesses else []), lift.variant)
            names = (*names, *([lift.sandbox or "all"] if sandboxes else []))
            rows.append(_Row(tuple(map(one_line, names)), _whole(lift), lift, ("",) * len(counts), ""))
    return _Rows(heads, tuple(head for head, _ in counts), tuple(rows))


def _whole(lift: LiftRecord) -> str:
    if lift.scored:
        return "–" if lift.variant_mean is None else number(lift.variant_mean)
    return f"{lift.variant_passed} of {lift.variant_decided}"


def _tokens(record: EvalRecord, cell: CellRecord, lift: LiftRecord | None) -> str:
    """Return the median of a side, and of a variant its change; empty where they are not known of both sides."""
    sides = (
        [lift] if lift else [one for one in record.lifts if (one.harness, one.sandbox) == (cell.harness, cell.sandbox)]
    )
    for one in sides:
        for measure in one.measures:
            if measure.name == "tokens" and (measure.control or measure.variant):
                return measure_text(measure) if lift else count(measure.control or 0.0)
    return ""


def _laid_out(found: _Rows, record: EvalRecord, ink: Ink, cells: int | None) -> tuple[list[str], bool]:
    """Return the rows as a table where it fits, first without tokens, then stacked; and whether it has the tokens."""
    main = "score" if record.kind == "scored" else "pass"
    if any(row.tokens for row in found.rows):
        lines = _table(found, main, ink, cells, tokens=True)
        if lines:
            return lines, True
    lines = _table(found, main, ink, cells, tokens=False)
    return lines or list(_stacked(found, ink, cells)), False


def _table(found: _Rows, main: str, ink: Ink, cells: int | None, *, tokens: bool) -> list[str]:
    head = [*found.heads, main, "lift", *found.counts, *(["tokens"] if tokens else [])]
    rows = [
        [*row.names, row.reading, "·" if row.lift is None else lift_text(row.lift)]
        + [text or "·" for text in row.counts]
        + ([row.tokens or "·"] if tokens else [])
        for row in found.rows
    ]
    lines = table(head, rows, keep=len(head), indent=_INDENT)
    if cells is not None and max(map(width, lines)) > cells:
        return []
    return [ink("dim", lines[0]), *(_painted(line, row, ink) for line, row in zip(lines[1:], found.rows, strict=True))]


def _painted(line: str, row: _Row, ink: Ink) -> str:
    if row.bad or (row.lift is not None and row.lift.said == "made it worse"):
        return ink("red", line)
    return ink("green", line) if row.lift is not None and row.lift.said == "helped" else line


_INDENT = "  "


def _stacked(found: _Rows, ink: Ink, cells: int | None) -> Iterator[str]:
    for row in found.rows:
        counts = [f"{text} {head}" for head, text in zip(found.counts, row.counts, strict=True) if text]
        yield _painted(_INDENT + one_line(" ".join(row.names), _room(cells, 2)), row, ink)
        lift = [] if row.lift is None else [lift_text(row.lift)]
        for text in (" · ".join([row.reading, *counts]), *lift):
            yield from (_painted(_INDENT * 2 + part, row, ink) for part in wrap(text, _room(cells, 4)))


def _room(cells: int | None, less: int) -> int | None:
    return None if cells is None else max(1, cells - less)


def pooled_lines(lifts: Sequence[LiftRecord], ink: Ink, cells: int | None) -> list[str]:
    """Return the lifts over several evals, under a title; nothing without any."""
    lines = []
    for lift in lifts:
        evals = lift.evals if lift.evals is not None else 0
        sides = f"{lift.variant} over {lift.control}, {plural(evals, 'eval')}"
        style = {"helped": "green", "made it worse": "red"}.get(lift.said)
        text = f"{one_line(sides)}  {lift_text(lift)}"
        whys = [why for why in said_of(lift) if lift.doubt != "chance"]
        parts = [part for each in (text, *whys) for part in wrap(each, _room(cells, 4))]
        lines += [(_INDENT * 2 if number_ else _INDENT) + part for number_, part in enumerate(parts)]
        if style:
            lines[-len(parts) :] = [ink(style, line) for line in lines[-len(parts) :]]
    return [ink("bold", "over several evals"), "", *lines] if lines else []


# --- below the rows -------------------------------------------------------------------------------------


def _below(lifts: Sequence[LiftRecord], ink: Ink, cells: int | None, *, every: bool, tokens: bool) -> Iterator[str]:
    several = len({lift.variant for lift in lifts}) > 1, len({lift.harness for lift in lifts}) > 1
    for lift in lifts:
        about = [lift.variant] * several[0] + [lift.harness or "all harnesses"] * several[1]
        before = f"{one_line(' on '.join(about))}: " if about else ""
        told = [measure_line(one) for one in lift.measures if is_shown(one, every=every, tokens=tokens)]
        for text in (*told, *said_of(lift)):
            style = "red" if text.startswith("the lift is below") else "dim"
            for number_, part in enumerate(wrap(before + text, _room(cells, 4))):
                yield ink(style, (_INDENT * 2 if number_ else _INDENT) + part)


def is_shown(measure: MeasureRecord, *, every: bool, tokens: bool) -> bool:
    """Say whether a measure has a line: what is told, or ``every`` one; ``tokens`` says whether no column has them."""
    if measure.name == "tokens":
        return tokens and bool(measure.control or measure.variant)
    return every or measure.said != "can't tell yet"


def measure_line(measure: MeasureRecord) -> str:
    """``tool calls 1 → 2  +100% (more)``."""
    return f"{measure.name.replace('_', ' ')} {value_text(measure.name, measure.control)} → {measure_text(measure)}"

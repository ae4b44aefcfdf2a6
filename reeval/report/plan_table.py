"""What would run? The dry run: a table of evals, their questions, what a profile or flag changed, the total."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reeval.grade.early.rules import fewest_runs
from reeval.report.screen.detectable import detectable_lines
from reeval.report.screen.numbers import number, plural
from reeval.report.text import escape, pad, width, wrap
from reeval.schema.data.questions import PlannedDatabase
from reeval.schema.plan import Plan, PlannedEval, PlannedQuestion

__all__ = ["plan_table"]

_HEAD = ("eval", "harnesses", "variants", "runs", "attempts", "notes")
_NONE = "—"
_GAP = "  "
_DOT = " · "
_SMALLEST_NAME = 24
"""Cells that the name of an eval keeps beside the other columns; with less room it gets lines of its own."""
_SMALLEST_NOTES = 12
_SHOWN_KEYS = ("task", "output", "diff", "files", "transcript", "checks", "observations")
_SHOWN_EVALS = 3


def plan_table(
    plan: Plan, width: int | None, rates: Mapping[str, float] | None = None, expected: Mapping[str, str] | None = None
) -> str:
    """Return the dry run as text in lines of at most ``width`` cells; None: as wide as it is.

    ``rates``: the last known pass rate of the control of each compare, by eval id. ``expected``: what is to be said of
    the time and the cost, by name.
    """
    rows = [_row(planned) for planned in plan.evals]
    sizes = _sizes(rows, width)
    table = _columns(rows, sizes, width) if sizes else _stacked(rows, width)
    below = [line for text in _below(plan, rates or {}, expected or {}) for line in _hanging(text, "", width)]
    return "\n".join([*table, "", *below])


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[str, ...]
    """One text for each column of the head."""
    questions: tuple[str, ...]


def _row(planned: PlannedEval) -> _Row:
    title, notes = escape(planned.title), escape(_DOT.join(_short_notes(planned)))
    if planned.mode != "run":
        return _Row((title, _NONE, _NONE, _NONE, "0", notes), ())
    variants = len(planned.compare.variants) if planned.compare else _NONE
    harnesses = len({cell.harness for cell in planned.cells})
    counts = (str(harnesses), str(variants), *_amounts(planned))
    count = len(planned.questions)
    questions = (f"question {n}/{count}  {_asked(one)}" for n, one in enumerate(planned.questions, 1))
    return _Row((title, *counts, notes), tuple(map(escape, questions)))


def _amounts(planned: PlannedEval) -> tuple[str, str]:
    """Return the runs and the attempts of an eval: ``4–20`` where it may stop early."""
    fewest = fewest_runs(planned)
    if fewest == planned.runs:
        return str(planned.runs), str(planned.attempts)
    return f"{fewest}–{planned.runs}", f"{planned.attempts // planned.runs * fewest}–{planned.attempts}"


def _short_notes(planned: PlannedEval) -> Iterator[str]:
    if planned.mode != "run":
        yield "todo" if planned.mode == "todo" else _skipped(planned)
        return
    if planned.cases:
        yield plural(len(planned.cases), "case")
    if planned.gate.rule not in {"all", "majority"}:
        yield f"gate {_gate(planned)}"
    if planned.until:
        yield "until decided" if planned.until == "decided" else "until a majority"
    if planned.compare and planned.compare.gate != "variants":
        yield f"compare gate {planned.compare.gate}"
    if planned.compare and planned.compare.min_lift is not None:
        yield f"min lift {number(planned.compare.min_lift)}"


def _skipped(planned: PlannedEval) -> str:
    return f"skipped: {planned.skip_reason}" if planned.skip_reason else "skipped"


def _gate(planned: PlannedEval) -> str:
    gate = planned.gate
    return gate.rule if gate.minimum is None else f"{gate.rule} {number(gate.minimum)}"


def _asked(question: PlannedQuestion) -> str:
    state = question.state
    shown = [key for key in _SHOWN_KEYS if state.get(key)]
    artifacts = ["artifacts"] if question.artifacts else []
    parts = [
        question.text,
        "after the run" if question.across else "after each attempt",
        f"shows {', '.join([*shown, *artifacts]) or 'nothing'}",
        ", ".join(question.across) or "each attempt",
        plural(question.count, "pair" if question.across else "attempt"),
        " / ".join(question.choices or ()),
        question.model or "",
    ]
    return _DOT.join(part for part in parts if part)


# --- layout -------------------------------------------------------------------------------------------


def _sizes(rows: Sequence[_Row], room: int | None) -> list[int] | None:
    """Return the width of each column; None when the name of an eval would get too little room."""
    sizes = [max(map(width, column)) for column in zip(_HEAD, *(row.cells for row in rows), strict=True)]
    if room is None:
        return sizes
    left = room - sum(sizes[1:-1]) - len(_GAP) * (len(sizes) - 1)
    if sizes[0] + sizes[-1] <= left:
        return sizes
    name = max(_SMALLEST_NAME, left - sizes[-1])
    notes = left - min(name, sizes[0])
    if notes < min(_SMALLEST_NOTES, sizes[-1]):
        return None
    return [min(name, sizes[0]), *sizes[1:-1], notes]


def _columns(rows: Sequence[_Row], sizes: Sequence[int], room: int | None) -> list[str]:
    lines = [_joined(_HEAD, sizes)]
    for row in rows:
        name, *counts, notes = row.cells
        names, said = wrap(name, sizes[0]), wrap(notes, sizes[-1])
        blank = [""] * len(counts)
        for index in range(max(len(names), len(said))):
            first = names[index] if index < len(names) else ""
            last = said[index] if index < len(said) else ""
            lines.append(_joined((first, *(blank if index else counts), last), sizes))
        lines += _questions(row, room)
    return lines


def _stacked(rows: Sequence[_Row], room: int | None) -> list[str]:
    lines = []
    for row in rows:
        name, *counts, notes = row.cells
        facts = [f"{head} {count}" for head, count in zip(_HEAD[1:], counts, strict=False) if count != _NONE]
        lines += _hanging(name, "", room)
        lines += _hanging(_DOT.join([*facts, *filter(None, [notes])]), _GAP, room)
        lines += _questions(row, room)
    return lines


def _questions(row: _Row, room: int | None) -> list[str]:
    return [line for question in row.questions for line in _hanging(question, _GAP, room)]


def _joined(texts: Sequence[str], sizes: Sequence[int]) -> str:
    return _GAP.join(pad(text, size) for text, size in zip(texts, sizes, strict=True)).rstrip()


def _hanging(text: str, indent: str, room: int | None) -> list[str]:
    """Wrap a text, its further lines two cells deeper."""
    if room is None:
        return [indent + text]
    deeper = indent + _GAP
    lines = wrap(text, max(1, room - len(deeper)))
    return [(deeper if index else indent) + line for index, line in enumerate(lines)]


# --- below the table ----------------------------------------------------------------------------------


def _below(plan: Plan, rates: Mapping[str, float], expected: Mapping[str, str]) -> Iterator[str]:
    yield from map(escape, _changed(plan))
    yield from map(escape, detectable_lines(plan, rates))
    yield from (escape(f"note: {note}") for note in plan.notes)
    yield from (escape(f"note: {planned.title}: {note}") for planned in plan.evals for note in planned.notes)
    if plan.database:
        yield escape(f"database: {_database(plan.database)}")
    if plan.left_out:
        other = "scored" if plan.kind == "pass-fail" else "pass-fail"
        yield f"left out: {plural(plan.left_out, f'{other} eval')}"
    yield from (f"{name}: {text}" for name, text in expected.items())
    yield f"total: {_total(plan)}"


def _database(planned: PlannedDatabase) -> str:
    from reeval.databases.urls import masked_url

    limits = f"{number(planned.statement_timeout)} s and {planned.max_rows:,} rows a query"
    return _DOT.join((masked_url(planned.url), f"target {planned.target}", limits))


def _total(plan: Plan) -> str:
    modes = [planned.mode for planned in plan.evals]
    most = "at most " if any(planned.until for planned in plan.evals) else ""
    questions = [question for planned in plan.evals for question in planned.questions]
    answers = sum(question.count for question in questions if not question.across)
    pairs = sum(question.count for question in questions if question.across)
    parts = [f"{most}{plural(plan.attempts, 'attempt')} of {plural(modes.count('run'), 'eval')}"]
    parts += [plural(answers, "answer")] if answers else []
    parts += [plural(pairs, "pair")] if pairs else []
    parts += [f"{modes.count(mode)} {said}" for mode, said in (("skip", "skipped"), ("todo", "todo")) if mode in modes]
    return _DOT.join(parts)


def _changed(plan: Plan) -> Iterator[str]:
    """Yield each value that a profile or a flag changed, with its source; the evals only when not all have it."""
    running = [planned for planned in plan.evals if planned.mode == "run"]
    found: dict[str, list[str]] = {}
    for planned in running:
        for option, source in planned.sources.items():
            if source.startswith(("profile ", "--")) or ", profile " in source:
                found.setdefault(f"{_value(planned, option)} ({source})", []).append(planned.title)
    for text, titles in found.items():
        if len(titles) == len(running):
            yield text
        else:
            more = f" and {len(titles) - _SHOWN_EVALS} more" if len(titles) > _SHOWN_EVALS else ""
            yield f"{text}: {', '.join(titles[:_SHOWN_EVALS])}{more}"


def _value(planned: PlannedEval, option: str) -> str:
    """Return ``option=value``; the option alone where its value is a secret, or says nothing in a line."""
    cells = planned.cells
    values: dict[str, Callable[[], str]] = {
        "runs": lambda: _amounts(planned)[0],
        "harness": lambda: ",".join(dict.fromkeys(cell.harness for cell in cells)),
        "environment": lambda: ",".join(dict.fromkeys(cell.environment for cell in cells)),
        "sandbox": lambda: ",".join(dict.fromkeys(cell.sandbox for cell in cells)),
        "timeout": lambda: f"{number(planned.timeout)} s",
        "gate": lambda: _gate(planned),
        "tags": lambda: ",".join(planned.tags),
        "egress": lambda: planned.egress.mode if planned.egress else "none",
        "compare": lambda: "off",
        "judge.model": lambda: planned.judge.get("model", ""),
    }
    return f"{option}={values[option]()}" if option in values else option

"""How does a person read whether a judge can be trusted? Its figures, and where it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reeval.grade.calibration.agreement import Agreement, Figure, Rated, agreement, disagreements
from reeval.grade.calibration.examples import Example
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import dollars, number, plural
from reeval.report.text import pad, width

__all__ = ["Calibration", "calibration_data", "calibration_lines"]

SHOWN = 10
"""Disagreements, and errors, that are shown; the rest is counted."""
REASON_LINES = 4
FEW = 30
"""With fewer examples the intervals are wide, and those of resampling too narrow."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A judge, asked about labelled examples."""

    file: str
    judge: str
    """How it is called: its name, or the rubric or question."""
    model: str
    threshold: float
    votes: int
    rated: Sequence[Rated]
    cost: float | None = None
    """US dollars; None: not known."""


def calibration_lines(found: Calibration, page: Page) -> list[str]:
    """Return the figures with their intervals, then the disagreements, then what had no answer."""
    total = agreement(found.rated, found.threshold)
    lines = [page.ink("bold", page.line(f"judge  {found.judge}")), *page.lines(_how(found, total), 3, 0)]
    if total.examples:
        lines += [
            "",
            *map(page.line, _figures(total)),
            "",
            *_table(total),
            *_notes(total, page),
            "",
            *_disagreements(found, page),
        ]
    return [*lines, *_errors(found, page)]


def calibration_data(found: Calibration) -> dict[str, Any]:
    """Return everything as JSON data; disagreements are the lines of the file, the largest miss first."""
    total = agreement(found.rated, found.threshold)
    return {
        "file": found.file,
        "judge": found.judge,
        "model": found.model,
        "votes": found.votes,
        **asdict(total),
        "cost": found.cost,
        "disagreements": [one.example.line for one in disagreements(found.rated, found.threshold)],
        "answers": [_answer(one) for one in found.rated],
    }


def _answer(one: Rated) -> dict[str, Any]:
    return {
        "line": one.example.line,
        "expected": one.example.score if one.example.score is not None else _word(bool(one.example.label)),
        "score": one.score,
        "reason": one.reason,
        "spread": one.spread,
        "error": one.error,
    }


def _how(found: Calibration, total: Agreement) -> str:
    votes = f" · {found.votes} votes each" if found.votes > 1 else ""
    cost = f" · {dollars(found.cost)}" if found.cost else ""
    answered = f"{total.examples} of {plural(len(found.rated), 'example')} answered"
    return f"{found.model}{votes} · passes from {number(found.threshold)} · {answered}{cost}"


# --- figures ------------------------------------------------------------------------------------------


def _figures(total: Agreement) -> list[str]:
    rows = [_row("accuracy", total.accuracy, "on the same side of the threshold")]
    rows.append(_row("kappa", total.kappa, "beyond chance: 1 in full, 0 by chance alone"))
    if total.scored:
        rows.append(_row("mean error", total.mean_error, "between the two scores"))
        rows.append(_row("bias", total.bias, "above 0: the judge is generous", sign=True))
        rows.append(_row("rank correlation", total.rank_correlation, "1: in the same order"))
    head = ["", "", "95 %", ""]
    sizes = [max(width(row[column]) for row in [head, *rows]) for column in range(3)]
    return ["  ".join([*map(pad, row, sizes), row[3]]).rstrip() for row in [head, *rows]]


def _row(name: str, figure: Figure, meaning: str, *, sign: bool = False) -> list[str]:
    def shown(value: float | None) -> str:
        if value is None:
            return "–"
        rounded = round(value, 2) + 0.0  # never "-0.00"
        return f"{rounded:+.2f}" if sign and rounded else f"{rounded:.2f}"

    between = " to ".join(map(shown, figure.interval)) if figure.interval else "–"
    return [name, shown(figure.value), between, meaning]


def _table(total: Agreement) -> list[str]:
    table = total.table
    rows = [
        ["", "judge passes", "judge fails"],
        ["person passes", str(table.both_pass), str(table.only_person)],
        ["person fails", str(table.only_judge), str(table.both_fail)],
    ]
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [
        "  ".join(
            [pad(row[0], first), *(pad(cell, size, right=True) for cell, size in zip(row[1:], others, strict=True))]
        )
        for row in rows
    ]


def _notes(total: Agreement, page: Page) -> list[str]:
    notes = []
    if total.kappa.value is None:
        notes.append("kappa needs examples of both kinds: here only one label occurs")
    if total.examples < FEW:
        notes.append(f"{plural(total.examples, 'example')} say little: label {FEW} or more, as many that fail as pass")
    said = [line for note in notes for line in page.lines(f"note: {note}", 2, 0)]
    return ["", *said] if said else []


# --- single examples ----------------------------------------------------------------------------------


def _disagreements(found: Calibration, page: Page) -> list[str]:
    wrong = disagreements(found.rated, found.threshold)
    if not wrong:
        return ["no disagreement"]
    order = ", the largest first" if len(wrong) > 1 else ""
    lines = [page.ink("bold", f"{plural(len(wrong), 'disagreement')}{order}")]
    for one in _shown(wrong, page):
        assert one.score is not None
        spread = f", votes {number(one.spread)} apart" if one.spread else ""
        got = f"{_word(one.score >= found.threshold)} ({number(one.score)}){spread}"
        lines += [page.line(f"{found.file}:{one.example.line}  expected {_expected(one.example, found)}, got {got}", 2)]
        lines += page.lines(f"judge: {one.reason}", REASON_LINES, 6) if one.reason else []
        lines += page.lines(f"note: {one.example.note}", REASON_LINES, 6) if one.example.note else []
    return [*lines, *_more(len(wrong), page)]


def _errors(found: Calibration, page: Page) -> Iterator[str]:
    errors = [one for one in found.rated if one.error is not None]
    if not errors:
        return
    yield ""
    yield page.ink("bold", f"{plural(len(errors), 'example')} without an answer, left out of the figures")
    for one in _shown(errors, page):
        yield page.line(f"{found.file}:{one.example.line}", 2)
        yield from page.lines(one.error or "", REASON_LINES, 6)
    yield from _more(len(errors), page)


def _shown(every: Sequence[Rated], page: Page) -> Sequence[Rated]:
    return every if page.full else every[:SHOWN]


def _more(count: int, page: Page) -> list[str]:
    return [] if page.full or count <= SHOWN else [f"  … {count - SHOWN:,} more: --full"]


def _expected(example: Example, found: Calibration) -> str:
    word = _word(example.passes(found.threshold))
    return word if example.score is None else f"{word} ({number(example.score)})"


def _word(passes: bool) -> str:
    return "pass" if passes else "fail"

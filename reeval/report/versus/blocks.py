"""What did each compared cell come to? A block for each eval: two rows a cell, the earlier run above the later one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reeval.grade.versus.results import ChangedCheck, ComparedCell, ComparedEval, PooledCells
from reeval.grade.versus.sides import CellSide, Place
from reeval.report.screen.compares import is_shown, lift_text, measure_line, measure_text, value_text
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import number, plural
from reeval.report.screen.table import table
from reeval.report.text import one_line, width, wrap
from reeval.schema.recorded.lifts import LiftRecord, Said

__all__ = ["EARLIER", "LATER", "Labels", "eval_block", "labels_of", "painted", "pooled_block"]

EARLIER, LATER = "vs", "run"
"""The words of the two rows; the head of the screen says which run is which."""
_STYLES: dict[Said, str] = {"helped": "green", "made it worse": "red"}
_BESIDE: dict[str, Callable[[CellSide], int]] = {
    "error": lambda side: side.attempts.errors,
    "skipped": lambda side: side.skipped,
}
"""What is in no rate, and shown where an eval has any."""
_INDENT = "  "
_LABEL = 40
_SHOWN_CHECKS = 3

Labels = Callable[[Place], str]


def labels_of(places: Sequence[Place]) -> Labels:
    """Return how cells are told apart: by the factors that vary anywhere, else by the harness."""
    factors = ("harness", "environment", "sandbox")
    varied = [name for name in factors if len({getattr(place, name) for place in places}) > 1] or [factors[0]]
    return lambda place: "/".join(getattr(place, name) for name in varied)


def painted(lift: LiftRecord, text: str, page: Page) -> str:
    """Return a text in the color of what is said of a lift."""
    style = _STYLES.get(lift.said)
    return page.ink(style, text) if style else text


@dataclass(frozen=True)
class _Rows:
    """A cell's two rows, column by column."""

    lift: LiftRecord
    fixed: tuple[tuple[str, ...], tuple[str, ...]]
    """Label, side, reading, and errors and skips where an eval has any."""
    tokens: tuple[str, str]


def eval_block(one: ComparedEval, labels: Labels, page: Page, *, scored: bool) -> list[str]:
    """Return an eval's lines, at most ``page.cells`` wide, text of authors escaped."""
    beside = [name for name in _BESIDE if any(_amounts(cell, name) != (0, 0) for cell in one.cells)]
    rows = [_rows(cell, labels, beside, scored=scored) for cell in one.cells]
    head = ["", "", "score" if scored else "pass", *beside]
    name = page.ink("bold", page.line(" › ".join(one.path)))
    lines = [name]
    with_tokens = _fits([*head, "lift", "tokens"], _texts(rows, with_tokens=True), page)
    if with_tokens or _fits([*head, "lift"], _texts(rows, with_tokens=False), page):
        lines += _wide(head, rows, page, with_tokens=with_tokens and any(any(row.tokens) for row in rows))
    else:
        lines += _narrow(head, rows, page)
    for cell in one.cells:
        lines += _more(cell, labels, page, with_tokens=not with_tokens)
    return lines


def _rows(cell: ComparedCell, labels: Labels, beside: Sequence[str], *, scored: bool) -> _Rows:
    label = one_line(labels(cell.place), _LABEL)
    sides = [
        (first, word, _reading(side, scored=scored), *(str(_BESIDE[name](side) or "·") for name in beside))
        for first, word, side in ((label, EARLIER, cell.earlier), ("", LATER, cell.later))
    ]
    tokens = next((one for one in cell.lift.measures if one.name == "tokens"), None)
    shown = ("", "")
    if tokens is not None and (tokens.control or tokens.variant):
        shown = value_text("tokens", tokens.control), measure_text(tokens)
    return _Rows(lift=cell.lift, fixed=(sides[0], sides[1]), tokens=shown)


def _amounts(cell: ComparedCell, name: str) -> tuple[int, int]:
    return _BESIDE[name](cell.earlier), _BESIDE[name](cell.later)


def _reading(side: CellSide, *, scored: bool) -> str:
    attempts = side.attempts.side
    if not scored:
        return f"{side.attempts.passed} of {attempts.decided}"
    return "–" if attempts.mean is None else f"{number(attempts.mean)} ({attempts.decided})"


def _texts(rows: Sequence[_Rows], *, with_tokens: bool) -> list[list[str]]:
    return [
        [*fixed, said, *([tokens] if with_tokens else [])]
        for row in rows
        for fixed, said, tokens in zip(row.fixed, ("·", lift_text(row.lift)), row.tokens, strict=True)
    ]


def _fits(head: Sequence[str], texts: Sequence[Sequence[str]], page: Page) -> bool:
    whole = table(head, texts, keep=len(head), indent=_INDENT)
    return page.cells is None or max(map(width, whole)) <= page.cells


def _wide(head: Sequence[str], rows: Sequence[_Rows], page: Page, *, with_tokens: bool) -> list[str]:
    """Return one table with the lifts in it, which fits."""
    heads = [*head, "lift", *(["tokens"] if with_tokens else [])]
    first, *rest = table(heads, _texts(rows, with_tokens=with_tokens), keep=len(heads), indent=_INDENT)
    for number_of, row in enumerate(rows):
        said, place = lift_text(row.lift), 2 * number_of + 1
        rest[place] = rest[place].replace(said, painted(row.lift, said, page), 1)
    return [page.ink("dim", first), *rest]


def _narrow(head: Sequence[str], rows: Sequence[_Rows], page: Page) -> list[str]:
    """Return the readings as a table, and the lift of each cell below it."""
    texts = [fixed for row in rows for fixed in row.fixed]
    first, *rest = table(head, texts, keep=len(head), cells=page.cells, indent=_INDENT)
    lines = [page.ink("dim", first)]
    for number_of, row in enumerate(rows):
        said = wrap(lift_text(row.lift), None if page.cells is None else max(10, page.cells - 2 * len(_INDENT)))
        lines += rest[2 * number_of : 2 * number_of + 2]
        lines += [2 * _INDENT + painted(row.lift, line, page) for line in said]
    return lines


def _more(cell: ComparedCell, labels: Labels, page: Page, *, with_tokens: bool) -> list[str]:
    """Return what else changed in a cell: the measures of which that can be told, or all; errors."""
    texts = [measure_line(one) for one in cell.lift.measures if is_shown(one, every=page.full, tokens=with_tokens)]
    texts += _checks(cell.checks, len(cell.checks) if page.full else _SHOWN_CHECKS)
    if "errors" in cell.lift.flags:
        counts = [f"{side.attempts.errors} of {side.attempts.finished}" for side in (cell.earlier, cell.later)]
        texts.append(f"errors {counts[0]} → {counts[1]}; rates leave them out and may mislead")
    label = one_line(labels(cell.place), _LABEL)
    return [line for text in texts for line in _hanging(f"{label}: {text}", page)]


def _checks(checks: Sequence[ChangedCheck], shown: int) -> Iterator[str]:
    """Yield which checks made the difference."""
    for it in checks[:shown]:
        counts = [f"{side.held} of {side.evaluated}" for side in (it.earlier, it.later)]
        yield f"{one_line(it.label, _LABEL)} holds {counts[0]} → {counts[1]}"
    if len(checks) > shown:
        yield f"{plural(len(checks) - shown, 'more check')} changed (--full)"


def _hanging(text: str, page: Page) -> list[str]:
    room = None if page.cells is None else max(10, page.cells - 2 * len(_INDENT))
    first, *rest = wrap(text, room)
    return [_INDENT + page.ink("dim", first), *(2 * _INDENT + page.ink("dim", line) for line in rest)]


def pooled_block(pools: Sequence[PooledCells], labels: dict[str, str], page: Page) -> list[str]:
    """Return the lifts over several evals; ``labels`` are those of the cells."""
    if not pools:
        return []
    named = [one_line(labels[it.cell], _LABEL) if it.cell else "all cells" for it in pools]
    rows = [[name, str(it.lift.evals or 0), lift_text(it.lift)] for name, it in zip(named, pools, strict=True)]
    head = ["", "evals", "lift"]
    title = page.ink("bold", "all evals")
    whole = table(head, rows, keep=3, indent=_INDENT)
    if page.cells is None or max(map(width, whole)) <= page.cells:
        colored = [
            line.replace(row[2], painted(it.lift, row[2], page), 1)
            for line, row, it in zip(whole[1:], rows, pools, strict=True)
        ]
        return [title, page.ink("dim", whole[0]), *colored]
    first, *rest = table(head[:2], [row[:2] for row in rows], keep=2, cells=page.cells, indent=_INDENT)
    lines = [title, page.ink("dim", first)]
    for line, row, it in zip(rest, rows, pools, strict=True):
        lines += [line, *(2 * _INDENT + painted(it.lift, part, page) for part in wrap(row[2], page.cells - 4))]
    return lines

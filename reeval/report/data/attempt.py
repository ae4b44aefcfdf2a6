"""What came of one data question? Why it did not pass, both queries, the rows that differ, the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import plural
from reeval.report.screen.table import table
from reeval.report.text import one_line, pad
from reeval.schema.recorded.data import DataRecord, ResultSample

__all__ = ["data_sections", "difference_lines", "query_lines"]

_SQL_LINES = 60
_ANALYSIS_LINES = 20
_ROWS = 8
_CELL = 40
_BESIDE = 80
"""Cells from which the two queries stand side by side."""
_GAP = " │ "
_AGENT, _TRUTH = "model output · SQL", "ground truth · SQL"


def data_sections(found: DataRecord, asks: str | None, page: Page) -> list[list[str]]:
    """Return the sections of an attempt at a data question, texts of agents and databases escaped and bounded."""
    return [
        _assessment(found, asks, page),
        query_lines(found, page),
        difference_lines(found, page, 0),
        _result("ground truth", found.truth, page),
        _result("model output", found.agent, page),
    ]


def _assessment(found: DataRecord, asks: str | None, page: Page) -> list[str]:
    lines = [page.ink("bold", "question"), *page.lines(asks or found.question, _ANALYSIS_LINES, 2)]
    if found.certified_query is not None:
        lines += page.lines(f"certified query {found.certified_query}", 2, 2, style="dim")
    if found.reason is not None:
        lines += [page.ink("bold", found.reason.value), *page.lines(found.analysis, _ANALYSIS_LINES, 2)]
    for warning in found.warnings:
        lines += page.lines(f"warning: {warning}", _ANALYSIS_LINES, 2, style="yellow")
    return lines


# --- the queries ----------------------------------------------------------------------------------------


def query_lines(found: DataRecord, page: Page) -> list[str]:
    """Return both queries, side by side where there is room, else one below the other."""
    agent, truth = found.agent_sql or "(none)", found.truth_sql or "(none)"
    if page.cells is None or page.cells < _BESIDE:
        return [
            *(page.ink("bold", _AGENT), *page.lines(agent, _SQL_LINES, 2)),
            *(page.ink("bold", _TRUTH), *page.lines(truth, _SQL_LINES, 2)),
        ]
    half = (page.cells - len(_GAP)) // 2
    left, right = (replace(page, cells=half).lines(sql, _SQL_LINES, 0) for sql in (agent, truth))
    head = page.ink("bold", pad(_AGENT, half)) + _GAP + page.ink("bold", _TRUTH)
    return [head, *(f"{pad(one, half)}{_GAP}{other}".rstrip() for one, other in zip_longest(left, right, fillvalue=""))]


# --- the rows -------------------------------------------------------------------------------------------


def difference_lines(found: DataRecord, page: Page, indent: int) -> list[str]:
    """Return the rows that differ, expected above answered; nothing where none is known."""
    if not found.differing:
        return []
    names = found.truth.columns if found.truth else ()
    width = max(len(row) for pair in found.differing for row in pair)
    head = ["", *(_shown(name) for name in _padded(names, width))]
    rows = [
        [side, *(_padded([_shown(value) for value in row], width) if row else ["(no such row)"] + [""] * (width - 1))]
        for expected, got in found.differing
        for side, row in (("expected", expected), ("got", got))
    ]
    space = " " * indent
    lines = table(head, rows, keep=2, cells=page.cells, indent=f"{space}  ")
    return [space + page.ink("bold", "rows that differ"), page.ink("dim", lines[0]), *lines[1:]]


def _padded(values: Sequence[str], width: int) -> list[str]:
    return [*values, *[""] * (width - len(values))]


def _result(name: str, sample: ResultSample | None, page: Page) -> list[str]:
    if sample is None:
        return []
    size = f"{plural(sample.row_count, 'row')}, {plural(sample.column_count, 'column')}"
    lines = [f"{page.ink('bold', name)}  {page.ink('dim', size)}"]
    shown = sample.rows if page.full else sample.rows[:_ROWS]
    if sample.columns:
        rows = [_padded([_shown(value) for value in row], len(sample.columns)) for row in shown]
        head, *rest = table(list(map(_shown, sample.columns)), rows, keep=1, cells=page.cells, indent="  ")
        lines += [page.ink("dim", head), *rest]
    return [*lines, *_more(sample, len(shown), page)]


def _more(sample: ResultSample, shown: int, page: Page) -> Iterator[str]:
    if sample.row_count > shown:
        yield page.ink("dim", f"  … {plural(sample.row_count - shown, 'more row')}")


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return one_line(str(value), _CELL) or "''"

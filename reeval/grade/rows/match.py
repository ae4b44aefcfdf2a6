"""Are these the expected rows? The comparison as a match, for any eval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reeval.authoring import Match
from reeval.grade.observing.display import show
from reeval.grade.observing.expectation import Expectation, matched, mismatched, refuse, unavailable
from reeval.grade.rows.compare import Comparison, compare_results
from reeval.schema.data.results import Column, ResultTable
from reeval.schema.observation import Observation

__all__ = ["same_rows"]

_ROWS = "a list of dicts or of tuples, an Arrow table or the JSON text of rows"


def same_rows(expected: Any, *, exact: bool = False) -> Match:
    """Match rows with the expected values, however they are ordered.

    Both sides are a list of dicts, of tuples or of single values, an Arrow table, or the JSON text of such a list. The
    order of rows, the order and the names of columns, and more columns do not matter; how often a row is there does.
    Numbers are compared to 4 significant figures unless ``exact``.
    """
    try:
        truth = _table(expected)
    except _NoRowsError as error:
        refuse("same_rows", f"takes {_ROWS}: {error}")

    def look(value: object) -> Observation:
        try:
            answer = _table(value)
        except _NoRowsError as error:
            return mismatched(f"expected {_counted(truth)}\ngot {show(value)}: {error}")
        if not answer.row_count and not answer.columns:
            answer = ResultTable(columns=truth.columns, rows=())  # an empty list does not say which columns it has
        return _observed(compare_results(truth, answer, exact=exact))

    return Expectation("same_rows", f"{_counted(truth)}{', exact' if exact else ''}", look)


class _NoRowsError(Exception):
    """A value that is no table."""


def _observed(came: Comparison) -> Observation:
    if came.verdict == "pass":
        return matched("; ".join(came.warnings))
    if came.verdict == "review":
        return unavailable(came.analysis)
    rows = [f"- expected {_shown(expected)}, got {_shown(got)}" for expected, got in came.differing]
    return mismatched("\n".join([f"expected the same rows: {came.reason}", came.analysis, *rows]))


def _table(value: Any) -> ResultTable:
    if isinstance(value, ResultTable):
        return value
    if isinstance(value, str | bytes):
        return _table(_parsed(value))
    if hasattr(value, "num_rows") and hasattr(value, "column_names"):
        return ResultTable(columns=_columns(value.column_names), arrow=value)
    if not isinstance(value, Sequence):
        raise _NoRowsError(f"{type(value).__name__} is not")
    if value and all(isinstance(row, Mapping) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        return ResultTable(
            columns=_columns(map(str, names)), rows=[tuple(row.get(name) for name in names) for row in value]
        )
    return _from_sequences(value)


def _from_sequences(value: Sequence[Any]) -> ResultTable:
    many = [isinstance(row, list | tuple) for row in value]
    rows = [tuple(row) for row in value] if all(many) else [(row,) for row in value]
    if any(many) and not all(many):
        raise _NoRowsError("some of its items are rows and some are not")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise _NoRowsError(f"its rows have from {min(widths)} to {max(widths)} values")
    return ResultTable(columns=_columns(str(at + 1) for at in range(max(widths, default=0))), rows=rows)


def _parsed(text: str | bytes) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _NoRowsError("the text is not JSON") from error
    if not isinstance(value, list):
        raise _NoRowsError("the JSON is no list")
    return value


def _columns(names: Any) -> tuple[Column, ...]:
    return tuple(Column(name=name, type="") for name in names)


def _counted(table: ResultTable) -> str:
    rows, columns = table.row_count, len(table.columns)
    return f"{rows:,} {'row' if rows == 1 else 'rows'} of {columns:,} {'column' if columns == 1 else 'columns'}"


def _shown(row: Sequence[Any]) -> str:
    return show(row, 100) if row else "no such row"

"""What of a result is kept for people? Its first rows and columns, each cell bounded, as JSON can hold it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from reeval.schema.data.results import ResultTable
from reeval.schema.recorded.data import ResultSample

__all__ = ["bounded_sql", "differing_rows", "sample_of"]

SAMPLE_ROWS = 20
SAMPLE_COLUMNS = 40
CELL_CHARACTERS = 200
SQL_CHARACTERS = 32 * 1024
_EXACT = 2**53
"""Whole numbers that every reader of JSON takes for what they are."""
_DEEPEST = 4
_ITEMS = 20


def sample_of(table: ResultTable) -> ResultSample:
    """Return the head of a result."""
    return ResultSample(
        columns=tuple(_text(column.name) for column in table.columns[:SAMPLE_COLUMNS]),
        rows=tuple(_row(row) for row in _head(table)),
        row_count=table.row_count,
        column_count=len(table.columns),
    )


def differing_rows(
    pairs: Iterable[tuple[Sequence[Any], Sequence[Any]]],
) -> tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]:
    """Return pairs of rows as they are kept."""
    return tuple((_row(expected), _row(got)) for expected, got in pairs)


def bounded_sql(sql: str | None) -> str | None:
    """Return a query, cut in the middle where it is longer than anybody reads."""
    if sql is None or len(sql) <= SQL_CHARACTERS:
        return sql
    half = SQL_CHARACTERS // 2
    return f"{sql[:half]}\n-- … {len(sql) - 2 * half:,} characters cut …\n{sql[-half:]}"


def _head(table: ResultTable) -> Iterable[Sequence[Any]]:
    if table.rows is not None:
        return islice(table.rows, SAMPLE_ROWS)
    columns = [_arrow_head(column) for column in table.arrow.columns[:SAMPLE_COLUMNS]]
    return list(zip(*columns, strict=True))


def _arrow_head(column: Any) -> list[Any]:
    head = column.slice(0, SAMPLE_ROWS)
    try:
        return list(head.to_pylist())
    except (ValueError, OverflowError, ArithmeticError):  # Nanoseconds, or a date that Python does not have.
        return list(head.cast("string").to_pylist())


def _row(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_cell(value) for value in row[:SAMPLE_COLUMNS])


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Infinity")
        )
    return _text(_shown(value))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return "0x" + bytes(value[:CELL_CHARACTERS]).hex()
    if isinstance(value, dict | list | tuple | set):
        return json.dumps(_nested(value, 0), ensure_ascii=False)
    return str(value)


def _nested(value: Any, depth: int) -> Any:
    """Return the beginning of a list or a struct as JSON data."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {_text(str(key)): _nested(item, depth + 1) for key, item in islice(value.items(), _ITEMS)}
    if isinstance(value, list | tuple | set):
        return [_nested(item, depth + 1) for item in islice(value, _ITEMS)]
    return _cell(value)


def _text(text: str) -> str:
    return text if len(text) <= CELL_CHARACTERS else f"{text[: CELL_CHARACTERS - 1]}…"

"""Which engine reads two results? DuckDB reads large ones, when Arrow is there to hand them over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from reeval.grade.rows.engines.engine import Engine
from reeval.grade.rows.engines.small import SmallEngine
from reeval.schema.data.results import ResultTable

__all__ = ["LARGE_FROM", "open_engine", "open_large"]

LARGE_FROM = 40_000
"""Cells of both results together; below it plain Python is done before DuckDB has begun."""


@contextmanager
def open_engine(truth: ResultTable, answer: ResultTable, *, exact: bool) -> Iterator[Engine]:
    """Hand out what reads both results."""
    cells = sum(table.row_count * len(table.columns) for table in (truth, answer))
    if cells >= LARGE_FROM or truth.rows is None or answer.rows is None:
        both = [_as_arrow(table) for table in (truth, answer)]
        if both[0] is not None and both[1] is not None:
            with open_large(both[0], both[1], exact=exact) as engine:
                yield engine
            return
    yield SmallEngine(truth, answer, exact=exact)


@contextmanager
def open_large(truth: ResultTable, answer: ResultTable, *, exact: bool) -> Iterator[Engine]:
    """Hand out what reads two results of Arrow in DuckDB."""
    import tempfile

    import duckdb

    from reeval.grade.rows.engines.large import LargeEngine

    with tempfile.TemporaryDirectory(prefix="reeval-") as folder:
        db = duckdb.connect(":memory:", config={"temp_directory": folder})
        try:
            db.execute("SET TimeZone = 'UTC'")
            yield LargeEngine(db, truth, answer, exact=exact)
        finally:
            db.close()


def _as_arrow(table: ResultTable) -> ResultTable | None:
    """Return the table as one of Arrow; None: it cannot be, for its columns hold values of several kinds."""
    if table.rows is None:
        return table
    if find_spec("pyarrow") is None:
        return None
    import pyarrow as pa

    columns: list[Any] = []
    values = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
    try:
        columns = [pa.array(column) for column in values]
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    names = [f"c{at}" for at in range(len(columns))]
    return ResultTable(columns=table.columns, arrow=pa.table(columns, names=names))

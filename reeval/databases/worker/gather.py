"""How does a result become whole, and how much of it is too much? A few rows as they are, many as an Arrow file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reeval.backends import QueryError
from reeval.databases.worker.arrow import Table
from reeval.databases.worker.engine import Found
from reeval.databases.worker.values import size_of, typed_by_values
from reeval.databases.worker.wire import Limits, ResultFile, ResultRows

__all__ = ["MOST_COLUMNS", "SMALL", "gathered"]

SMALL = 5_000
"""Rows up to which a result is handed over as Python's values."""
_SMALL_BYTES = 64 << 20
"""Likewise: fewer rows with long texts are many too."""
_MOST_PLAIN = 200_000
"""Rows without pyarrow."""
MOST_COLUMNS = 5_000


def gathered(found: Found, limits: Limits) -> ResultRows | ResultFile:
    """Read a result to its end; raise ``QueryError`` when it is larger than the limits."""
    if len(found.columns) > MOST_COLUMNS:
        raise QueryError(f"the result has {len(found.columns):,} columns; at most {MOST_COLUMNS:,} are compared")
    head: list[tuple[Any, ...]] = []
    size = 0
    for rows in found.rows:
        head += rows
        size += sum(map(size_of, rows))
        _check(len(head), size, limits)
        if len(head) > SMALL or size > _SMALL_BYTES:
            return _large(found, head, limits)
    return ResultRows(columns=typed_by_values(found.columns, head), rows=head)


def _large(found: Found, head: list[tuple[Any, ...]], limits: Limits) -> ResultFile | ResultRows:
    if find_spec("pyarrow") is None:
        return _without_arrow(found, head, limits)
    if found.arrow is None:
        table = Table(found.columns)
        count = size = 0
        for rows in _chained(head, found.rows):
            count += len(rows)
            size += sum(map(size_of, rows))
            _check(count, size, limits)
            table.add(rows)
        with _new_file(limits) as path:
            table.write(path)
        return ResultFile(columns=table.columns, path=path)
    with _new_file(limits) as path:
        _copy(found.arrow(), path, limits)
    return ResultFile(columns=found.columns, path=path)


def _without_arrow(found: Found, head: list[tuple[Any, ...]], limits: Limits) -> ResultRows:
    size = 0
    for rows in found.rows:
        head += rows
        size += sum(map(size_of, rows))
        _check(len(head), size, limits)
        if len(head) > _MOST_PLAIN or size > _SMALL_BYTES:
            raise QueryError(
                f"the result has more than {_MOST_PLAIN:,} rows, or long ones; install what reads such results with "
                "pip install 'reeval[data]'"
            )
    return ResultRows(columns=typed_by_values(found.columns, head), rows=head)


def _copy(reader: Any, path: str, limits: Limits) -> None:
    import pyarrow as pa

    count = size = 0
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, reader.schema) as writer:
        for batch in reader:
            count += batch.num_rows
            size += batch.nbytes
            _check(count, size, limits)
            writer.write_batch(batch)


def _chained(head: Sequence[tuple[Any, ...]], rest: Iterable[Sequence[Any]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    yield head
    yield from rest


@contextmanager
def _new_file(limits: Limits) -> Iterator[str]:
    handle, path = tempfile.mkstemp(suffix=".arrow", dir=limits.directory)
    os.close(handle)
    try:
        yield path
    except BaseException:
        Path(path).unlink()
        raise


def _check(rows: int, size: int, limits: Limits) -> None:
    if rows > limits.max_rows:
        raise QueryError(f"the result has more than {limits.max_rows:,} rows (max_rows of [data])")
    if size > limits.max_bytes:
        raise QueryError(f"the result is larger than {limits.max_bytes >> 20:,} MB ({rows:,} rows of it)")

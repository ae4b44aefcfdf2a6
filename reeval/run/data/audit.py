"""Is a ground truth at fault? It is run again, in other ways that should give the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import anyio.to_thread

from reeval.backends import QueryError, Snapshots
from reeval.grade.data.probes import LimitProbe, distinct_count, limit_probe, turned_around
from reeval.schema.data.results import ResultTable

__all__ = ["audit"]

_COUNTED_HERE = 10_000
"""Rows that are counted in Python; more are counted by the database."""


async def audit(
    sql: str, snapshot: Snapshots, *, dialect: str = "duckdb", limit: float | None = None
) -> tuple[str, ...]:
    """Return a sentence for each thing that is suspicious about a ground truth; empty: nothing is.

    ``dialect`` is the kind of its database. After ``limit`` seconds, what was found until then counts. What the
    database refuses of the probes says nothing. Never raises ``QueryError``.
    """
    found: list[str] = []
    with anyio.move_on_after(limit):
        async for suspicion in _suspicions(sql, snapshot, dialect):
            found.append(suspicion)  # noqa: PERF401 - what was found stays when time is up
    return tuple(found)


async def _suspicions(sql: str, snapshot: Snapshots, dialect: str) -> AsyncIterator[str]:
    try:
        truth = await snapshot.query(sql)
    except QueryError as error:
        first, *_ = str(error).splitlines() or [""]
        yield f"The ground truth does not run: {first}"
        return
    if not truth.row_count:
        yield "The ground truth is empty: every empty answer passes."
        return
    if tie := await _cut_tie(sql, truth, snapshot, dialect):
        yield tie
    if repeated := await _duplicates(sql, truth, snapshot, dialect):
        yield repeated
    # A tie that is cut is why another order of rows gives another result.
    if not tie and (unstable := await _unstable(sql, truth, snapshot, dialect)):
        yield unstable


# --- a LIMIT ------------------------------------------------------------------------------------------


async def _cut_tie(sql: str, truth: ResultTable, snapshot: Snapshots, dialect: str) -> str | None:
    probe = limit_probe(sql, dialect)
    if probe is None or truth.row_count != probe.limit:
        return None
    more = await _try(snapshot, probe.sql)
    if more is None or more.row_count <= probe.limit:
        return None
    if not probe.keys:
        return f"LIMIT {probe.limit} without ORDER BY: which rows the ground truth keeps is chance."
    (last, next_row) = _rows(more, probe.limit - 1, probe.limit + 1)
    at = list(_positions(probe, more))
    shown = len(more.columns) - probe.added
    if None in at or last[:shown] == next_row[:shown]:
        return None
    keys = [position for position in at if position is not None]
    if [last[position] for position in keys] != [next_row[position] for position in keys]:
        return None
    return (
        f"LIMIT {probe.limit} cuts a tie: the next row is ordered alike, so which one the ground truth keeps is "
        "chance; order by more columns."
    )


def _positions(probe: LimitProbe, result: ResultTable) -> Iterator[int | None]:
    names = [column.name.lower() for column in result.columns]
    for key in probe.keys:
        if isinstance(key, int):
            yield key if 0 <= key < len(names) else None
        else:
            yield names.index(key.lower()) if key.lower() in names else None


def _rows(result: ResultTable, start: int, stop: int) -> list[list[Any]]:
    if result.rows is not None:
        return [list(row) for row in result.rows[start:stop]]
    part = result.arrow.slice(start, stop - start)
    columns = [part.column(position).to_pylist() for position in range(part.num_columns)]
    return [list(row) for row in zip(*columns, strict=True)]


# --- the same data, another result --------------------------------------------------------------------


async def _unstable(sql: str, truth: ResultTable, snapshot: Snapshots, dialect: str) -> str | None:
    again = await _try(snapshot, sql)
    if again is not None and await _differs(truth, again):
        return "Two runs of the ground truth give different results: it does not depend on the data alone."
    other = turned_around(sql, dialect)
    mixed = await _try(snapshot, other) if other else None
    if mixed is not None and await _differs(truth, mixed):
        return "The ground truth gives another result when its tables' rows come in another order."
    return None


async def _differs(truth: ResultTable, other: ResultTable) -> bool:
    from reeval.grade.rows.compare import compare_results

    compared = await anyio.to_thread.run_sync(compare_results, truth, other, abandon_on_cancel=True)
    return compared.verdict == "fail"


# --- rows that stand there twice ----------------------------------------------------------------------


async def _duplicates(sql: str, truth: ResultTable, snapshot: Snapshots, dialect: str) -> str | None:
    total = truth.row_count
    if truth.rows is not None and total <= _COUNTED_HERE:
        different: int | None = len(set(map(repr, truth.rows)))
    else:
        counting = distinct_count(sql, dialect)
        counted = await _try(snapshot, counting) if counting else None
        different = int(_rows(counted, 0, 1)[0][0]) if counted else None
    if different is None or different >= total:
        return None
    return (
        f"{total - different:,} of the {total:,} rows of the ground truth repeat another one whole: a join that "
        "multiplies rows, or a missing DISTINCT."
    )


async def _try(snapshot: Snapshots, sql: str) -> ResultTable | None:
    try:
        return await snapshot.query(sql)
    except QueryError:
        return None

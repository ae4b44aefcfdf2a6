"""Results for tests, and the comparison of two of them by both engines."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import duckdb

from reeval.grade.rows.compare import Comparison, compare_with
from reeval.grade.rows.engines.opening import open_large
from reeval.grade.rows.engines.small import SmallEngine
from reeval.grade.rows.why.wording import Tables
from reeval.schema.data.results import Column, ResultTable


def table(rows: list[tuple[Any, ...]], *names: str, types: tuple[str, ...] = ()) -> ResultTable:
    """A result of Python values."""
    width = len(names) or (len(rows[0]) if rows else 0)
    named = names or tuple(f"c{at}" for at in range(width))
    kinds = types or ("",) * width
    return ResultTable(
        columns=tuple(Column(name=name, type=type) for name, type in zip(named, kinds, strict=True)), rows=rows
    )


def queried(sql: str) -> tuple[ResultTable, ResultTable]:
    """What DuckDB gives for a query: as Python values, and as Arrow."""
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        relation = db.sql(sql)
        columns = tuple(
            Column(name=name, type=str(type)) for name, type in zip(relation.columns, relation.types, strict=True)
        )
        arrow = relation.to_arrow_table()
        return ResultTable(columns=columns, rows=db.sql(sql).fetchall()), ResultTable(columns=columns, arrow=arrow)


def small(truth: ResultTable, answer: ResultTable, *, exact: bool = False) -> Comparison:
    """Compare in plain Python."""
    return compare_with(SmallEngine(truth, answer, exact=exact), Tables(truth, answer), exact=exact)


def large(truth: ResultTable, answer: ResultTable, *, exact: bool = False) -> Comparison:
    """Compare in DuckDB."""
    with open_large(truth, answer, exact=exact) as engine:
        return compare_with(engine, Tables(truth, answer), exact=exact)


def both_queried(truth: str, answer: str, *, exact: bool = False) -> Comparison:
    """Compare what two queries give by both engines, which must agree."""
    (truth_rows, truth_arrow), (answer_rows, answer_arrow) = queried(truth), queried(answer)
    one = small(truth_rows, answer_rows, exact=exact)
    other = large(truth_arrow, answer_arrow, exact=exact)
    assert (one.verdict, one.reason, one.warnings) == (other.verdict, other.reason, other.warnings), (one, other)
    assert one.analysis == other.analysis
    return one


def by_hand(truth: list[tuple[Any, ...]], answer: list[tuple[Any, ...]], width: int, other_width: int) -> bool:
    """Whether any injective map of columns makes the rows equal: every one is tried."""
    wanted = sorted(map(repr, truth))
    return any(
        sorted(repr(tuple(row[at] for at in chosen)) for row in answer) == wanted
        for chosen in permutations(range(other_width), width)
    )

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from reeval.grade.data.sample import bounded_sql, differing_rows, sample_of
from reeval.schema.data.results import Column, ResultTable


def table(rows: list[tuple[Any, ...]], columns: int = 1) -> ResultTable:
    return ResultTable(columns=tuple(Column(name=f"c{at}", type="VARCHAR") for at in range(columns)), rows=rows)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (2**53, "9007199254740992"),
        (-(10**30), "-1" + "0" * 30),
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("inf"), "+Infinity"),
        (float("-inf"), "-Infinity"),
        (Decimal("1.10"), "1.10"),
        ("a", "a"),
        ("x" * 500, "x" * 199 + "…"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.datetime(2026, 1, 2, 3, 4), "2026-01-02 03:04:00"),  # noqa: DTZ001 - as databases give it
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(days=1), "1 day, 0:00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"\x00\xff", "0x00ff"),
        ([1, None, "a"], '[1, null, "a"]'),
        ({"a": [float("nan")]}, '{"a": ["NaN"]}'),
    ],
)
def test_a_cell_is_kept_as_json_can_hold_it(value: Any, kept: Any) -> None:
    sample = sample_of(table([(value,)]))
    assert sample.rows == ((kept,),)
    assert msgspec.json.decode(msgspec.json.encode(sample), type=type(sample)) == sample


def test_a_result_is_kept_by_its_head_and_its_size() -> None:
    sample = sample_of(table([tuple(range(100))] * 1000, columns=100))
    assert (sample.row_count, sample.column_count) == (1000, 100)
    assert (len(sample.rows), len(sample.columns), len(sample.rows[0])) == (20, 40, 40)


def test_a_nested_value_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = [deep] * 3
    ((kept,),) = sample_of(table([(deep,)])).rows
    assert len(kept) <= 200


def test_rows_that_differ_are_kept_the_same_way() -> None:
    assert differing_rows([((Decimal(1), None), ()), ((), (b"\1", 2))]) == ((("1", None), ()), ((), ("0x01", 2)))


def test_a_query_is_cut_in_the_middle() -> None:
    assert bounded_sql(None) is None
    assert bounded_sql("SELECT 1") == "SELECT 1"
    cut = bounded_sql("a" * 100_000 + "b" * 100_000)
    assert cut is not None
    assert len(cut) < 33_000
    assert (cut[0], cut[-1]) == ("a", "b")
    assert "167,232 characters cut" in cut


def test_a_large_result_of_arrow_is_kept_by_its_head() -> None:
    pa = pytest.importorskip("pyarrow")
    arrow = pa.table(
        [pa.array(range(10_000)), pa.array([1] * 10_000, pa.timestamp("ns"))],
        names=["n", "n"],
    )
    columns = (Column(name="n", type="BIGINT"), Column(name="n", type="TIMESTAMP_NS"))
    sample = sample_of(ResultTable(columns=columns, arrow=arrow))
    assert sample.row_count == 10_000
    assert sample.rows[1] == (1, "1970-01-01 00:00:00.000000001")

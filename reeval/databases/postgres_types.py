"""What do PostgreSQL's types become? Values of Python, and names of DuckDB's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

__all__ = ["column_type", "plain_loaders"]

_WORDS = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "oid": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "bytea": "BLOB",
    "date": "DATE",
    "time": "TIME",
    "timetz": "TIME WITH TIME ZONE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "interval": "INTERVAL",
    "uuid": "UUID",
    "json": "JSON",
    "jsonb": "JSON",
    "bit": "BIT",
    "varbit": "BIT",
}
"""All others are text: DuckDB has no type like them."""
_TIMES = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")
_TEXTS = ("text", "varchar", "bpchar", '"char"', "name")
_KEPT = frozenset({*_WORDS, *_TEXTS, "numeric"}) - {"json", "jsonb", *_TIMES}
"""Types whose values psycopg loads as they should be."""


def column_type(connection: psycopg.Connection[Any], column: psycopg.Column) -> str:
    """Return the type of a column in DuckDB's words."""
    info = connection.adapters.types.get(column.type_code)
    if info is None:
        return "VARCHAR"
    ending = "[]" if info.oid != column.type_code else ""
    if info.name == "numeric":
        precision, scale = column.precision, column.scale
        return f"DECIMAL({precision},{scale})" + ending if _is_decimal(precision, scale) else "DECIMAL" + ending
    return _WORDS.get(info.name, "VARCHAR") + ending


def plain_loaders(connection: psycopg.Connection[Any]) -> Iterator[tuple[int, Any]]:
    """Yield loaders by type: JSON and the types without a counterpart stay text, and so do times out of range."""
    from psycopg.types.string import TextLoader

    times = _time_loaders()
    for info in connection.adapters.types:
        if info.name in times:
            yield info.oid, times[info.name]
        elif info.name not in _KEPT:
            yield info.oid, TextLoader


def _is_decimal(precision: int | None, scale: int | None) -> bool:
    return precision is not None and scale is not None and 0 < precision <= 38 and 0 <= scale <= precision


def _time_loaders() -> dict[str, Any]:
    from psycopg.types import datetime as types

    return {
        "date": _lenient(types.DateLoader),
        "time": _lenient(types.TimeLoader),
        "timetz": _lenient(types.TimetzLoader),
        "timestamp": _lenient(types.TimestampLoader),
        "timestamptz": _lenient(types.TimestamptzLoader),
        "interval": _lenient(types.IntervalLoader),
    }


def _lenient(loader: Any) -> Any:
    """Return a loader that gives the text of what Python's types cannot hold: ``infinity``, years B.C."""
    from psycopg import DataError

    class Lenient(loader):  # type: ignore[misc]  # a class that is only known here
        def load(self, data: Any) -> Any:
            try:
                return super().load(data)
            except (DataError, ValueError, OverflowError):
                return bytes(data).decode("utf-8", "replace")

    return Lenient

"""How large is a value, and of which type is a column whose engine does not say?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reeval.schema.data.results import Column

__all__ = ["NULL", "size_of", "type_of", "typed_by_values", "wider"]

NULL = "NULL"
"""The type of a column without a value, in DuckDB's words."""
_PLAIN = 16
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR", bytes: "BLOB", type(None): NULL}


def size_of(row: tuple[Any, ...]) -> int:
    """Return about how many bytes a row takes."""
    return sum(_size(cell) for cell in row)


def typed_by_values(columns: tuple[Column, ...], rows: Sequence[tuple[Any, ...]]) -> tuple[Column, ...]:
    """Fill in the types that are empty."""
    return tuple(
        column if column.type else replace(column, type=type_of([row[index] for row in rows]))
        for index, column in enumerate(columns)
    )


def type_of(values: Sequence[Any]) -> str:
    """Return the narrowest type of all values, which are those of SQLite."""
    found = NULL
    for kind in set(map(type, values)):
        found = wider(found, _TYPES[kind])
    return found


def wider(left: str, right: str) -> str:
    """Return the type that holds the values of both."""
    if right in {left, NULL}:
        return left
    if left == NULL:
        return right
    return "DOUBLE" if {left, right} == {"BIGINT", "DOUBLE"} else "VARCHAR"


def _size(cell: object) -> int:
    if isinstance(cell, str | bytes):
        return len(cell) + _PLAIN
    if isinstance(cell, dict):
        return _PLAIN + sum(_size(key) + _size(value) for key, value in cell.items())
    if isinstance(cell, list | tuple):
        return _PLAIN + sum(map(_size, cell))
    return _PLAIN

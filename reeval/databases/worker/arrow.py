"""How do rows of Python's values become columns of Arrow, some rows at a time?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reeval.databases.worker.values import NULL, type_of, wider
from reeval.schema.data.results import Column

__all__ = ["Table"]

_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class Table:
    """Columns that grow. A column whose values do not fit its type becomes text."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = [_Grown(column) for column in columns]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns with the types that they have in the file."""
        return tuple(replace(one.column, type=one.word) for one in self._columns)

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Take some rows."""
        for index, column in enumerate(self._columns):
            column.add([row[index] for row in rows])

    def write(self, path: str) -> None:
        """Write a file of Arrow's own form."""
        import pyarrow as pa

        arrays = [column.whole() for column in self._columns]
        names = [column.column.name for column in self._columns]
        table = pa.Table.from_arrays(arrays, names=names)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


class _Grown:
    def __init__(self, column: Column) -> None:
        self.column = column
        self.word = column.type or NULL
        self._told = bool(column.type)
        self._chunks: list[Any] = []

    def add(self, values: list[Any]) -> None:
        word = self.word if self._told else wider(self.word, type_of(values))
        try:
            chunk = _array(values, word)
        except (ValueError, TypeError, OverflowError):  # pyarrow's own errors are these
            word, chunk = "VARCHAR", _array(values, "VARCHAR")
        self.word = word
        self._chunks.append(chunk)

    def whole(self) -> Any:
        import pyarrow as pa

        kind = _arrow_type(self.word)
        chunks = [chunk if chunk.type == kind else _cast(chunk, self.word) for chunk in self._chunks]
        return pa.chunked_array(chunks, type=kind)


def _array(values: list[Any], word: str) -> Any:
    import pyarrow as pa

    if word == "VARCHAR":
        values = [None if value is None else _text(value) for value in values]
    if word == "DOUBLE":
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, type=_arrow_type(word))


def _cast(chunk: Any, word: str) -> Any:
    return _array(chunk.to_pylist(), word)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).encode("utf-8", "replace").decode()


def _arrow_type(word: str) -> Any:
    import pyarrow as pa

    if decimal := _DECIMAL.fullmatch(word):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return {
        NULL: pa.null(),
        "BOOLEAN": pa.bool_(),
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "SMALLINT": pa.int16(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us"),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
        "BLOB": pa.binary(),
    }.get(word, pa.string())

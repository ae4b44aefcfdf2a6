"""What is there to know of one large result before its keys are made? Families, largest numbers, what texts say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from reeval.grade.rows.engines.columns import ValueColumn
from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.sql import double_sql, family_of_sql, parses_sql
from reeval.schema.data.results import ResultTable

__all__ = ["PreparedResult"]

_SAMPLE = 1_000


class PreparedResult:
    """One result as a relation ``raw_SIDE`` of a DuckDB connection, with columns ``c0``, ``c1`` and so on."""

    def __init__(self, db: Any, side: str, table: ResultTable, *, exact: bool) -> None:
        self.db, self.table, self.rows = db, table, table.row_count
        self.source = f"raw_{side}"
        self.arrow = table.arrow.rename_columns([f"c{at}" for at in range(len(table.columns))])
        db.register(self.source, self.arrow)
        self._exact = exact
        self.types: Sequence[str] = [str(type) for type in db.sql(f"FROM {self.source}").types]
        self._fits: dict[tuple[int, Reading], bool] = {}

    @cached_property
    def in_python(self) -> dict[int, ValueColumn]:
        """The columns whose keys are made in Python: what is nested has no canonical form in SQL."""
        declared = [column.type for column in self.table.columns]
        odd = [
            at for at, type in enumerate(self.types) if family_of_sql(type) is None or declared[at] in {"JSON", "BIT"}
        ]
        return {at: ValueColumn(self.table.columns[at], self._values(at), self._exact) for at in odd}

    @cached_property
    def families(self) -> Sequence[Family]:
        """Each column's family."""
        own = [
            None
            if at in self.in_python
            else Family.UUID
            if self.table.columns[at].type == "UUID"
            else family_of_sql(type)
            for at, type in enumerate(self.types)
        ]
        counts = self.row(f"count(c{at})" for at in range(len(own)))
        return [
            self.in_python[at].family if family is None else family if counts[at] else Family.NULL
            for at, family in enumerate(own)
        ]

    @cached_property
    def peaks(self) -> Sequence[float]:
        """The largest finite size in each column of numbers, and of booleans; 0 for what is neither."""
        return [
            largest or 0.0
            for largest in self.row(
                self.peak_sql(at)
                if family in {Family.NUMBER, Family.BOOLEAN} and at not in self.in_python
                else "max(0)"
                for at, family in enumerate(self.families)
            )
        ]

    def peak_sql(self, at: int) -> str:
        """Return SQL of the largest finite size of a column."""
        double = double_sql(f"c{at}", self.families[at])
        return f"max(abs({double})) FILTER (isfinite({double}))"

    def peak(self, at: int) -> float:
        """Return the largest finite size of a column that can be read as numbers, texts too."""
        if at in self.in_python:
            return self.in_python[at].peak
        if self.families[at] is Family.TEXT:
            return self.row([self.peak_sql(at)])[0] or 0.0
        return self.peaks[at]

    def reads_as(self, at: int, reading: Reading) -> bool:
        """Say whether a column can be read so: of texts, whether every one says such a value."""
        if at in self.in_python:
            return self.in_python[at].keys(reading) is not None
        if self.families[at] is not Family.TEXT or reading in {Reading.TEXT, Reading.NULL, Reading.MIXED}:
            return True
        if (at, reading) not in self._fits:
            self._fits[at, reading] = self._all_say(at, reading)
        return self._fits[at, reading]

    def as_python(self, at: int) -> ValueColumn:
        """Return a column whose keys are made in Python from now on."""
        if at not in self.in_python:
            self.in_python[at] = ValueColumn(self.table.columns[at], self._values(at), self._exact)
        return self.in_python[at]

    def row(self, expressions: Iterable[str], source: str = "") -> Sequence[Any]:
        """Return one row of aggregates over all rows."""
        found: Sequence[Any] = self.db.execute(
            f"SELECT {', '.join(expressions)} FROM {source or self.source}"
        ).fetchall()[0]
        return found

    def _all_say(self, at: int, reading: Reading) -> bool:
        if reading is Reading.NESTED:
            return self._sample_says(at, f"c{at}[1:1] IN ('{{', '[')") and self.as_python(at).keys(reading) is not None
        says = parses_sql(f"c{at}", reading)
        return self._sample_says(at, says) and bool(self.row([f"bool_and({says})"])[0])

    def _sample_says(self, at: int, says: str) -> bool:
        sample = f"(SELECT c{at} FROM {self.source} WHERE c{at} IS NOT NULL LIMIT {_SAMPLE})"
        return bool(self.row([f"bool_and({says})"], sample)[0])

    def _values(self, at: int) -> Sequence[Any]:
        if self.table.columns[at].type == "BIT":
            return [_bits(value) for (value,) in self.db.execute(f"SELECT c{at} FROM {self.source}").fetchall()]
        return [value for (value,) in self.db.execute(f"SELECT c{at} FROM {self.source}").fetchall()]


def _bits(value: bytes | str | None) -> str | None:
    """Return the bits that DuckDB hands over as bytes: the first says how many of the second's do not count."""
    if value is None or isinstance(value, str):
        return value
    return "".join(f"{byte:08b}" for byte in value[1:])[value[0] :]

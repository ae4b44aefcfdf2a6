"""What are the keys of one large result, and their fingerprints? A table in DuckDB and scans of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reeval.grade.rows.engines.engine import Relation
from reeval.grade.rows.engines.prepared import PreparedResult
from reeval.grade.rows.keys.changes import Change
from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.numbers import ABSOLUTE_NOISE, NOISE
from reeval.grade.rows.keys.sql import NumberKeys, changed_sql, double_sql, key_sql, staged, whole_sql

__all__ = ["KeyTable"]

_BUCKETS = 4096
_SEEN = 65536
_NUMBERS = {Reading.NUMBER, Reading.FAINT}
_WHOLE_TYPES = {
    *("SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL(38,0)"),
}
_MERGED_FROM = 10_000
"""Whole numbers below it have no figures that rounding takes away."""


class KeyTable:
    """The keys ``kCOLUMN_READING`` of one result, and its whole numbers ``wCOLUMN`` as they are."""

    def __init__(self, raw: PreparedResult, side: str, readings: Mapping[int, set[Reading]], *, exact: bool) -> None:
        self._raw, self._db, self._exact = raw, raw.db, exact
        self.name = f"keys_{side}"
        numbers: dict[str, NumberKeys] = {}
        others: dict[str, str] = {}
        made: dict[str, Any] = {}
        for at, wanted in readings.items():
            for reading in sorted(wanted):
                name = f"k{at}_{reading}"
                if at in raw.in_python:
                    made[name] = _arrow(raw.in_python[at].keys(reading) or (), reading, exact=exact)
                elif reading in _NUMBERS:
                    numbers[name] = self._number(at, reading)
                else:
                    others[name] = key_sql(f"c{at}", raw.families[at], reading)
        self._whole = {at for at in readings if not exact and self._rounds_whole(at)}
        others |= {f"w{at}": f"CAST(c{at} AS HUGEINT)" for at in self._whole}
        source = raw.source
        if made:
            source = self._beside(made)
            others |= {name: name for name in made}
        if not numbers and not others:
            others = {"nothing": "1"}
        self._db.execute(f"CREATE TABLE {self.name} AS {staged(numbers, others, source)}")

    def prints(self, relation: Relation, before: Sequence[str], wanted: Sequence[str]) -> Mapping[str, Any]:
        """Return, for each wanted column beside the ones before, what must be equal or less for the relation to be.

        Hashed twice: a hash of several values is a xor of theirs, which sums see through.
        """
        if not wanted:
            return {}
        hashes = {name: f"hash(hash(before, {name}))" if before else f"hash({name})" for name in wanted}
        kept = ", ".join([*([f"hash({', '.join(before)}) AS before"] if before else []), *wanted])
        source = f"(SELECT {kept} FROM {self.name})"
        if relation is Relation.EQUAL:
            return self._sums(hashes, source)
        return {name: self._buckets(relation, hash, source) for name, hash in hashes.items()}

    def whole(self, names: Sequence[str]) -> Any:
        """Return a fingerprint of whole rows, whatever their order."""
        return self._sums({"row": f"hash(hash({', '.join(names)}))"}, self.name)["row"]

    def in_order(self, wanted: Sequence[str]) -> Mapping[str, Any]:
        """Return a fingerprint of each column's values in their rows."""
        return self._sums({name: f"hash(hash(rowid, {name}))" for name in wanted}, self.name)

    def first_rows(self, names: Sequence[str], count: int) -> Any:
        """Return a fingerprint of the first rows, in their order."""
        kept = ", ".join(names)
        source = f"(SELECT rowid AS nth, {kept} FROM {self.name} WHERE rowid < {count})"
        return self._sums({"row": f"hash(hash(nth, {kept}))"}, source)["row"]

    def rows_sql(self, names: Sequence[str], *, hashed: bool = False) -> str:
        """Return a query of whole rows, or of a hash of each."""
        kept = ", ".join(names)
        return f"SELECT {f'hash({kept})' if hashed else kept} FROM {self.name}"

    def hashes_sql(self, names: Sequence[str]) -> str:
        """Return a query of each row's hash ``h`` and ``place``."""
        return f"SELECT hash({', '.join(names)}) AS h, rowid AS place FROM {self.name}"

    def is_whole(self, at: int) -> bool:
        """Say whether a column has whole numbers that rounding could merge."""
        return at in self._whole

    def changed(self, at: int, reading: Reading, change: Change | None) -> Any:
        """Return a fingerprint of a column's values after a change."""
        column, family = f"c{at}", self._raw.families[at]
        double = "CAST(NULL AS DOUBLE)" if family is Family.NULL else double_sql(column, family)
        text = "CAST(NULL AS VARCHAR)" if family is Family.NULL else column
        if reading is Reading.TEXT:
            value = changed_sql(change, text, double) if change else text
            query = staged({}, {"k": key_sql(value, Family.TEXT, reading)}, self._raw.source)
        else:
            value = changed_sql(change, text, double) if change else double
            whole = f"TRY_CAST(round({value}) AS HUGEINT)" if self._exact else None
            query = staged({"k": NumberKeys(value, NOISE * self._raw.peaks[at], whole)}, {}, self._raw.source)
        return self._sums({"k": "hash(k)"}, f"({query})")["k"]

    def _sums(self, hashes: Mapping[str, str], source: str) -> Mapping[str, Any]:
        sums = [f"sum({hash}), bit_xor({hash})" for hash in hashes.values()]
        row = self._raw.row(sums, source)
        return {name: (row[2 * at], row[2 * at + 1]) for at, name in enumerate(hashes)}

    def _buckets(self, relation: Relation, hash: str, source: str) -> Any:
        """Return how many rows fall in each of many classes, or which classes there are."""
        if relation is Relation.ALIKE:
            query = f"SELECT DISTINCT {hash} % {_SEEN} FROM {source}"
            return frozenset(bucket for (bucket,) in self._db.execute(query).fetchall())
        query = f"SELECT {hash} % {_BUCKETS} AS bucket, count(*) FROM {source} GROUP BY bucket"
        return dict(self._db.execute(query).fetchall())

    def _number(self, at: int, reading: Reading) -> NumberKeys:
        family, column = self._raw.families[at], f"c{at}"
        limit = NOISE * self._raw.peak(at)
        return NumberKeys(
            double_sql(column, family),
            max(limit, ABSOLUTE_NOISE) if reading is Reading.FAINT else limit,
            whole_sql(column, family) if self._exact else None,
        )

    def _rounds_whole(self, at: int) -> bool:
        return self._raw.types[at] in _WHOLE_TYPES and self._raw.peaks[at] >= _MERGED_FROM

    def _beside(self, made: Mapping[str, Any]) -> str:
        """Return the raw rows with the keys made in Python beside them."""
        import pyarrow as pa

        source = f"{self._raw.source}_made"
        table = self._raw.arrow
        for name, keys in made.items():
            table = table.append_column(name, pa.chunked_array([keys]))
        self._db.register(source, table)
        return source


def _arrow(keys: Sequence[Any], reading: Reading, *, exact: bool) -> Any:
    """Return keys made in Python, typed as those that SQL makes of other columns."""
    import pyarrow as pa

    if reading is Reading.BOOLEAN:
        return pa.array([None if key is None else bool(key) for key in keys], pa.bool_())
    if reading is Reading.NULL:
        return pa.array([None if key is None else 1 for key in keys], pa.int32())
    if reading in {Reading.TIME, Reading.CLOCK, Reading.INTERVAL} or (reading in _NUMBERS and not exact):
        return pa.array(keys, pa.int64())
    if reading is Reading.BLOB:
        return pa.array(keys, pa.binary())
    texts = [key if key is None or isinstance(key, str) else repr(key) for key in keys]
    return pa.array(texts, pa.string())

"""How are two large results searched? Inside DuckDB, a column of keys at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from reeval.grade.rows.engines.engine import Candidates, Pair, Relation, Side
from reeval.grade.rows.engines.prepared import PreparedResult
from reeval.grade.rows.engines.tables import KeyTable
from reeval.grade.rows.keys.changes import BOTH_SIDES, Change, reading_of
from reeval.grade.rows.keys.families import Family, Reading, meeting
from reeval.schema.data.results import ResultTable

__all__ = ["LargeEngine"]

_SIDES = tuple(Side)
_CONFIRMED_EXACTLY = 1_000_000
"""Rows up to which whole rows are compared; past it, two sums over 64-bit hashes of whole rows are."""


class LargeEngine:
    """Both results as tables of keys. Use as a context manager."""

    def __init__(self, db: Any, truth: ResultTable, answer: ResultTable, *, exact: bool) -> None:
        self._db = db
        self._raw = {
            side: PreparedResult(db, side, table, exact=exact)
            for side, table in ((Side.TRUTH, truth), (Side.ANSWER, answer))
        }
        self._reading = cache(self._meet)
        open = self.compatible()
        self._keys = {side: KeyTable(self._raw[side], side, self._readings(side, open), exact=exact) for side in Side}

    def families(self, side: Side) -> Sequence[Family]:
        """See ``Engine``."""
        return self._raw[side].families

    def compatible(self) -> Candidates:
        """See ``Engine``."""
        answers = range(len(self.families(Side.ANSWER)))
        return {
            truth: tuple(answer for answer in answers if self._reading(truth, answer) is not None)
            for truth in range(len(self.families(Side.TRUTH)))
        }

    def sift(self, relation: Relation, fixed: Sequence[Pair], still: Mapping[int, Sequence[int]]) -> Candidates:
        """See ``Engine``."""
        open = [(truth, answer) for truth, answers in still.items() for answer in answers]
        prints = {}
        for at, side in enumerate(_SIDES):
            wanted = sorted({self._name(pair, at) for pair in open})
            prints[side] = self._keys[side].prints(relation, self._names(fixed, at), wanted)
        return {
            truth: tuple(
                answer
                for answer in answers
                if _stands(
                    relation,
                    prints[Side.TRUTH][self._name((truth, answer), 0)],
                    prints[Side.ANSWER][self._name((truth, answer), 1)],
                )
            )
            for truth, answers in still.items()
        }

    def confirm(self, relation: Relation, fixed: Sequence[Pair]) -> bool:
        """See ``Engine``."""
        exactly = max(raw.rows for raw in self._raw.values()) <= _CONFIRMED_EXACTLY
        if relation is Relation.EQUAL and not exactly:
            truth, answer = (self._keys[side].whole(self._names(fixed, at)) for at, side in enumerate(_SIDES))
            return bool(truth == answer)
        truth, answer = (
            self._keys[side].rows_sql(self._names(fixed, at), hashed=not exactly) for at, side in enumerate(_SIDES)
        )
        lacking = {
            Relation.EQUAL: f"({truth} EXCEPT ALL {answer})",
            Relation.WITHIN: f"({truth} EXCEPT ALL {answer})",
            Relation.AROUND: f"({answer} EXCEPT ALL {truth})",
            Relation.ALIKE: f"(({truth} EXCEPT {answer}) UNION ALL ({answer} EXCEPT {truth}))",
        }[relation]
        return not self._db.execute(f"SELECT 1 FROM {lacking} LIMIT 1").fetchall()

    def twins(self, truth: int, answers: Sequence[int]) -> Mapping[int, int]:
        """See ``Engine``."""
        names = {answer: self._name((truth, answer), 1) for answer in answers}
        prints = self._keys[Side.ANSWER].in_order(sorted(set(names.values())))
        first: dict[Any, int] = {}
        return {
            answer: first.setdefault((self._reading(truth, answer), prints[name]), answer)
            for answer, name in names.items()
        }

    def whole_numbers_agree(self, fixed: Sequence[Pair]) -> bool:
        """See ``Engine``."""
        whole = [all(self._keys[side].is_whole(pair[at]) for at, side in enumerate(_SIDES)) for pair in fixed]
        if not any(whole):
            return True
        truth, answer = (
            self._keys[side].whole(
                [f"w{pair[at]}" if exact else self._name(pair, at) for pair, exact in zip(fixed, whole, strict=True)]
            )
            for at, side in enumerate(_SIDES)
        )
        return bool(truth == answer)

    def overlap(self, pair: Pair) -> float:
        """See ``Engine``."""
        if self._reading(*pair) is None:
            return 0.0
        truth, answer = (self._keys[side].rows_sql([self._name(pair, at)]) for at, side in enumerate(_SIDES))
        lacking = self._db.execute(f"SELECT count(*) FROM ({truth} EXCEPT ALL {answer})").fetchall()[0][0]
        return 1 - float(lacking) / max(self._raw[Side.TRUTH].rows, 1)

    def explained(self, pair: Pair, change: Change) -> bool:
        """See ``Engine``."""
        reading = reading_of(change, *(self._raw[side].families[pair[at]] for at, side in enumerate(_SIDES)))
        if reading is None or any(pair[at] in self._raw[side].in_python for at, side in enumerate(_SIDES)):
            return False
        truth = self._keys[Side.TRUTH].changed(pair[0], reading, change)
        answer = self._keys[Side.ANSWER].changed(pair[1], reading, change if change in BOTH_SIDES else None)
        return bool(truth == answer)

    def unmatched(self, fixed: Sequence[Pair], limit: int) -> tuple[Sequence[int], Sequence[int]]:
        """See ``Engine``."""
        truth, answer = (self._keys[side].hashes_sql(self._names(fixed, at)) for at, side in enumerate(_SIDES))
        return self._excess(truth, answer, limit), self._excess(answer, truth, limit)

    def begins(self, fixed: Sequence[Pair], count: int) -> bool:
        """See ``Engine``."""
        truth, answer = (self._keys[side].first_rows(self._names(fixed, at), count) for at, side in enumerate(_SIDES))
        return bool(truth == answer)

    def cells(self, side: Side, columns: Sequence[int], rows: Sequence[int]) -> Sequence[tuple[Any, ...]]:
        """See ``Engine``."""
        if not rows or not columns:
            return [()] * len(rows)
        taken = self._raw[side].arrow.select([f"c{at}" for at in columns]).take(list(rows))
        taken = taken.rename_columns([f"c{at}" for at in range(len(columns))])
        found: Sequence[tuple[Any, ...]] = self._db.from_arrow(taken).fetchall()
        return found

    def _excess(self, these: str, those: str, limit: int) -> Sequence[int]:
        """Return rows that are in ``these`` more often than in ``those``: the last of their kind."""
        query = f"""
            WITH more AS (
                SELECT h, a.n - coalesce(b.n, 0) AS n
                FROM (SELECT h, count(*) AS n FROM ({these}) GROUP BY h) a
                LEFT JOIN (SELECT h, count(*) AS n FROM ({those}) GROUP BY h) b USING (h)
                WHERE a.n > coalesce(b.n, 0)
            ),
            counted AS (
                SELECT place, row_number() OVER (PARTITION BY h ORDER BY place DESC) AS nth, n
                FROM ({these}) JOIN more USING (h)
            )
            SELECT place FROM counted WHERE nth <= n ORDER BY place LIMIT {limit}
        """
        return [place for (place,) in self._db.execute(query).fetchall()]

    def _meet(self, truth: int, answer: int) -> Reading | None:
        one, other = self._raw[Side.TRUTH], self._raw[Side.ANSWER]
        reading = meeting(one.families[truth], other.families[answer])
        if reading is None or not (one.reads_as(truth, reading) and other.reads_as(answer, reading)):
            return None
        if reading is Reading.NESTED:  # a text that says JSON: both are made in Python
            one.as_python(truth)
            other.as_python(answer)
        if reading is Reading.NUMBER and (one.peak(truth) == 0) != (other.peak(answer) == 0):
            return Reading.FAINT
        return reading

    def _readings(self, side: Side, open: Candidates) -> dict[int, set[Reading]]:
        at = _SIDES.index(side)
        wanted: dict[int, set[Reading]] = {}
        for truth, answers in open.items():
            for answer in answers:
                reading = self._reading(truth, answer)
                if reading is not None:
                    wanted.setdefault((truth, answer)[at], set()).add(reading)
        return wanted

    def _name(self, pair: Pair, at: int) -> str:
        return f"k{pair[at]}_{self._reading(*pair)}"

    def _names(self, fixed: Sequence[Pair], at: int) -> list[str]:
        return [self._name(pair, at) for pair in fixed]


def _stands(relation: Relation, truth: Any, answer: Any) -> bool:
    if relation is Relation.WITHIN:
        return all(count <= answer.get(bucket, 0) for bucket, count in truth.items())
    if relation is Relation.AROUND:
        return all(count <= truth.get(bucket, 0) for bucket, count in answer.items())
    return bool(truth == answer)

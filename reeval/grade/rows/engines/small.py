"""How are two small results searched? In plain Python, with exact counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import Any

from reeval.grade.rows.engines.columns import Keys, ValueColumn
from reeval.grade.rows.engines.engine import Candidates, Pair, Relation, Side
from reeval.grade.rows.keys.changes import BOTH_SIDES, Change, reading_of
from reeval.grade.rows.keys.families import Family, Reading, meeting
from reeval.schema.data.results import ResultTable

__all__ = ["SmallEngine"]


class SmallEngine:
    """Both results as columns of Python values."""

    def __init__(self, truth: ResultTable, answer: ResultTable, *, exact: bool) -> None:
        self._columns = {Side.TRUTH: _columns(truth, exact), Side.ANSWER: _columns(answer, exact)}
        self._reading = cache(self._meet)

    def families(self, side: Side) -> Sequence[Family]:
        """See ``Engine``."""
        return [column.family for column in self._columns[side]]

    def compatible(self) -> Candidates:
        """See ``Engine``."""
        answers = range(len(self._columns[Side.ANSWER]))
        return {
            truth: tuple(answer for answer in answers if self._reading(truth, answer) is not None)
            for truth in range(len(self._columns[Side.TRUTH]))
        }

    def sift(self, relation: Relation, fixed: Sequence[Pair], still: Mapping[int, Sequence[int]]) -> Candidates:
        """See ``Engine``."""
        before = {side: self._prefix(side, fixed) for side in Side}
        print_of = set if relation is Relation.ALIKE else Counter
        seen: dict[tuple[Side, int, Reading], Any] = {}

        def look(side: Side, column: int, reading: Reading) -> Any:
            what = (side, column, reading)
            if what not in seen:
                seen[what] = print_of(zip(before[side], self._keys(side, column, reading), strict=False))
            return seen[what]

        kept: Candidates = {}
        for truth, answers in still.items():
            readings = [(answer, self._reading(truth, answer)) for answer in answers]
            kept[truth] = tuple(
                answer
                for answer, reading in readings
                if reading is not None
                and _stands(relation, look(Side.TRUTH, truth, reading), look(Side.ANSWER, answer, reading))
            )
        return kept

    def confirm(self, relation: Relation, fixed: Sequence[Pair]) -> bool:
        """See ``Engine``."""
        truth, answer = (Counter(self._rows(side, fixed)) for side in Side)
        if relation is Relation.ALIKE:
            return truth.keys() == answer.keys()
        return _stands(relation, truth, answer)

    def twins(self, truth: int, answers: Sequence[int]) -> Mapping[int, int]:
        """See ``Engine``."""
        first: dict[tuple[Reading | None, Hashable], int] = {}
        found: dict[int, int] = {}
        for answer in answers:
            reading = self._reading(truth, answer)
            keys = tuple(self._keys(Side.ANSWER, answer, reading)) if reading else ()
            found[answer] = first.setdefault((reading, keys), answer)
        return found

    def whole_numbers_agree(self, fixed: Sequence[Pair]) -> bool:
        """See ``Engine``."""
        truth, answer = (Counter(zip(*self._whole(side, fixed), strict=True)) for side in Side)
        return truth == answer

    def overlap(self, pair: Pair) -> float:
        """See ``Engine``."""
        reading = self._reading(*pair)
        if reading is None:
            return 0.0
        truth, answer = (Counter(self._keys(side, pair[at], reading)) for at, side in enumerate(Side))
        return (truth & answer).total() / max(truth.total(), 1)

    def explained(self, pair: Pair, change: Change) -> bool:
        """See ``Engine``."""
        one, other = self._columns[Side.TRUTH][pair[0]], self._columns[Side.ANSWER][pair[1]]
        reading = reading_of(change, one.family, other.family)
        if reading is None:
            return False
        truth = one.keys(reading, change=change)
        answer = other.keys(reading, change=change if change in BOTH_SIDES else None)
        return truth is not None and answer is not None and Counter(truth) == Counter(answer)

    def unmatched(self, fixed: Sequence[Pair], limit: int) -> tuple[Sequence[int], Sequence[int]]:
        """See ``Engine``."""
        truth, answer = (list(self._rows(side, fixed)) for side in Side)
        return _excess(truth, answer, limit), _excess(answer, truth, limit)

    def begins(self, fixed: Sequence[Pair], count: int) -> bool:
        """See ``Engine``."""
        return all(
            truth == answer
            for truth, answer, _ in zip(
                self._rows(Side.TRUTH, fixed), self._rows(Side.ANSWER, fixed), range(count), strict=False
            )
        )

    def cells(self, side: Side, columns: Sequence[int], rows: Sequence[int]) -> Sequence[tuple[Any, ...]]:
        """See ``Engine``."""
        raw = [self._columns[side][column].raw for column in columns]
        return [tuple(values[row] for values in raw) for row in rows]

    def _meet(self, truth: int, answer: int) -> Reading | None:
        one, other = self._columns[Side.TRUTH][truth], self._columns[Side.ANSWER][answer]
        reading = meeting(one.family, other.family)
        if reading is None or one.keys(reading) is None or other.keys(reading) is None:
            return None
        if reading is Reading.NUMBER and (one.peak == 0) != (other.peak == 0):
            return Reading.FAINT
        return reading

    def _keys(self, side: Side, column: int, reading: Reading) -> Keys:
        keys = self._columns[side][column].keys(reading)
        assert keys is not None, "a pair that cannot be read is not compatible"
        return keys

    def _paired(self, side: Side, fixed: Sequence[Pair]) -> list[Keys]:
        at = list(Side).index(side)
        return [self._keys(side, pair[at], reading) for pair in fixed if (reading := self._reading(*pair))]

    def _rows(self, side: Side, fixed: Sequence[Pair]) -> Iterable[tuple[Hashable, ...]]:
        return zip(*self._paired(side, fixed), strict=True)

    def _prefix(self, side: Side, fixed: Sequence[Pair]) -> Iterable[Hashable]:
        if not fixed:
            return repeat(0)
        return list(map(hash, self._rows(side, fixed)))

    def _whole(self, side: Side, fixed: Sequence[Pair]) -> list[Keys]:
        at = list(Side).index(side)
        columns: list[Keys] = []
        for pair in fixed:
            both = self._columns[Side.TRUTH][pair[0]], self._columns[Side.ANSWER][pair[1]]
            exact = True if all(one.has_whole_numbers for one in both) else None
            keys = both[at].keys(self._reading(*pair) or Reading.NULL, exact=exact)
            columns.append(keys or ())
        return columns


def _columns(table: ResultTable, exact: bool) -> list[ValueColumn]:
    if table.rows is None:
        values: Sequence[Sequence[Any]] = [table.arrow.column(at).to_pylist() for at in range(len(table.columns))]
    else:
        values = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    return [ValueColumn(column, raw, exact) for column, raw in zip(table.columns, values, strict=True)]


def _stands(relation: Relation, truth: Any, answer: Any) -> bool:
    if relation is Relation.WITHIN:
        return bool(truth <= answer)
    if relation is Relation.AROUND:
        return bool(truth >= answer)
    return bool(truth == answer)


def _excess(these: Sequence[Hashable], those: Sequence[Hashable], limit: int) -> Sequence[int]:
    """Return the positions of rows that are in ``these`` more often than in ``those``: the last of their kind."""
    rest = Counter(those)
    found: list[int] = []
    for at, row in enumerate(these):
        if rest[row] > 0:
            rest[row] -= 1
        elif len(found) < limit:
            found.append(at)
    return found

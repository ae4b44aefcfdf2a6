"""What probably went wrong? Causes that a difference gives away."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from reeval.grade.rows.engines.engine import Candidates, Engine, Pair, Relation, Side
from reeval.grade.rows.keys.cells import cell_key, family_of
from reeval.grade.rows.keys.changes import Change
from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.numbers import number_key
from reeval.grade.rows.search import Exhausted, search
from reeval.grade.rows.why.pairing import Likely
from reeval.grade.rows.why.wording import Tables, named

__all__ = ["changed_columns", "duplicates_only", "rounding_only", "shifted"]

_BUDGET = 40
"""Scans: a cause is a courtesy."""
_SHIFTED_ROWS = 5_000
_NEAR = 0.01
_ROUNDING = 0.0005
_SAID = {
    Change.HUNDREDFOLD: "{answer} is 100 times {truth}: percent instead of a fraction, or cents?",
    Change.HUNDREDTH: "{answer} is a 100th of {truth}: a fraction instead of percent, or cents?",
    Change.THOUSANDFOLD: "{answer} is 1,000 times {truth}: another unit?",
    Change.THOUSANDTH: "{answer} is a 1,000th of {truth}: another unit?",
    Change.MILLIONFOLD: "{answer} is 1,000,000 times {truth}: another unit?",
    Change.MILLIONTH: "{answer} is a 1,000,000th of {truth}: another unit?",
    Change.NEGATED: "{answer} is {truth} with the other sign.",
    Change.UNSIGNED: "{answer} and {truth} differ only in signs.",
    Change.SAME_CASE: "{answer} and {truth} differ only in letter case or blanks.",
    Change.NULL_IS_ZERO: "{answer} and {truth} differ only in NULL against 0.",
    Change.NULL_IS_EMPTY: "{answer} and {truth} differ only in NULL against an empty text.",
}


def changed_columns(engine: Engine, tables: Tables, pairs: Sequence[Pair]) -> list[str]:
    """Say of pairs with different values what could have been done to all values of one."""
    said: list[str] = []
    for pair in pairs[:8]:
        change = next((one for one in Change if engine.explained(pair, one)), None)
        if change is not None:
            truth = f"the ground truth's {named(tables.truth.columns[pair[0]], pair[0])}"
            answer = f"the answer's {named(tables.answer.columns[pair[1]], pair[1])}"
            text = _SAID[change].format(truth=truth, answer=answer)
            said.append(text[0].upper() + text[1:])
    return said


def duplicates_only(engine: Engine, open: Candidates) -> bool:
    """Say whether both have the same rows and differ only in how often."""
    try:
        return search(engine, Relation.ALIKE, open=open, budget=_BUDGET).pairs is not None
    except Exhausted:
        return False


def rounding_only(engine: Engine, likely: Likely, rows: int) -> str | None:
    """Say that the differing numbers are near each other, when every one is: rows are paired in the order of values."""
    if rows > _SHIFTED_ROWS or not likely.different or likely.misplaced or likely.lacking:
        return None
    farthest = 0.0
    for truth, answer in likely.different:
        expected, answered = (
            _numbers(engine, side, column, rows) for side, column in ((Side.TRUTH, truth), (Side.ANSWER, answer))
        )
        if expected is None or answered is None or len(expected) != len(answered):
            return None
        away = (
            abs(one - other) / max(abs(one), abs(other)) if one != other else 0.0
            for one, other in zip(expected, answered, strict=True)
        )
        farthest = max(farthest, *away, 0.0)
    if farthest <= _ROUNDING:
        return "The differing numbers are equal but for rounding to 4 significant figures."
    return f"All differing numbers are within {farthest:.1%} of the expected ones." if farthest <= _NEAR else None


def shifted(engine: Engine, tables: Tables, likely: Likely) -> str | None:
    """Say that one column's values stand in the next or the last row of the others."""
    suspects = (*likely.misplaced, *likely.different)
    if len(suspects) != 1 or likely.lacking or not likely.agreed or not 2 < tables.rows[0] <= _SHIFTED_ROWS:
        return None
    pair = suspects[0]
    expected = _by_others(engine, Side.TRUTH, likely.agreed, pair, tables.rows[0])
    answered = _by_others(engine, Side.ANSWER, likely.agreed, pair, tables.rows[1])
    if expected is None or answered is None or expected.keys() != answered.keys():
        return None
    order = sorted(expected)
    one, other = [expected[key] for key in order], [answered[key] for key in order]
    name = named(tables.truth.columns[pair[0]], pair[0])
    for by in (1, -1):
        if _follows(one, other, by):
            return f"The values of {name} are shifted by one row against the others: another period, or a LAG or LEAD?"
    return None


def _numbers(engine: Engine, side: Side, column: int, rows: int) -> list[float] | None:
    if engine.families(side)[column] is not Family.NUMBER:
        return None
    values = [value for (value,) in engine.cells(side, [column], range(rows)) if value is not None]
    return sorted(map(float, values))


def _by_others(
    engine: Engine, side: Side, agreed: Sequence[Pair], pair: Pair, rows: int
) -> Mapping[tuple[Any, ...], Hashable] | None:
    """Return the suspect's keys by the sortable keys of the columns that agree; None: these are no key of the rows."""
    at = list(Side).index(side)
    cells = engine.cells(side, [*(one[at] for one in agreed), pair[at]], range(rows))
    found: dict[tuple[Any, ...], Hashable] = {}
    for *others, value in cells:
        found[tuple(map(_sortable, others))] = _key(value)
    return found if len(found) == rows else None


def _sortable(value: Any) -> tuple[str, Any]:
    key = _key(value)
    return (type(key).__name__, key if isinstance(key, int | str) else str(key))


def _key(value: Any) -> Hashable:
    if value is None:
        return None
    family = Family.NUMBER if isinstance(value, bool) else family_of(type(value))
    return cell_key(Reading[family.name], number_key)(value) if family is not Family.MIXED else str(value)


def _follows(one: Sequence[Hashable], other: Sequence[Hashable], by: int) -> bool:
    return (one[:-1] == other[1:] if by == 1 else one[1:] == other[:-1]) and one != other

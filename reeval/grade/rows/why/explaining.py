"""Why did the answer not pass? One reason, what is said about it, and a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reeval.grade.observing.display import show
from reeval.grade.rows.engines.engine import Candidates, Engine, Pair, Relation, Side
from reeval.grade.rows.search import Exhausted, search
from reeval.grade.rows.why.causes import changed_columns, duplicates_only, rounding_only, shifted
from reeval.grade.rows.why.differing import RowPair, differing_rows
from reeval.grade.rows.why.pairing import Likely, likely_pairs
from reeval.grade.rows.why.wording import Tables, columns_named, count, named
from reeval.schema.recorded.data import Reason

__all__ = ["Explained", "explain_fewer_columns", "explain_row_counts", "explain_values"]

_BUDGET = 60
"""Scans for the choice between two reasons."""
_DUPLICATES = (
    "Both have the same rows, and differ only in how often: a missing DISTINCT, or a join that multiplies rows?"
)


@dataclass(frozen=True)
class Explained:
    """Why a result failed."""

    reason: Reason
    analysis: str
    differing: tuple[RowPair, ...] = ()


def explain_fewer_columns(engine: Engine, tables: Tables) -> Explained:
    """Explain an answer with fewer columns than the ground truth."""
    wanted, got = len(tables.truth.columns), len(tables.answer.columns)
    said = [f"The ground truth has {count(wanted, 'column')}, but the answer has {got:,}."]
    if tables.rows[0] == tables.rows[1] > 0:
        alone = engine.sift(Relation.EQUAL, (), engine.compatible())
        likely = likely_pairs(engine, tables, Relation.EQUAL, alone)
        without = sorted({*likely.lacking, *(truth for truth, _ in likely.different)})
        said += _lacking(engine, tables, without)
    return Explained(Reason.MISSING_COLUMNS, " ".join(said))


def explain_row_counts(engine: Engine, tables: Tables) -> Explained:
    """Explain another number of rows."""
    expected, got = tables.rows
    if not got:
        return Explained(
            Reason.ROW_COUNT, f"{tables.answered} no rows, but the ground truth has {count(expected, 'row')}."
        )
    if not expected:
        return Explained(
            Reason.UNEXPECTED_ROWS,
            f"{tables.answered} {count(got, 'row')}, but the ground truth has none.",
        )
    relation = Relation.WITHIN if expected < got else Relation.AROUND
    alone, pairs = _partly(engine, relation)
    duplicates = duplicates_only(engine, engine.compatible())
    if pairs is None:
        likely = likely_pairs(engine, tables, relation, alone)
        said = f"{tables.answered} {count(got, 'row')}, but the ground truth has {count(expected, 'row')}."
        rows = differing_rows(engine, likely.pairs) if not likely.lacking else ()
        return Explained(Reason.ROW_COUNT, _joined(said, _DUPLICATES if duplicates else None), rows)
    if expected < got:
        found = "The expected row is" if expected == 1 else f"All {expected:,} expected rows are"
        said = f"{found} there, plus {got - expected:,} more."
        cut = "the answer's first rows: is a LIMIT missing?"
        reason = Reason.UNEXPECTED_ROWS
    else:
        among = "it is among them" if got == 1 else "all of them are among those"
        said = f"{tables.answered} {count(got, 'row')}, but the ground truth has {count(expected, 'row')}, and {among}."
        cut = "the first rows of the ground truth: a LIMIT that is too small?"
        reason = Reason.ROW_COUNT
    near = _DUPLICATES if duplicates else None
    if near is None and engine.begins(pairs, min(expected, got)):
        near = f"They are {cut}"
    return Explained(reason, _joined(said, near), differing_rows(engine, pairs))


def explain_values(engine: Engine, tables: Tables, alone: Candidates) -> Explained:
    """Explain results of one size; ``alone``: what each column can be by its values alone."""
    likely = likely_pairs(engine, tables, Relation.EQUAL, alone)
    if likely.lacking:
        said = ["Not every column of the ground truth is in the answer.", *_lacking(engine, tables, likely.lacking)]
        return Explained(Reason.MISSING_COLUMNS, " ".join(said))
    rows = differing_rows(engine, likely.pairs)
    columns = tables.truth.columns
    if not likely.different:
        names = columns_named(columns, sorted(truth for truth, _ in likely.misplaced))
        said = [f"Every column is there, but the values of {names} belong to other rows."]
    else:
        differs = sorted(truth for truth, _ in likely.different)
        names = columns_named(columns, differs)
        said = [f"The values of {names} differ{'; the other columns agree' if _rest_agrees(likely) else ''}."]
        said += _twice_wanted(tables, likely, alone)
    near = changed_columns(engine, tables, likely.different)
    if not near:
        near = [one for one in (_near_rows(engine, tables, likely),) if one]
    return Explained(Reason.VALUE, " ".join([*said, *near]), rows)


def _near_rows(engine: Engine, tables: Tables, likely: Likely) -> str | None:
    if duplicates_only(engine, engine.compatible()):
        return _DUPLICATES
    return rounding_only(engine, likely, tables.rows[0]) or shifted(engine, tables, likely)


def _partly(engine: Engine, relation: Relation) -> tuple[Candidates, tuple[Pair, ...] | None]:
    open = engine.compatible()
    try:
        found = search(engine, relation, open=open, budget=_BUDGET)
    except Exhausted:
        return engine.sift(relation, (), open), None
    return found.alone, found.pairs


def _lacking(engine: Engine, tables: Tables, lacking: Sequence[int]) -> list[str]:
    said: list[str] = []
    rows = range(min(tables.rows[0], 2))
    for truth in lacking[:3]:
        values = ", ".join(show(value, 40) for (value,) in engine.cells(Side.TRUTH, [truth], rows))
        said.append(
            f"No column has the values of {named(tables.truth.columns[truth], truth)} "
            f"({engine.families(Side.TRUTH)[truth]}: {values}{', …' if tables.rows[0] > 2 else ''})."
        )
    if len(lacking) > 3:
        said.append(f"The same goes for {len(lacking) - 3:,} more.")
    return said


def _twice_wanted(tables: Tables, likely: Likely, alone: Candidates) -> list[str]:
    """Say that two columns of the truth have the same values, and the answer has them once."""
    for truth, _ in likely.different:
        other = next((one for one in alone if one != truth and set(alone[one]) & set(alone[truth])), None)
        if other is not None:
            names = columns_named(tables.truth.columns, sorted((truth, other)))
            return [f"The values of {names} are the same, and the answer has them once."]
    return []


def _rest_agrees(likely: Likely) -> bool:
    return bool(likely.agreed) and not likely.misplaced


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)

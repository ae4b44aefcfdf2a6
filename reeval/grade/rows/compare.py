"""Is the answer's result that of the ground truth? The verdict, and in plain English why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reeval.grade.rows.engines.engine import Engine, Pair, Relation
from reeval.grade.rows.engines.opening import open_engine
from reeval.grade.rows.search import Exhausted, search
from reeval.grade.rows.why.differing import RowPair
from reeval.grade.rows.why.explaining import Explained, explain_fewer_columns, explain_row_counts, explain_values
from reeval.grade.rows.why.wording import Tables
from reeval.schema.data.results import ResultTable
from reeval.schema.recorded.data import Reason

__all__ = ["Comparison", "compare_results", "compare_with"]

_UNDECIDED = (
    "There are too many columns, or too many with the same values, to tell within the budget which is which; "
    "compare the two results by hand."
)
_MOST_PAIRS = 1_000_000
"""Pairs of columns; a thousand columns on each side."""
_BOTH_EMPTY = "both results are empty: nothing was compared"
_WHOLE_NUMBERS = "whole numbers differ beyond 4 significant figures; if they are ids, compare with exact = true"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What came of comparing an answer's result with the ground truth's."""

    verdict: Literal["pass", "fail", "review"]
    reason: Reason | None = None
    """None: it passed."""
    analysis: str = ""
    """In plain English, bounded: what differs and the near cause; empty when it passed."""
    warnings: tuple[str, ...] = ()
    differing: tuple[RowPair, ...] = ()
    """Up to three pairs of expected and answered rows, values as they came, by the ground truth's columns; an empty
    row: there is none."""
    pairs: tuple[Pair, ...] = ()
    """Of a pass: each of the truth's columns and the answer's that is it, by position."""


def compare_results(
    truth: ResultTable, answer: ResultTable, *, exact: bool = False, answered: str = Tables.answered
) -> Comparison:
    """Compare two whole results by their values.

    They are the same when the answer has, for each of the truth's columns, one of its own, under which both have the
    same rows equally often. The order of rows, the names and the order of columns, and more columns never matter.
    Numbers are rounded to 4 significant figures unless ``exact``. ``answered``: see ``Tables``.
    """
    with open_engine(truth, answer, exact=exact) as engine:
        return compare_with(engine, Tables(truth, answer, answered), exact=exact)


def compare_with(engine: Engine, tables: Tables, *, exact: bool) -> Comparison:
    """Compare two results that an engine has opened; see ``compare_results``."""
    if len(tables.answer.columns) < len(tables.truth.columns):
        return _failed(explain_fewer_columns(engine, tables))
    expected, got = tables.rows
    if expected != got:
        return _failed(explain_row_counts(engine, tables))
    if not expected:
        return Comparison(verdict="pass", warnings=(_BOTH_EMPTY,))
    return _searched(engine, tables, exact=exact)


def _searched(engine: Engine, tables: Tables, *, exact: bool) -> Comparison:
    undecided = Comparison(verdict="review", reason=Reason.UNDECIDED, analysis=_UNDECIDED)
    if len(tables.truth.columns) * len(tables.answer.columns) > _MOST_PAIRS:
        return undecided
    try:
        found = search(engine, Relation.EQUAL, open=engine.compatible(), named_alike=_same_names(tables))
    except Exhausted:
        return undecided
    if found.pairs is None:
        return _failed(explain_values(engine, tables, found.alone))
    return Comparison(verdict="pass", warnings=_warnings(engine, found.pairs, exact=exact), pairs=found.pairs)


def _failed(why: Explained) -> Comparison:
    return Comparison(verdict="fail", reason=why.reason, analysis=why.analysis, differing=why.differing)


def _same_names(tables: Tables) -> set[Pair]:
    at: dict[str, list[int]] = {}
    for answer, column in enumerate(tables.answer.columns):
        at.setdefault(column.name, []).append(answer)
    return {(truth, answer) for truth, column in enumerate(tables.truth.columns) for answer in at.get(column.name, [])}


def _warnings(engine: Engine, pairs: Sequence[Pair], *, exact: bool) -> tuple[str, ...]:
    return () if exact or engine.whole_numbers_agree(pairs) else (_WHOLE_NUMBERS,)

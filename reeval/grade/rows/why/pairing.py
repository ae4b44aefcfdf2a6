"""Which column of the answer was meant by each of the ground truth's, when the rows do not agree?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reeval.grade.rows.engines.engine import Candidates, Engine, Pair, Relation
from reeval.grade.rows.search import matching
from reeval.grade.rows.why.wording import Tables

__all__ = ["Likely", "likely_pairs"]

_AFFORDABLE = 2_000_000
"""Rows times pairs of columns of which the overlap is counted; past it, names and positions decide."""


@dataclass(frozen=True)
class Likely:
    """The likeliest map. It is only talked about: no verdict rests on it."""

    agreed: tuple[Pair, ...]
    """Pairs whose rows agree, all together."""
    misplaced: tuple[Pair, ...]
    """Pairs with the same values, which stand in other rows."""
    different: tuple[Pair, ...]
    """Pairs whose values differ, though they are of one kind."""
    lacking: tuple[int, ...]
    """Columns of the truth for which the answer has none of a comparable kind left."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, by the truth's columns."""
        return tuple(sorted((*self.agreed, *self.misplaced, *self.different)))


def likely_pairs(engine: Engine, tables: Tables, relation: Relation, alone: Candidates) -> Likely:
    """Pair the columns; ``alone``: what each can be by its values in this relation."""
    single = matching(alone)
    agreed = _agreeing(engine, relation, alone, single)
    used = {answer for _, answer in agreed}
    held = {truth for truth, _ in agreed}
    free = {
        truth: tuple(answer for answer in alone[truth] if answer not in used) for truth in single if truth not in held
    }
    misplaced = tuple(sorted(matching(free).items()))
    rest = [truth for truth in alone if truth not in held | {truth for truth, _ in misplaced}]
    used |= {answer for _, answer in misplaced}
    different = _overlapping(engine, tables, rest, used)
    lacking = tuple(truth for truth in rest if truth not in {pair[0] for pair in different})
    return Likely(agreed, misplaced, different, lacking)


def _agreeing(engine: Engine, relation: Relation, alone: Candidates, single: dict[int, int]) -> tuple[Pair, ...]:
    """Fix one pair after the other while the rows agree."""
    fixed: tuple[Pair, ...] = ()
    for truth in sorted(single, key=lambda column: (len(alone[column]), column)):
        used = {answer for _, answer in fixed}
        still = tuple(answer for answer in alone[truth] if answer not in used)
        still = engine.sift(relation, fixed, {truth: still})[truth] if fixed and still else still
        if still:
            chosen = single[truth] if single[truth] in still else still[0]
            fixed = (*fixed, (truth, chosen))
    return fixed


def _overlapping(engine: Engine, tables: Tables, rest: Sequence[int], used: set[int]) -> tuple[Pair, ...]:
    """Pair what is left, those with the most common values first, so that as many as can have a partner."""
    compatible = engine.compatible()
    open = {truth: tuple(answer for answer in compatible[truth] if answer not in used) for truth in rest}
    pairs = [(truth, answer) for truth, answers in open.items() for answer in answers]
    counted = sum(tables.rows) * len(pairs) <= _AFFORDABLE

    def worth(pair: Pair) -> tuple[float, bool, int]:
        same_name = tables.truth.columns[pair[0]].name == tables.answer.columns[pair[1]].name
        return (engine.overlap(pair) if counted else 0.0), same_name, -abs(pair[0] - pair[1])

    worths = {pair: worth(pair) for pair in pairs}
    chosen: dict[int, int] = {}
    for truth, answer in sorted(pairs, key=lambda one: worths[one], reverse=True):
        if truth not in chosen and answer not in chosen.values():
            chosen[truth] = answer
    every = matching(open)
    return tuple(sorted((chosen if len(chosen) == len(every) else every).items()))

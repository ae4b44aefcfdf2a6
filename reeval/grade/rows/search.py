"""Which columns of the answer are those of the ground truth? The search for one map under which the rows agree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reeval.grade.rows.engines.engine import Candidates, Engine, Pair, Relation

__all__ = ["BUDGET", "Exhausted", "Found", "matching", "search"]

BUDGET = 400
"""Scans of both results. The question is as hard as finding a Hamiltonian cycle; real results take 2 to 20."""

_PAIRS = 10_000
"""Pairs of columns that cost as much as one scan more: hundreds of equal columns are as many as millions of rows."""


class Exhausted(Exception):  # noqa: N818 - an answer, not a fault
    """The budget is used up and the search is not."""


@dataclass(frozen=True)
class Found:
    """What the search found."""

    pairs: tuple[Pair, ...] | None
    """A whole map, by the truth's columns; None: there is none."""
    alone: Candidates
    """What each column of the truth can be when it is looked at alone."""


@dataclass
class _Search:
    engine: Engine
    relation: Relation
    named_alike: Collection[Pair]
    """Pairs of columns with one name: such a pair is tried first, and decides nothing."""
    left: int

    def scan(self, pairs: int = 0) -> None:
        if self.left <= 0:
            raise Exhausted
        self.left -= 1 + pairs // _PAIRS

    def sift(self, fixed: Sequence[Pair], still: Candidates) -> Candidates:
        self.scan(sum(map(len, still.values())))
        return self.engine.sift(self.relation, fixed, still)

    def extend(self, fixed: tuple[Pair, ...], still: Candidates) -> tuple[Pair, ...] | None:
        """Return a whole map that begins with ``fixed``; ``still`` was sifted beside it."""
        while still:
            if len(matching(still)) < len(still):
                return None
            forced = tuple((truth, answers[0]) for truth, answers in still.items() if len(answers) == 1)
            if not forced:
                return self.branch(fixed, still)
            fixed += forced
            still = _without(still, forced)
            if still:
                still = self.sift(fixed, still)
        self.scan()
        return tuple(sorted(fixed)) if self.engine.confirm(self.relation, fixed) else None

    def branch(self, fixed: tuple[Pair, ...], still: Candidates) -> tuple[Pair, ...] | None:
        """Try each pair of the column with the fewest candidates."""
        truth = min(still, key=lambda column: (len(still[column]), column))
        self.scan()
        first = self.engine.twins(truth, still[truth])
        answers = [answer for answer in still[truth] if first[answer] == answer]
        for answer in sorted(answers, key=lambda one: (truth, one) not in self.named_alike):
            pair = (truth, answer)
            rest = _without(still, (pair,))
            found = self.extend((*fixed, pair), self.sift((*fixed, pair), rest) if rest else rest)
            if found is not None:
                return found
        return None


def search(
    engine: Engine, relation: Relation, *, open: Candidates, budget: int = BUDGET, named_alike: Collection[Pair] = ()
) -> Found:
    """Look for an injective map of the truth's columns into the answer's under which the rows stand in the relation.

    ``open``: the pairs that may be. Finds a map whenever there is one; raises ``Exhausted`` when the budget does not
    reach to tell.
    """
    run = _Search(engine, relation, named_alike, budget)
    alone = run.sift((), open)
    return Found(run.extend((), alone), alone)


def matching(candidates: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return a largest set of pairs in which no column of either side is used twice."""
    owner: dict[int, int] = {}
    for truth in candidates:
        _place(truth, candidates, owner)
    return {truth: answer for answer, truth in owner.items()}


def _place(truth: int, candidates: Mapping[int, Sequence[int]], owner: dict[int, int]) -> None:
    """Give ``truth`` an answer, moving others on where that makes room: one augmenting path, found breadth first."""
    asked_by: dict[int, int] = {}
    waiting = [truth]
    for asking in waiting:
        for answer in candidates[asking]:
            if answer in asked_by:
                continue
            asked_by[answer] = asking
            if answer not in owner:
                _move(answer, truth, asked_by, owner)
                return
            waiting.append(owner[answer])


def _move(free: int, truth: int, asked_by: Mapping[int, int], owner: dict[int, int]) -> None:
    holds = {mover: answer for answer, mover in owner.items()}
    while True:
        mover = asked_by[free]
        owner[free] = mover
        if mover == truth:
            return
        free = holds[mover]


def _without(still: Candidates, pairs: Sequence[Pair]) -> Candidates:
    truths, answers = {truth for truth, _ in pairs}, {answer for _, answer in pairs}
    return {
        truth: tuple(answer for answer in candidates if answer not in answers)
        for truth, candidates in still.items()
        if truth not in truths
    }

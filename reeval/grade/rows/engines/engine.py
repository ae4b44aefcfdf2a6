"""What does the search ask about two results? Everything about their rows goes through this seam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from reeval.grade.rows.keys.changes import Change
from reeval.grade.rows.keys.families import Family

__all__ = ["Candidates", "Engine", "Pair", "Relation", "Side"]

Pair = tuple[int, int]
"""A column of the ground truth and one of the answer, by position."""
Candidates = dict[int, tuple[int, ...]]
"""For a column of the ground truth: the columns of the answer that it may be."""


class Relation(StrEnum):
    """What the rows of the ground truth are to those of the answer, both as multisets."""

    EQUAL = "equal"
    WITHIN = "within"
    """Part of them."""
    AROUND = "around"
    """They, and more."""
    ALIKE = "alike"
    """The same rows, each how often it likes."""


class Side(StrEnum):
    """One of the two results."""

    TRUTH = "truth"
    ANSWER = "answer"


class Engine(Protocol):
    """Two results, each column under keys."""

    def families(self, side: Side) -> Sequence[Family]:
        """Return each column's family."""
        ...

    def compatible(self) -> Candidates:
        """Return the pairs of columns whose values can be compared at all."""
        ...

    def sift(self, relation: Relation, fixed: Sequence[Pair], still: Mapping[int, Sequence[int]]) -> Candidates:
        """Return of ``still`` the pairs that can join the ``fixed`` ones.

        Beside these, their columns stand in the relation. May let one through that does not, never the other way
        round. One scan of both results.
        """
        ...

    def confirm(self, relation: Relation, fixed: Sequence[Pair]) -> bool:
        """Say whether the whole rows of the paired columns stand in the relation."""
        ...

    def twins(self, truth: int, answers: Sequence[int]) -> Mapping[int, int]:
        """Return for each of the answer's columns the first one that is the same row by row, as ``truth`` is read."""
        ...

    def whole_numbers_agree(self, fixed: Sequence[Pair]) -> bool:
        """Say whether the rows stay equal when whole numbers are compared to the last digit."""
        ...

    def overlap(self, pair: Pair) -> float:
        """Return which part of the truth's values the answer's column has, from 0 to 1."""
        ...

    def explained(self, pair: Pair, change: Change) -> bool:
        """Say whether the values of both columns are the same after the change."""
        ...

    def unmatched(self, fixed: Sequence[Pair], limit: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return up to ``limit`` rows, by position, that the truth has more often than the answer, and the reverse."""
        ...

    def begins(self, fixed: Sequence[Pair], count: int) -> bool:
        """Say whether the first ``count`` rows of both are equal, in their order."""
        ...

    def cells(self, side: Side, columns: Sequence[int], rows: Sequence[int]) -> Sequence[tuple[Any, ...]]:
        """Return values as they came."""
        ...

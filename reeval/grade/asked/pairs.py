"""Which attempts is a question asked about, and which two meet in a pair?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, cast

from reeval.schema.plan import PlannedAttempt, PlannedQuestion
from reeval.schema.record import Outcome

__all__ = ["Pair", "is_asked", "is_paired", "pairs_of"]

Factor = Literal["environment", "harness"]

_ASKED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.REVIEW, Outcome.SCORED})
_HELD: dict[Factor, Factor] = {"environment": "harness", "harness": "environment"}


def is_asked(outcome: Outcome) -> bool:
    """Say whether a question is asked about an attempt: not where the machinery failed or it was skipped."""
    return outcome in _ASKED


def is_paired(outcome: Outcome, verdict: str | None) -> bool:
    """Say whether an attempt meets others in pairs: it passed, or it is scored and no gate failed."""
    return outcome is Outcome.PASS or (outcome is Outcome.SCORED and verdict != "fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two attempts that differ in one factor alone; left is the one whose cell is planned first."""

    factor: Factor
    left: PlannedAttempt
    right: PlannedAttempt

    @property
    def values(self) -> tuple[str, str]:
        """The left and the right side's environment or harness."""
        return getattr(self.left.cell, self.factor), getattr(self.right.cell, self.factor)


def pairs_of(question: PlannedQuestion, attempts: Iterable[PlannedAttempt]) -> list[Pair]:
    """Return every unordered pair of attempts of one eval, by each factor of the question in turn."""
    found = sorted(attempts, key=_place)
    return [pair for factor in question.across for pair in _pairs(cast("Factor", factor), found)]


def _place(attempt: PlannedAttempt) -> tuple[int, int, int]:
    planned = attempt.eval
    case = planned.cases.index(attempt.case) if attempt.case is not None else 0
    return attempt.run, case, planned.cells.index(attempt.cell)


def _pairs(factor: Factor, attempts: Sequence[PlannedAttempt]) -> Iterator[Pair]:
    alike: defaultdict[tuple[str, str, str | None, int], list[PlannedAttempt]] = defaultdict(list)
    for attempt in attempts:
        cell = attempt.cell
        alike[getattr(cell, _HELD[factor]), cell.sandbox, attempt.case, attempt.run].append(attempt)
    for several in alike.values():
        for left, right in combinations(several, 2):
            yield Pair(factor=factor, left=left, right=right)

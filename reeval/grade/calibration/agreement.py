"""What do a person's labels and a judge's answers add up to?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reeval.grade.calibration import figures
from reeval.grade.calibration.examples import Example
from reeval.grade.calibration.intervals import Interval, bootstrap, wilson

__all__ = ["Agreement", "Figure", "Minimum", "Rated", "Table", "agreement", "disagreements", "holds"]

FAR = 0.25
"""Two scores on the same side of the threshold that differ by more disagree too."""


@dataclass(frozen=True, kw_only=True)
class Rated:
    """One example and what the judge said of it: a ``score``, or an ``error``."""

    example: Example
    score: float | None = None
    """0–1."""
    reason: str = ""
    spread: float | None = None
    """The largest vote minus the smallest, when there were several."""
    error: str | None = None

    @property
    def miss(self) -> float:
        """How far the judge is from the person, 0–1; 0 without an answer."""
        return 0.0 if self.score is None else abs(self.score - self.example.value)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of agreement; None: it cannot be told."""

    value: float | None
    interval: Interval | None = None
    """95 %."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """How often which of the two let an example pass."""

    both_pass: int
    both_fail: int
    only_judge: int
    """The judge passes what the person fails: what a gate on this judge would let through."""
    only_person: int
    """The judge fails what the person passes."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How a judge agrees with a person; examples that ended in an error are left out."""

    threshold: float
    """Where a score begins to pass."""
    examples: int
    """With an answer."""
    scored: int
    """Of these, with a person's score."""
    errors: int
    table: Table
    accuracy: Figure
    kappa: Figure
    mean_error: Figure
    """Mean absolute difference of the scores."""
    bias: Figure
    """Mean of the judge's score minus the person's."""
    rank_correlation: Figure


@dataclass(frozen=True, kw_only=True)
class Minimum:
    """What is asked of a judge; None: nothing."""

    accuracy: float | None = None
    kappa: float | None = None


_Passes = tuple[bool, bool]
"""Whether the person and the judge let it pass."""


def agreement(rated: Sequence[Rated], threshold: float) -> Agreement:
    """Return the figures with their intervals; the same examples and answers give the same."""
    labels = [_labels(one.example, one.score, threshold) for one in rated if one.score is not None]
    scores = [
        (one.example.score, one.score) for one in rated if one.score is not None and one.example.score is not None
    ]
    counts = Counter(labels)
    of_scores: list[Callable[[Sequence[figures.Scores]], float | None]] = [
        figures.mean_error,
        figures.bias,
        figures.rank_correlation,
    ]
    (kappa_interval,) = bootstrap(labels, [lambda drawn: figures.kappa(Counter(drawn))])
    mean_error, bias, rank = (
        Figure(value=figure(scores), interval=interval)
        for figure, interval in zip(of_scores, bootstrap(scores, of_scores), strict=True)
    )
    return Agreement(
        threshold=threshold,
        examples=len(labels),
        scored=len(scores),
        errors=len(rated) - len(labels),
        table=_table(counts),
        accuracy=Figure(
            value=figures.accuracy(counts), interval=wilson(counts[True, True] + counts[False, False], len(labels))
        ),
        kappa=Figure(value=figures.kappa(counts), interval=kappa_interval),
        mean_error=mean_error,
        bias=bias,
        rank_correlation=rank,
    )


def disagreements(rated: Sequence[Rated], threshold: float) -> list[Rated]:
    """Return the examples on which the two differ, the largest miss first, then by line.

    They differ when only one of them passes, or when two scores are more than ``FAR`` apart.
    """

    def differ(one: Rated) -> bool:
        if one.score is None:
            return False
        person, judge = _labels(one.example, one.score, threshold)
        return person != judge or (one.example.score is not None and one.miss > FAR)

    return sorted(filter(differ, rated), key=lambda one: (-one.miss, one.example.line))


def holds(rated: Sequence[Rated], threshold: float, minimum: Minimum) -> bool | None:
    """Say whether the agreement is at least ``minimum``; None: examples without an answer could still decide.

    A kappa that cannot be told, because only one label occurs, decides nothing either.
    """
    possible = {_enough(counts, minimum) for counts in _outcomes(rated, threshold)}
    return possible.pop() if len(possible) == 1 else None


def _enough(counts: Counter[_Passes], minimum: Minimum) -> bool | None:
    asked = ((minimum.accuracy, figures.accuracy), (minimum.kappa, figures.kappa))
    values = [(least, figure(counts)) for least, figure in asked if least is not None]
    if any(value is not None and value < least for least, value in values):
        return False
    return None if any(value is None for _, value in values) else True


def _outcomes(rated: Sequence[Rated], threshold: float) -> Iterator[Counter[_Passes]]:
    """Yield the counts with each way in which the examples without an answer could have turned out.

    Only how many agree counts, apart for those that the person passes and fails.
    """
    known = Counter(_labels(one.example, one.score, threshold) for one in rated if one.score is not None)
    missing = [one.example.passes(threshold) for one in rated if one.score is None]
    passing, failing = missing.count(True), missing.count(False)
    for hits in range(passing + 1):
        for right in range(failing + 1):
            guess = {(True, True): hits, (True, False): passing - hits}
            guess |= {(False, False): right, (False, True): failing - right}
            yield known + Counter(guess)


def _labels(example: Example, score: float, threshold: float) -> _Passes:
    return example.passes(threshold), score >= threshold


def _table(counts: Counter[_Passes]) -> Table:
    return Table(
        both_pass=counts[True, True],
        both_fail=counts[False, False],
        only_judge=counts[False, True],
        only_person=counts[True, False],
    )

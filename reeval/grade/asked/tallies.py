"""What do the answers to a question add up to? They annotate: nothing here decides an outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reeval.schema.plan import PlannedCell, PlannedEval, PlannedQuestion
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, QuestionRecord, SideTally, Vote
from reeval.usage import Usage

__all__ = ["QuestionFold", "answered_usage", "answers_it", "decided", "is_split"]


def decided(vote: Vote) -> bool:
    """Say whether a vote picked a side: it is no tie and no error."""
    return vote.winner in {"left", "right"}


def is_split(votes: Sequence[Vote]) -> bool:
    """Say whether the two orders of a pair picked opposite sides: the position decided, not the work."""
    return {vote.winner for vote in votes if decided(vote)} == {"left", "right"}


def answers_it(record: AnswerRecord | PairRecord, question: PlannedQuestion) -> bool:
    """Say whether a recorded answer is one to this question: a resumed run's file may ask something else by now."""
    if record.text != question.text or record.model != question.model:
        return False
    if isinstance(record, PairRecord):
        return record.factor in question.across
    in_choices = record.choice is None or record.choice in (question.choices or ())
    return not question.across and in_choices and not (question.choices and record.answer is not None)


def answered_usage(record: AnswerRecord | PairRecord) -> Usage:
    """Add up what the calls about one attempt or pair used."""
    if isinstance(record, AnswerRecord):
        return record.usage
    used = [vote.usage for vote in record.votes]
    return sum(used[1:], used[0]) if used else Usage()


@dataclass
class QuestionFold:
    """The answers to one question, counted; each answer once, in any order."""

    number: int
    question: PlannedQuestion
    asked: int = 0
    errors: int = 0
    pairs: int = 0
    splits: int = 0
    _choices: Counter[str] = field(default_factory=Counter)
    _sides: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Factor → value → votes won, decided votes."""

    def add(self, answer: AnswerRecord) -> None:
        """Count an answer about one attempt."""
        self.asked += 1
        self.errors += answer.error is not None
        if answer.choice is not None:
            self._choices[answer.choice] += 1

    def add_pair(self, pair: PairRecord) -> None:
        """Count the votes of a pair."""
        self.pairs += 1
        self.splits += pair.split
        sides = self._sides.setdefault(pair.factor, {})
        left, right = (sides.setdefault(value, [0, 0]) for value in (pair.left_value, pair.right_value))
        for vote in pair.votes:
            self.asked += 1
            self.errors += vote.error is not None
            if decided(vote):
                (left if vote.winner == "left" else right)[0] += 1
                left[1] += 1
                right[1] += 1

    def record(self, planned: PlannedEval) -> QuestionRecord:
        """Return what the answers add up to, choices and sides in the order of the plan."""
        question = self.question
        return QuestionRecord(
            number=self.number,
            text=question.text,
            model=question.model,
            choices=question.choices,
            across=question.across,
            asked=self.asked,
            errors=self.errors,
            tally={choice: self._choices[choice] for choice in question.choices or ()},
            sides={
                factor: _tallies(factor, self._sides[factor], planned.cells)
                for factor in question.across
                if factor in self._sides
            },
            splits=self.splits,
            pairs=self.pairs,
        )


def _tallies(factor: str, sides: Mapping[str, Sequence[int]], cells: Iterable[PlannedCell]) -> list[SideTally]:
    order = {value: place for place, value in enumerate(dict.fromkeys(getattr(cell, factor) for cell in cells))}
    values = sorted(sides, key=lambda value: order.get(value, len(order)))
    return [SideTally(value=value, won=sides[value][0], of=sides[value][1]) for value in values]

"""What did models say about attempts? Judgments measure, answers and votes annotate.

A judgment is a part of its attempt. Answers and pairs are journal lines of their own: they come after the attempt is
on disk, and the last line of a key counts.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from reeval.schema.recorded.files import FileRef
from reeval.usage import Usage

__all__ = [
    "AnswerRecord",
    "AskedKey",
    "JudgmentRecord",
    "JudgmentVote",
    "PairRecord",
    "QuestionRecord",
    "SideTally",
    "Vote",
]


class JudgmentVote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a judge."""

    score: float
    """0–1."""
    reason: str = ""


class JudgmentRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One ``c.judge``: the measurement of a model."""

    label: str
    """The label of its check."""
    question: str
    """The rubric, or the bare question."""
    judge: str | None = None
    """The name of the ``judge(…)``; None for a bare question."""
    model: str | None = None
    """``provider/model`` that was asked; None: there was none."""
    served: str | None = None
    """What the provider says served it."""
    score: float | None = None
    """0–1: the only vote, or the median; None: unavailable or an error."""
    reason: str = ""
    """Of the vote that is nearest to the median."""
    votes: list[JudgmentVote] = []
    """All of them, when there were several."""
    spread: float | None = None
    """The largest score minus the smallest, when there were several votes."""
    error: str | None = None
    usage: Usage = Usage()
    duration: float | None = None
    """Seconds."""
    input: FileRef | None = None
    """``judges/<n>.json`` of the attempt: what was sent and answered, masked."""


class AskedKey(NamedTuple):
    """One question about one attempt or pair of a run."""

    eval: str
    question: int
    """Its number among the eval's questions, from 1."""
    factor: str | None
    """Of a pair."""
    attempts: tuple[str, ...]
    """Ids: one, or the left and the right one of a pair."""


class AnswerRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="answer"):
    """What a model answered about one attempt. Its key is (eval, attempt, question)."""

    eval: str
    attempt: str
    question: int
    """Its number among the eval's questions, from 1."""
    text: str
    """The question."""
    model: str
    answer: str | None = None
    """In words; None with choices, or on an error."""
    choice: str | None = None
    reason: str | None = None
    error: str | None = None
    served: str | None = None
    usage: Usage = Usage()
    duration: float | None = None
    """Seconds."""
    input: FileRef | None = None
    """``questions/<n>.json`` of the attempt."""

    @property
    def key(self) -> AskedKey:
        """What it answers."""
        return AskedKey(self.eval, self.question, None, (self.attempt,))

    @property
    def complete(self) -> bool:
        """Whether the model answered."""
        return self.error is None


class Vote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call about a pair: one order."""

    shown_first: Literal["left", "right"]
    """Which side the model saw as A."""
    winner: Literal["left", "right", "tie"] | None = None
    """None on an error."""
    reason: str = ""
    error: str | None = None
    usage: Usage = Usage()


class PairRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="pair"):
    """Two attempts, asked about in both orders. Its key is (eval, question, factor, left, right)."""

    eval: str
    question: int
    """Its number among the eval's questions, from 1."""
    text: str
    model: str
    factor: Literal["environment", "harness"]
    """What differs between the two; harness and environment of the others, case, sandbox and run are the same."""
    left: str
    """Attempt id."""
    right: str
    left_value: str
    """The left side's environment or harness: whose wins are counted."""
    right_value: str
    votes: list[Vote]
    split: bool = False
    """The two orders picked opposite sides: the position decided, one win each."""
    served: str | None = None
    input: FileRef | None = None
    """``questions/<n>.json`` of the eval: one call per pair and order."""

    @property
    def key(self) -> AskedKey:
        """What it answers."""
        return AskedKey(self.eval, self.question, self.factor, (self.left, self.right))

    @property
    def complete(self) -> bool:
        """Whether the model answered in both orders."""
        return all(vote.error is None for vote in self.votes)


class SideTally(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often one side of a pairwise question won."""

    value: str
    """Environment or harness."""
    won: int
    of: int
    """Decided votes it was in; a tie counts for neither side."""


class QuestionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question of an eval and what its answers add up to."""

    number: int
    text: str
    model: str | None = None
    choices: tuple[str, ...] | None = None
    across: tuple[str, ...] = ()
    asked: int = 0
    errors: int = 0
    tally: dict[str, int] = {}
    """Choice → answers, in the order of the choices."""
    sides: dict[str, list[SideTally]] = {}
    """Factor → its sides."""
    splits: int = 0
    """Pairs whose two orders disagreed: the model's position bias."""
    pairs: int = 0

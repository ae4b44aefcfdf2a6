"""What do the attempts of a run hold that its record only points at? Failed checks, errors, judges' scores, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, CheckRecord, Outcome
from reeval.schema.recorded.answers import JudgmentRecord

__all__ = ["Errors", "FailedCheck", "Findings", "JudgeScores", "Key"]

MOST_KEYS = 2000
"""Different checks, judges or errors that are counted apart: labels may be made at run time, without end."""
SAMPLES = 3
"""Attempts whose words are kept for each of them."""
SAMPLE_LIMIT = 400
"""Characters of a sample."""

Key = tuple[str, str, str]
"""Eval, cell and label (or phase)."""
T = TypeVar("T")


@dataclass
class FailedCheck:
    """A check that did not hold in some attempts of a cell."""

    decides: bool
    """It is a gate or scores."""
    attempts: int = 0
    samples: list[tuple[str, str]] = field(default_factory=list)
    """Attempt and message."""


@dataclass
class Errors:
    """Attempts of a cell that broke in one phase."""

    attempts: int = 0
    samples: list[tuple[str, str]] = field(default_factory=list)
    """Attempt and reason."""


@dataclass
class JudgeScores:
    """What a judge gave the attempts of a cell."""

    scores: int = 0
    total: float = 0.0
    low: float = 1.0
    high: float = 0.0
    errors: int = 0
    spread: float | None = None
    """The largest, where it was asked more than once."""
    lowest: tuple[str, str] = ("", "")
    """Attempt and reason."""


class Findings:
    """Counts over attempts, one at a time, in bounded memory."""

    def __init__(self) -> None:
        self.checks: dict[Key, FailedCheck] = {}
        self.errors: dict[Key, Errors] = {}
        self.judges: dict[Key, JudgeScores] = {}
        self.left_out = 0
        """Failed checks, errors and scores beyond ``MOST_KEYS``."""

    def add(
        self, attempt: AttemptRecord, checks: Sequence[CheckRecord], judgments: Sequence[JudgmentRecord] = ()
    ) -> None:
        """Count an attempt with its checks and judgments."""
        cell = f"{attempt.harness}/{attempt.environment}/{attempt.sandbox}"
        for check in {check.label: check for check in reversed(checks) if _did_not_hold(check)}.values():
            found = self._at(self.checks, (attempt.eval, cell, check.label), FailedCheck(_decides(check)))
            if found is not None:
                found.attempts += 1
                _sample(found.samples, attempt.attempt, check.message)
        for judgment in judgments:
            scores = self._at(self.judges, (attempt.eval, cell, judgment.label), JudgeScores())
            if scores is not None:
                _count(scores, attempt.attempt, judgment)
        self._error(attempt, cell)

    def _error(self, attempt: AttemptRecord, cell: str) -> None:
        failure = attempt.failure
        if failure is None:
            return
        phase = failure.phase.value if failure.phase else attempt.outcome.value
        phase = phase if attempt.outcome is Outcome.ERROR else f"{phase} (not an error)"
        errors = self._at(self.errors, (attempt.eval, cell, phase), Errors())
        if errors is not None:
            errors.attempts += 1
            _sample(errors.samples, attempt.attempt, failure.said)

    def _at(self, counted: dict[Key, T], key: Key, new: T) -> T | None:
        if key not in counted and len(counted) >= MOST_KEYS:
            self.left_out += 1
            return None
        return counted.setdefault(key, new)


def _did_not_hold(check: CheckRecord) -> bool:
    if check.holds is not None:
        return not check.holds
    return check.status in {CheckStatus.MISMATCHED, CheckStatus.UNAVAILABLE, CheckStatus.ERRORED}


def _decides(check: CheckRecord) -> bool:
    return (check.gate or check.points is not None) and not check.optional


def _count(scores: JudgeScores, attempt: str, judgment: JudgmentRecord) -> None:
    if judgment.score is None:
        scores.errors += 1
        return
    if not scores.scores or judgment.score < scores.low:
        scores.lowest = (attempt, judgment.reason[:SAMPLE_LIMIT])
    scores.scores += 1
    scores.total += judgment.score
    scores.low, scores.high = min(scores.low, judgment.score), max(scores.high, judgment.score)
    if judgment.spread is not None:
        scores.spread = max(scores.spread or 0.0, judgment.spread)


def _sample(samples: list[tuple[str, str]], attempt: str, text: str) -> None:
    """Keep words that say something new: ten times the same message is one."""
    words = text[:SAMPLE_LIMIT]
    if len(samples) < SAMPLES and words not in [kept for _, kept in samples]:
        samples.append((attempt, words))

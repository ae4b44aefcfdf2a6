"""Where is a run right now: how much is done, what is running, how long will it take?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reeval.grade.asked.pairs import is_asked
from reeval.grade.asked.tallies import answered_usage
from reeval.report.screen.ink import Ink
from reeval.report.screen.numbers import dollars, plural, seconds
from reeval.report.screen.table import flow
from reeval.report.text import cut, one_line
from reeval.schema.plan import PlannedAttempt
from reeval.schema.record import AttemptRecord, Outcome
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.usage import Usage

__all__ = ["Progress", "progress_lines"]

_WORDS = (
    (Outcome.PASS, "pass"),
    (Outcome.SCORED, "scored"),
    (Outcome.FAIL, "fail"),
    (Outcome.REVIEW, "review"),
    (Outcome.ERROR, "error"),
    (Outcome.SKIPPED, "skipped"),
)
_EARLY = 2.0
"""Seconds before an estimate means anything."""


@dataclass
class Progress:
    """Counts what happened. Times are seconds of one monotonic clock."""

    total: int
    began: float
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    running: dict[str, tuple[PlannedAttempt, float]] = field(default_factory=dict)
    """By attempt key: the attempt and when it started, oldest first."""
    judging: set[str] = field(default_factory=set)
    """Keys of those that run and only wait for judges."""
    answered: int = 0
    """Attempts and pairs that a question was asked about."""
    waiting: int = 0
    """Attempts and pairs that wait to be asked about."""
    asked: int = 0
    """Questions about one attempt that are not answered; those about pairs are not counted before they wait."""
    pairing: bool = False
    """Pairs may have to be asked about."""
    budget: float | None = None
    """Dollars that may be spent."""
    cost: float | None = None
    cost_unknown: bool = False
    """An attempt did not say what it cost: the real cost is higher."""

    @property
    def done(self) -> int:
        """Attempts that finished."""
        return self.outcomes.total()

    def start(self, attempt: PlannedAttempt, now: float) -> None:
        """An attempt begins."""
        self.running[attempt.key] = (attempt, now)

    def judge(self, attempt: PlannedAttempt) -> None:
        """An attempt only waits for its judges."""
        self.judging.add(attempt.key)

    def finish(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        """An attempt ended."""
        self.running.pop(attempt.key, None)
        self.judging.discard(attempt.key)
        self.outcomes[record.outcome] += 1
        if is_asked(record.outcome):
            across = [bool(question.across) for question in attempt.eval.questions]
            self.asked += across.count(False)
            self.pairing = self.pairing or any(across)
        for spent in record.usage:
            self._spend(spent.usage)

    def leave_out(self, count: int) -> None:
        """So many attempts need not run."""
        self.total -= count

    def answer(self, record: AnswerRecord | PairRecord, waiting: int) -> None:
        """A question was answered, or a model failed to."""
        self.answered += 1
        self.waiting = waiting
        self.asked -= isinstance(record, AnswerRecord)
        self._spend(answered_usage(record))

    def _spend(self, usage: Usage) -> None:
        if usage.cost is None:
            self.cost_unknown = True
        else:
            self.cost = (self.cost or 0.0) + usage.cost

    def left(self, now: float) -> float | None:
        """Return a guess of the seconds to go, from the pace so far; None when it is too early."""
        elapsed = now - self.began
        if not self.done or elapsed < _EARLY or self.done >= self.total or self._is_spent:
            return None
        return elapsed / self.done * (self.total - self.done)

    @property
    def _is_spent(self) -> bool:
        """Whether the budget lets nothing more begin: what is still to come is only what runs."""
        return self.budget is not None and (self.cost or 0.0) >= self.budget - 1e-9

    @property
    def _asking(self) -> str | None:
        """Say what models still answer: once attempts are over, nothing else would move."""
        if (count := max(self.asked, self.waiting)) > 0:
            return f"asking {plural(count, 'question')}"
        over = not self.running and self.done >= self.total
        return "asking questions" if self.pairing and over else None

    def facts(self, now: float) -> list[tuple[str, str | None]]:
        """Return short texts with the word that colors them: done, outcomes, elapsed, estimate, cost."""
        facts: list[tuple[str, str | None]] = [(f"{self.done:,} of {self.total:,} done", None)]
        if at_work := len(self.running) - len(self.judging):
            facts.append((f"{at_work:,} running", "running"))
        if self.judging:
            facts.append((f"{len(self.judging):,} judging", "running"))
        facts += [(f"{self.outcomes[outcome]:,} {word}", word) for outcome, word in _WORDS if self.outcomes[outcome]]
        if (asking := self._asking) is not None:
            facts.append((asking, "running"))
        if self.answered:
            facts.append((f"{self.answered:,} answered", None))
        facts.append((seconds(now - self.began), None))
        if (left := self.left(now)) is not None:
            facts.append((f"about {seconds(left)} left", None))
        if self.cost or self.budget is not None:
            most = "" if self.budget is None else f" of {dollars(self.budget)}"
            facts.append((f"{'over ' if self.cost_unknown else ''}{dollars(self.cost or 0.0)}{most}", None))
        return facts


def progress_lines(progress: Progress, now: float, *, ink: Ink, cells: int, rows: int) -> list[str]:
    """Return the live block: a line or more of facts, then at most ``rows`` running attempts."""
    lines = flow(progress.facts(now), " · ", ink, cells)
    running = list(progress.running.values())
    shown = running if len(running) <= rows else running[: max(0, rows - 1)]
    for attempt, began in shown:
        age = seconds(now - began) if now - began >= 1 else ""
        stage = cut("  ".join(filter(None, ("judging" if attempt.key in progress.judging else "", age))), cells - 5)
        name = one_line(f"{attempt.id}  {attempt.eval.name}", max(1, cells - 4 - len(stage)))
        lines.append(f"  {name}" + (f"  {ink('dim', stage)}" if stage else ""))
    more = len(running) - len(shown)
    return lines + ([ink("dim", cut(f"  … {more} more running", cells))] if more else [])

"""What do attempts add up to? Cells with their gates, the totals of a run, and its exit code.

The folds take attempts one by one, each attempt once, in any order, and keep nothing of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

from reeval.errors import ExitCode, Phase
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import AttemptRecord, CellRecord, EvalRecord, GateResult, Outcome, RunState, Totals
from reeval.usage import Usage

__all__ = ["CellFold", "TotalsFold", "agent_cost", "agent_tokens", "attempt_cost", "gate_of", "run_exit_code"]

_AGENTS_OWN = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.REVIEW, Outcome.SCORED})
"""Outcomes that say something about the agent; errors and skips are shown beside them."""


class _Sum:
    """A sum that is unknown when a part of it is."""

    __slots__ = ("_count", "_known", "_total")

    def __init__(self) -> None:
        self._total = 0.0
        self._count = 0
        self._known = True

    def add(self, value: float | None) -> None:
        self._known = self._known and value is not None
        self._total += value or 0.0
        self._count += 1

    @property
    def value(self) -> float | None:
        return self._total if self._known and self._count else None

    @property
    def mean(self) -> float | None:
        return self._total / self._count if self._known and self._count else None


class CellFold:
    """The attempts of one cell, counted."""

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._verdict_failed = 0
        self._body_errors = 0
        self._score = Fraction(0)  # exact, so that three times 0.7 has the mean 0.7
        self._durations = _Sum()
        self._tokens = _Sum()
        self._costs = _Sum()
        self._subject = ""

    def add(self, attempt: AttemptRecord) -> None:
        """Count one finished attempt."""
        self._outcomes[attempt.outcome] += 1
        self._verdict_failed += attempt.outcome == Outcome.SCORED and attempt.verdict == "fail"
        self._body_errors += attempt.failure is not None and attempt.failure.phase == Phase.BODY
        self._subject = attempt.subject or self._subject
        self._costs.add(agent_cost(attempt))
        if attempt.outcome in _AGENTS_OWN:
            self._durations.add(attempt.duration)
            self._tokens.add(agent_tokens(attempt))
        if attempt.outcome == Outcome.SCORED:
            self._score += Fraction(attempt.score or 0)

    @property
    def body_errors(self) -> bool:
        """Whether an attempt ended in an error of the body."""
        return self._body_errors > 0

    def record(
        self,
        cell: PlannedCell,
        *,
        planned: int,
        gate: ResolvedGate,
        spare_errors: int = 0,
        settled: GateResult | None = None,
    ) -> CellRecord:
        """Return the cell; ``planned`` attempts were to run, and ``gate`` is what ``gate_of`` says.

        ``spare_errors`` of its errors leave nothing open: those attempts turned out not to be needed. ``settled`` is
        what the gate says, where that is not a matter of these counts.
        """
        outcomes = self._outcomes
        return CellRecord(
            key=cell.key,
            harness=cell.harness,
            sandbox=cell.sandbox,
            environment=cell.environment,
            role=cell.role,
            planned=planned,
            passed=outcomes[Outcome.PASS],
            failed=outcomes[Outcome.FAIL],
            review=outcomes[Outcome.REVIEW],
            error=outcomes[Outcome.ERROR],
            skipped=outcomes[Outcome.SKIPPED],
            scored=outcomes[Outcome.SCORED],
            verdict_failed=self._verdict_failed,
            mean_score=float(self._score / outcomes[Outcome.SCORED]) if outcomes[Outcome.SCORED] else None,
            complete=outcomes[Outcome.SCORED],
            gate=settled or self._gate(gate, planned, spare_errors),
            duration=self._durations.mean,
            tokens=self._tokens.mean,
            cost=self._costs.value,
            subject=self._subject,
        )

    def _gate(self, gate: ResolvedGate, planned: int, spare_errors: int) -> GateResult:
        open_attempts = self._outcomes[Outcome.ERROR] - spare_errors + max(planned - self._outcomes.total(), 0)
        decided = sum(self._outcomes[outcome] for outcome in _AGENTS_OWN)
        # It reports only, it is settled over all questions together, or there are only skipped attempts.
        if gate.rule in {"none", "accuracy"} or not (decided or open_attempts):
            return GateResult(rule=gate.rule, minimum=gate.minimum)
        value, worst, best = self._bounds(gate, decided, open_attempts)
        minimum = 1.0 if gate.minimum is None else gate.minimum
        fails = best < minimum
        # An error of the body may well depend on what the agent did, so the cell never passes around it.
        holds = worst >= minimum and not self._body_errors
        return GateResult(
            rule=gate.rule,
            minimum=gate.minimum,
            value=value,
            holds=holds if holds or fails else None,
            undecided=not (holds or fails),
        )

    def _bounds(self, gate: ResolvedGate, decided: int, open_attempts: int) -> tuple[float | None, float, float]:
        """Return what is compared, and how low and how high the attempts without a result could still bring it."""
        scored = self._outcomes[Outcome.SCORED]
        everything = decided + open_attempts
        if gate.rule == "mean_score":  # scores are never negative and have no maximum
            mean = float(self._score / scored) if scored else None
            lowest = float(self._score / everything)
            return mean, lowest, math.inf if open_attempts else lowest
        good = self._outcomes[Outcome.PASS] + scored - self._verdict_failed
        rate = good / decided if decided else None
        return rate, good / everything, (good + open_attempts) / everything


class TotalsFold:
    """The attempts of a run, counted."""

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._costs = _Sum()

    def add(self, attempt: AttemptRecord) -> None:
        """Count one finished attempt."""
        self._outcomes[attempt.outcome] += 1
        self._costs.add(attempt_cost(attempt))

    def add_cost(self, cost: float | None) -> None:
        """Count what was spent beside the attempts, such as on a question; None makes the whole unknown."""
        self._costs.add(cost)

    def record(self, planned: int) -> Totals:
        """Return the totals of a run that was to make ``planned`` attempts."""
        outcomes = self._outcomes
        return Totals(
            planned=planned,
            passed=outcomes[Outcome.PASS],
            failed=outcomes[Outcome.FAIL],
            review=outcomes[Outcome.REVIEW],
            error=outcomes[Outcome.ERROR],
            skipped=outcomes[Outcome.SKIPPED],
            scored=outcomes[Outcome.SCORED],
            cost=self._costs.value,
        )


def gate_of(planned: PlannedEval, cell: PlannedCell) -> ResolvedGate:
    """Return the gate of one cell; a side of a compare that does not decide only reports."""
    compare = planned.compare
    if compare is None or compare.gate == "all" or (compare.gate == "variants" and cell.role != "control"):
        return planned.gate
    return ResolvedGate(rule="none")


def run_exit_code(evals: Iterable[EvalRecord], state: RunState, *, by_budget: bool = False) -> ExitCode:
    """Return what the run tells the shell; ``state`` is how it ended.

    ``by_budget``: the budget interrupted it, and its gates say what that comes to.
    """
    if state == RunState.INTERRUPTED and not by_budget:
        return ExitCode.INTERRUPTED
    records = list(evals)
    gates = [cell.gate for record in records for cell in record.cells]
    lifts = [lift for record in records for lift in record.lifts]
    if any(gate.holds is False for gate in gates) or any(lift.holds is False for lift in lifts):
        return ExitCode.GATE
    undecided = any(gate.undecided for gate in gates) or any(lift.undecided for lift in lifts)
    if state == RunState.FAILED or undecided:
        return ExitCode.UNDECIDED
    return ExitCode.OK


def agent_tokens(attempt: AttemptRecord) -> float | None:
    """Return the agent's tokens of one attempt, cache included; None: not all of them are known."""
    return _spent(attempt, _tokens, agent_only=True)


def agent_cost(attempt: AttemptRecord) -> float | None:
    """Return the agent's dollars of one attempt; None: not all of them are known."""
    return _spent(attempt, _cost, agent_only=True)


def attempt_cost(attempt: AttemptRecord) -> float | None:
    """Return the dollars of one attempt, judges included; None: not all of them are known."""
    return _spent(attempt, _cost, agent_only=False)


def _spent(attempt: AttemptRecord, amount: Callable[[Usage], float | None], *, agent_only: bool) -> float | None:
    """Add up what an attempt spent; None when a part is unknown. An agent that was never asked spent nothing."""
    reported = any(usage.spender == "agent" for usage in attempt.usage)
    if attempt.turns and not reported:
        return None
    total = 0.0
    for usage in attempt.usage:
        if agent_only and usage.spender != "agent":
            continue
        part = amount(usage.usage)
        if part is None:
            return None
        total += part
    return total


def _tokens(usage: Usage) -> float | None:
    return usage.total


def _cost(usage: Usage) -> float | None:
    return usage.cost

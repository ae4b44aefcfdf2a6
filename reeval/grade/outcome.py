"""How did an attempt end? The first row that applies: error, fail, skipped, review, scored, pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reeval.errors import Phase
from reeval.grade.observing.display import clip
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptFailure, CheckRecord, Outcome, ScoreState
from reeval.schema.spec import EvalKind

__all__ = ["AttemptFacts", "Verdict", "judge_attempt"]


@dataclass(frozen=True, kw_only=True)
class AttemptFacts:
    """What is known when an attempt is over."""

    kind: EvalKind
    checks: Sequence[CheckRecord]
    """Sealed; failed asserts and missing files are among them."""
    failure: AttemptFailure | None = None
    """With a phase: the machinery's or the body's, an ``error``. Without one: the agent's own, such as a turn of its
    own that ran into the attempt's timeout (reason ``timeout``), a ``fail``."""
    skip_reason: str | None = None
    """Of ``c.skip``; None: it was not called."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The fields of an ``AttemptRecord`` that say how it ended."""

    outcome: Outcome
    verdict: Literal["pass", "fail", "error", "skipped"] | None = None
    """Scored evals only."""
    score: float | None = None
    score_state: ScoreState | None = None
    partial_score: float | None = None
    failure: AttemptFailure | None = None
    skip_reason: str | None = None


def judge_attempt(facts: AttemptFacts) -> Verdict:
    """Return how the attempt ended."""
    scored = facts.kind == "scored"
    error = _error(facts)
    if error:
        return _errored(facts, error)
    fails = facts.failure is not None or any(check.holds is False for check in facts.checks if check.gate)
    if fails and not scored:
        return Verdict(outcome=Outcome.FAIL, failure=facts.failure)
    if facts.skip_reason is not None and not fails:
        verdict: Literal["skipped"] | None = "skipped" if scored else None
        return Verdict(outcome=Outcome.SKIPPED, verdict=verdict, skip_reason=facts.skip_reason)
    if scored:
        return _scored(facts, "fail" if fails else "pass")
    decided = any(check.gate for check in facts.checks)
    return Verdict(outcome=Outcome.PASS if decided else Outcome.REVIEW)


def _error(facts: AttemptFacts) -> AttemptFailure | None:
    """Return what makes it an ``error``: the machinery first, then a check that matters and could not be evaluated."""
    if facts.failure and facts.failure.phase is not None:
        return facts.failure
    doubt = next((check for check in facts.checks if _matters(check) and _doubtful(check)), None)
    if doubt is None:
        return None
    where = f" (line {doubt.line})" if doubt.line else ""
    why = doubt.message.partition("\n")[0] or doubt.status
    return AttemptFailure(
        phase=Phase.JUDGE if doubt.match == "judge" else Phase.CHECK,
        reason=clip(f"check {doubt.label!r}{where} could not be evaluated: {why}", 500),
    )


def _matters(check: CheckRecord) -> bool:
    """It decides, it contributes, or the body ended because of it."""
    return check.gate or check.points is not None or check.stopped


def _doubtful(check: CheckRecord) -> bool:
    return check.status in (CheckStatus.UNAVAILABLE, CheckStatus.ERRORED)


def _earned(facts: AttemptFacts) -> list[float]:
    return [check.earned for check in facts.checks if check.earned is not None]


def _errored(facts: AttemptFacts, error: AttemptFailure) -> Verdict:
    if facts.kind != "scored":
        return Verdict(outcome=Outcome.ERROR, failure=error)
    earned = _earned(facts)
    return Verdict(
        outcome=Outcome.ERROR,
        verdict="error",
        score_state=ScoreState.PARTIAL if earned else ScoreState.UNAVAILABLE,
        partial_score=math.fsum(earned) if earned else None,
        failure=error,
    )


def _scored(facts: AttemptFacts, verdict: Literal["pass", "fail"]) -> Verdict:
    return Verdict(
        outcome=Outcome.SCORED,
        verdict=verdict,
        score=math.fsum(_earned(facts)),
        score_state=ScoreState.COMPLETE,
        failure=facts.failure,
    )

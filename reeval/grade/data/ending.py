"""How does an attempt at a data question end, as a record of any attempt says it?"""

from __future__ import annotations

from reeval.errors import Phase
from reeval.grade.observing.display import clip
from reeval.grade.outcome import Verdict
from reeval.schema.record import AttemptFailure, Outcome
from reeval.schema.recorded.data import DataRecord, Reason

__all__ = ["OUTCOMES", "verdict_of"]

OUTCOMES = {
    Reason.ROW_COUNT: Outcome.FAIL,
    Reason.MISSING_COLUMNS: Outcome.FAIL,
    Reason.VALUE: Outcome.FAIL,
    Reason.UNEXPECTED_ROWS: Outcome.FAIL,
    Reason.QUERY_ERROR: Outcome.FAIL,
    Reason.NO_QUERY: Outcome.REVIEW,
    Reason.UNDECIDED: Outcome.REVIEW,
    Reason.AGENT_ERROR: Outcome.ERROR,
    Reason.TRUTH_FAILED: Outcome.ERROR,
    Reason.TRUTH_NOT_FOUND: Outcome.ERROR,
}
"""What each reason makes of an attempt; without a reason it passed."""
_REASON = 500
"""Characters."""


def verdict_of(record: DataRecord, failure: AttemptFailure | None = None) -> Verdict:
    """Return the outcome with its reason in one line; ``failure`` is what ended it before it could be graded."""
    if record.reason is None and failure is None:
        return Verdict(outcome=Outcome.PASS)
    if record.reason is None or (failure is not None and failure.phase is not None):
        return Verdict(outcome=Outcome.ERROR, failure=failure)
    return Verdict(outcome=OUTCOMES[record.reason], failure=_failure(record, record.reason, failure))


def _failure(record: DataRecord, reason: Reason, failure: AttemptFailure | None) -> AttemptFailure:
    said = " ".join(record.analysis.split())
    text = f"{reason.value}: {said}" if said else reason.value
    detail = failure.detail if failure is not None else ""
    return AttemptFailure(reason=clip(text, _REASON), phase=_phase(reason), detail=detail)


def _phase(reason: Reason) -> Phase | None:
    if OUTCOMES[reason] is not Outcome.ERROR:
        return None
    return Phase.AGENT if reason is Reason.AGENT_ERROR else Phase.TRUTH

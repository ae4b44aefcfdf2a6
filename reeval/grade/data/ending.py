"""How does an attempt at a data question end, as a record of any attempt says it?"""

from __future__ import annotations

import re

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
_ANALYSIS = 500
"""Characters."""
_EXCERPT = re.compile(r"\n\s*LINE \d+: .*\n *[\^~]+")
"""The line of the query that an engine's message points at: nothing points in one line, and the query stands beside."""


def verdict_of(record: DataRecord, failure: AttemptFailure | None = None) -> Verdict:
    """Return the outcome with its reason and, in one line, its analysis; ``failure`` ended it before it was graded."""
    if record.reason is None and failure is None:
        return Verdict(outcome=Outcome.PASS)
    if record.reason is None or (failure is not None and failure.phase is not None):
        return Verdict(outcome=Outcome.ERROR, failure=failure)
    return Verdict(outcome=OUTCOMES[record.reason], failure=_failure(record, record.reason, failure))


def _failure(record: DataRecord, reason: Reason, failure: AttemptFailure | None) -> AttemptFailure:
    analysis = clip(" ".join(_EXCERPT.sub("", record.analysis).split()), _ANALYSIS)
    detail = failure.detail if failure is not None else ""
    return AttemptFailure(reason=reason.value, phase=_phase(reason), analysis=analysis, detail=detail)


def _phase(reason: Reason) -> Phase | None:
    if OUTCOMES[reason] is not Outcome.ERROR:
        return None
    return Phase.AGENT if reason is Reason.AGENT_ERROR else Phase.TRUTH

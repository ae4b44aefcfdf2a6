from __future__ import annotations

import pytest

from reeval.errors import Phase
from reeval.grade.data.ending import OUTCOMES, verdict_of
from reeval.schema.record import AttemptFailure, Outcome
from reeval.schema.recorded.data import DataRecord, Reason


def record(reason: Reason | None = None, analysis: str = "") -> DataRecord:
    return DataRecord(space="auto", question="q", reason=reason, analysis=analysis)


def test_without_a_reason_it_passed() -> None:
    assert verdict_of(record()).outcome is Outcome.PASS


def test_every_reason_has_its_verdict() -> None:
    assert set(OUTCOMES) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_the_analysis_stands_beside_the_reason_in_one_bounded_line(reason: Reason) -> None:
    verdict = verdict_of(record(reason, "one\ntwo " + "x" * 5000))
    assert verdict.outcome is OUTCOMES[reason]
    assert verdict.failure is not None
    assert verdict.failure.reason == reason.value
    assert verdict.failure.analysis.startswith("one two xx")
    assert "\n" not in verdict.failure.analysis
    assert len(verdict.failure.analysis) <= 500
    assert (verdict.failure.phase is None) == (verdict.outcome is not Outcome.ERROR)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ('no "totl"\n\nLINE 1: SELECT totl FROM orders\n               ^^^^', 'no "totl"'),
        (
            'no "totl"\nLINE 1: SELECT totl\n               ^\nHINT:  Perhaps "total".',
            'no "totl" HINT: Perhaps "total".',
        ),
        ("syntax error\nLINE 12 is too long", "syntax error LINE 12 is too long"),
    ],
)
def test_an_arrow_below_an_excerpt_points_at_nothing_in_one_line(said: str, line: str) -> None:
    failure = verdict_of(record(Reason.QUERY_ERROR, said)).failure
    assert failure is not None
    assert failure.analysis == line


def test_what_the_machinery_broke_keeps_its_phase() -> None:
    failure = AttemptFailure(reason="no program", phase=Phase.HARNESS, detail="trace")
    verdict = verdict_of(record(Reason.AGENT_ERROR, "no program"), failure)
    assert (verdict.outcome, verdict.failure) == (Outcome.ERROR, failure)


def test_a_defect_before_the_verdict_is_an_error_and_no_pass() -> None:
    failure = AttemptFailure(reason="an unexpected error", phase=Phase.BODY)
    assert verdict_of(record(), failure).outcome is Outcome.ERROR


def test_the_agents_timeout_is_an_error_of_the_agent() -> None:
    failure = AttemptFailure(reason="timeout", detail="the limit of 5 s passed")
    verdict = verdict_of(record(Reason.AGENT_ERROR, "The agent did not end."), failure)
    assert verdict.outcome is Outcome.ERROR
    assert verdict.failure is not None
    assert verdict.failure.phase is Phase.AGENT

"""How an attempt ended: the first row that applies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reeval.errors import Phase
from reeval.grade.ledger import Ledger
from reeval.grade.matches import at_least, equals
from reeval.grade.measures import measures
from reeval.grade.outcome import AttemptFacts, Verdict, judge_attempt
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.record import AttemptFailure
from reeval.schema.spec import EvalKind

Register = Callable[[Ledger], Any]

BROKEN = AttemptFailure(phase=Phase.SANDBOX, reason="the sandbox did not start")
RAISED = AttemptFailure(phase=Phase.BODY, reason="KeyError: 'x'")
TIMEOUT = AttemptFailure(reason="timeout")
SLOW_SETUP = AttemptFailure(phase=Phase.SETUP, reason="timeout")


def good(ledger: Ledger) -> Any:
    return ledger.check(equals(1), 1, 1)


def bad(ledger: Ledger) -> Any:
    return ledger.check(equals(1), 2, 2)


def unknown(ledger: Ledger) -> Any:
    return ledger.check(at_least(1), None, 3)


def half(ledger: Ledger) -> Any:
    return ledger.check(measures("quality", lambda _: 0.6), 1, 4)


def broken_measure(ledger: Ledger) -> Any:
    return ledger.check(measures("quality", lambda _: 7), 1, 4)


def judge(ledger: Ledger) -> Any:
    entry = ledger.pending("judge", "Is it kind?", 5, measures=True, threshold=0.5)
    entry.settle(Observation(status=CheckStatus.UNAVAILABLE, message="no key"))
    return entry


def call(register: Register, method: str, *values: Any) -> Register:
    """Register a check and configure it."""

    def both(ledger: Ledger) -> Any:
        entry = register(ledger)
        getattr(entry, method)(*values)
        return entry

    return both


def verdict(kind: EvalKind, *register: Register, **facts: Any) -> Verdict:
    ledger = Ledger(kind)
    for one in register:
        one(ledger)
    return judge_attempt(AttemptFacts(kind=kind, checks=ledger.seal(), **facts))


PASS_FAIL: list[tuple[list[Register], dict[str, Any], str]] = [
    ([good], {}, "pass"),
    ([good, bad], {}, "fail"),
    ([bad, good], {}, "fail"),
    ([], {}, "review"),
    ([half], {}, "review"),
    ([good, half], {}, "pass"),
    ([call(half, "gate", 0.6)], {}, "pass"),
    ([call(half, "gate", 0.7)], {}, "fail"),
    ([broken_measure], {}, "review"),
    ([good, broken_measure], {}, "pass"),
    ([call(broken_measure, "gate", 0.5)], {}, "error"),
    ([unknown], {}, "error"),
    ([good, unknown], {}, "error"),
    ([bad, unknown], {}, "error"),
    ([good, call(unknown, "optional")], {}, "pass"),
    ([good, call(bad, "optional")], {}, "pass"),
    ([call(bad, "optional")], {}, "review"),
    ([good, judge], {}, "pass"),
    ([judge], {}, "review"),
    ([call(judge, "gate")], {}, "error"),
    ([call(bad, "stop_holds")], {}, "fail"),
    ([call(call(bad, "optional"), "stop_holds")], {}, "review"),
    ([call(call(unknown, "optional"), "stop_holds")], {}, "error"),
    ([lambda ledger: ledger.passed_assert("x", 1)], {}, "pass"),
    ([good, lambda ledger: ledger.failed_assert("x", "", 1)], {}, "fail"),
    ([good, lambda ledger: ledger.failed("a exists", "read_text", "", 1)], {}, "fail"),
    ([good], {"failure": BROKEN}, "error"),
    ([bad], {"failure": BROKEN}, "error"),
    ([good], {"failure": RAISED}, "error"),
    ([good], {"failure": TIMEOUT}, "fail"),
    ([], {"failure": TIMEOUT}, "fail"),
    ([good, unknown], {"failure": TIMEOUT}, "error"),
    ([good], {"failure": SLOW_SETUP}, "error"),
    ([good], {"skip_reason": "no network"}, "skipped"),
    ([], {"skip_reason": "no network"}, "skipped"),
    ([], {"skip_reason": ""}, "skipped"),
    ([bad], {"skip_reason": "no network"}, "fail"),
    ([unknown], {"skip_reason": "no network"}, "error"),
    ([], {"skip_reason": "no network", "failure": BROKEN}, "error"),
    ([], {"skip_reason": "no network", "failure": TIMEOUT}, "fail"),
]


@pytest.mark.parametrize(("register", "facts", "outcome"), PASS_FAIL)
def test_a_pass_fail_attempt_ends_by_the_first_row_that_applies(
    register: list[Register], facts: dict[str, Any], outcome: str
) -> None:
    ended = verdict("pass-fail", *register, **facts)
    assert ended.outcome == outcome
    assert (ended.verdict, ended.score, ended.score_state, ended.partial_score) == (None, None, None, None)


SCORED: list[tuple[list[Register], dict[str, Any], tuple[Any, ...]]] = [
    # outcome, verdict, score, state, partial
    ([], {}, ("scored", "pass", 0.0, "complete", None)),
    ([good, bad], {}, ("scored", "pass", 0.0, "complete", None)),
    ([call(good, "score", 2)], {}, ("scored", "pass", 2.0, "complete", None)),
    ([call(bad, "score", 2)], {}, ("scored", "pass", 0.0, "complete", None)),
    ([call(good, "score", 0)], {}, ("scored", "pass", 0.0, "complete", None)),
    ([call(half, "score", 5), lambda ledger: ledger.points(1, 9)], {}, ("scored", "pass", 4.0, "complete", None)),
    ([call(good, "score", 0.1)] * 10, {}, ("scored", "pass", 1.0, "complete", None)),
    ([call(call(half, "gate", 0.8), "score", 5)], {}, ("scored", "fail", 3.0, "complete", None)),
    ([call(good, "score", 2), call(bad, "gate")], {}, ("scored", "fail", 2.0, "complete", None)),
    (
        [call(good, "score", 2), lambda ledger: ledger.failed_assert("x", "", 1)],
        {},
        ("scored", "fail", 2.0, "complete", None),
    ),
    ([call(good, "score", 2), call(bad, "stop_holds")], {}, ("scored", "pass", 2.0, "complete", None)),
    ([call(good, "score", 2), call(unknown, "stop_holds")], {}, ("error", "error", None, "partial", 2.0)),
    ([call(good, "score", 2), unknown], {}, ("scored", "pass", 2.0, "complete", None)),
    ([call(good, "score", 2), call(unknown, "score", 1)], {}, ("error", "error", None, "partial", 2.0)),
    ([call(unknown, "score", 1)], {}, ("error", "error", None, "unavailable", None)),
    ([call(unknown, "gate"), call(bad, "score", 1)], {}, ("error", "error", None, "partial", 0.0)),
    ([call(good, "score", 2)], {"failure": RAISED}, ("error", "error", None, "partial", 2.0)),
    ([], {"failure": BROKEN}, ("error", "error", None, "unavailable", None)),
    ([call(good, "score", 2)], {"failure": TIMEOUT}, ("scored", "fail", 2.0, "complete", None)),
    ([call(good, "score", 2)], {"skip_reason": "why"}, ("skipped", "skipped", None, None, None)),
    ([call(bad, "gate")], {"skip_reason": "why"}, ("scored", "fail", 0.0, "complete", None)),
    ([call(judge, "score", 5)], {}, ("error", "error", None, "unavailable", None)),
    ([judge], {}, ("scored", "pass", 0.0, "complete", None)),
]


@pytest.mark.parametrize(("register", "facts", "ended"), SCORED)
def test_a_scored_attempt_keeps_its_score_beside_a_verdict(
    register: list[Register], facts: dict[str, Any], ended: tuple[Any, ...]
) -> None:
    got = verdict("scored", *register, **facts)
    assert (got.outcome, got.verdict, got.score, got.score_state, got.partial_score) == ended


@pytest.mark.parametrize(
    ("register", "phase", "reason"),
    [
        (unknown, "check", "check 'at_least 1' (line 3) could not be evaluated: the value is unknown: None"),
        (call(judge, "gate"), "judge", "check 'Is it kind?' (line 5) could not be evaluated: no key"),
        (
            call(broken_measure, "gate", 0.5),
            "check",
            (
                "check 'measures quality' (line 4) could not be evaluated: measures measured 7.0, "
                "which is not a number from 0 to 1"
            ),
        ),
        (
            lambda ledger: ledger.pending("no_changes", "", None),
            "check",
            "check 'no_changes' could not be evaluated: the attempt ended before it was evaluated",
        ),
    ],
)
def test_a_check_that_could_not_be_evaluated_is_named(register: Register, phase: str, reason: str) -> None:
    assert verdict("pass-fail", good, register).failure == AttemptFailure(phase=Phase(phase), reason=reason)


@pytest.mark.parametrize("failure", [BROKEN, RAISED, SLOW_SETUP])
def test_the_machinerys_failure_is_told_before_that_of_a_check(failure: AttemptFailure) -> None:
    assert verdict("pass-fail", unknown, failure=failure).failure is failure


def test_the_reason_of_a_failure_without_a_check_is_kept() -> None:
    assert verdict("pass-fail", good, failure=TIMEOUT).failure is TIMEOUT
    assert verdict("scored", good, failure=TIMEOUT).failure is TIMEOUT
    assert verdict("pass-fail", bad).failure is None


def test_a_skip_keeps_its_reason() -> None:
    assert verdict("pass-fail", good, skip_reason="no network").skip_reason == "no network"
    assert verdict("pass-fail", bad, skip_reason="no network").skip_reason is None

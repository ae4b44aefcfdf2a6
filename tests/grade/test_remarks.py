"""What a run says about the evals themselves."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.grade.remarks import PLACES, Remarks
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, CheckRecord, FileRef, Outcome
from reeval.schema.transcript import Turn

FAILED = Turn(prompt="Do it.", status="failed")
FINE = Turn(prompt="Do it.")
REF = FileRef(file="x", bytes=1, sha256="")


def attempt(outcome: str = "pass", run: int = 1, eval: str = "a.eval.py::a", **fields: Any) -> AttemptRecord:
    return AttemptRecord(
        eval=eval,
        attempt=f"terse/plain/fake#{run}",
        outcome=Outcome(outcome),
        started_at=0,
        duration=1.0,
        harness="terse",
        sandbox="fake",
        run=run,
        **fields,
    )


def measured(label: str = "close", **fields: Any) -> CheckRecord:
    return CheckRecord(label=label, match="similarity", status=CheckStatus.MEASURED, measurement=0.5, **fields)


def remarks(*records: AttemptRecord) -> list[str]:
    fold = Remarks()
    for record in records:
        fold.add(record)
    return fold.lines()


def test_evals_that_ended_in_review_are_named_once() -> None:
    assert remarks(attempt("review", 1), attempt("review", 2), attempt("pass", 3)) == [
        "a.eval.py::a: 2 attempts ended in review, since nothing in it decides; register a check that must hold"
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (attempt("pass", turns=[FINE, FAILED]), True),
        (attempt("scored", verdict="pass", turns=[FAILED]), True),
        (attempt("scored", verdict="fail", turns=[FAILED]), False),
        (attempt("fail", turns=[FAILED]), False),
        (attempt("error", turns=[FAILED]), False),
        (attempt("pass", turns=[FINE]), False),
        (attempt("pass", turns=REF), False),
    ],
)
def test_a_failed_turn_that_no_check_minded_is_said(record: AttemptRecord, said: bool) -> None:
    assert remarks(record) == (
        [
            (
                "a.eval.py::a: 1 attempt ended well although a turn of the agent failed (terse/plain/fake#1); "
                "check turn.status if that matters"
            )
        ]
        if said
        else []
    )


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (measured(), True),
        (measured(gate=True, minimum=0.5, holds=True), False),
        (measured(points=1.0, earned=0.5), False),
        (measured(optional=True), False),
        (CheckRecord(label="close", match="includes", status=CheckStatus.MATCHED), False),
        (CheckRecord(label="close", match="judge", status=CheckStatus.UNAVAILABLE), False),
    ],
)
def test_a_measurement_that_nothing_uses_is_said(check: CheckRecord, said: bool) -> None:
    assert remarks(attempt(checks=[check]), attempt(run=2, checks=[check])) == (
        [
            (
                "a.eval.py::a: nothing uses what similarity measures in 'close'; give it .gate(minimum) or "
                ".score(points), or record it with c.observe"
            )
        ]
        if said
        else []
    )


def test_checks_in_a_file_of_their_own_are_passed_over() -> None:
    assert remarks(attempt(checks=REF)) == []


def test_the_order_of_attempts_never_matters() -> None:
    records = [
        attempt("review", 3),
        attempt("pass", 2, turns=[FAILED]),
        attempt("pass", 1, turns=[FAILED], checks=[measured()]),
    ]
    assert remarks(*records) == remarks(*records[::-1])


def test_what_is_named_is_bounded_and_the_rest_is_counted() -> None:
    lines = remarks(*[attempt("review", eval=f"{n:04}") for n in range(1000)])
    assert len(lines) == PLACES + 1
    assert lines[-1] == "and the same 980 times elsewhere"


def test_hostile_words_stay_in_their_line() -> None:
    (line,) = remarks(attempt(eval="a{0}\n\x1b[31m" + "x" * 999, checks=[measured("{attempts}\n")]))
    assert line.isprintable()
    assert line.startswith("a{0} ?[31m")
    assert len(line) < 600

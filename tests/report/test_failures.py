"""What is shown of an attempt that did not pass."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reeval.errors import Phase
from reeval.report.screen.failures import Page, check_lines, explains, failure_lines, failure_sections, headline
from reeval.report.text import width
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptFailure, CheckRecord, FileRef, Outcome
from reeval.schema.transcript import Turn
from tests.report.records import HOSTILE, Reader, attempt, check, entry, errored_attempt, evaluated, failed_attempt

BIG = FileRef(file="x/checks.json", bytes=9999, sha256="0")


def test_a_failed_attempt_shows_its_failed_checks_and_its_log() -> None:
    assert "\n".join(failure_lines(failed_attempt(), Page(), 0)) == (
        "terse/-/fake#1  fail\n"
        "  ✗ mentions Ada  line 12\n"
        "      expected text that includes 'greet.js'\n"
        "      got 'Done.'\n"
        "  log\n"
        "    starting\n"
        "    asked the agent"
    )


def test_an_error_shows_its_phase_its_reason_and_the_end_of_its_detail() -> None:
    detail = "\n".join(f"line {index}" for index in range(20))
    record = errored_attempt(failure=AttemptFailure(reason="npm ci exited with 1", phase=Phase.SETUP, detail=detail))
    lines = failure_lines(record, Page(), 0)
    assert lines[:3] == ["terse/-/fake#2  error", "  setup: npm ci exited with 1", "    … 5 more lines"]
    assert lines[-1] == "    line 19"


def test_a_failed_turn_and_the_end_of_its_error_come_before_the_checks() -> None:
    error = "sh: exited with 3\n" + "\n".join(f"line {index}" for index in range(20))
    turns = [Turn(prompt="Greet."), Turn(prompt="Again.", status="failed", error=error)]
    lines = failure_lines(failed_attempt(turns=turns, log=""), Page(), 0)
    assert lines[1:3] == ["  turn 2 failed: sh: exited with 3", "    … 15 more lines"]
    assert lines[7:9] == ["    line 19", "  ✗ mentions Ada  line 12"]


def test_what_ended_the_attempt_is_not_told_of_its_turn_as_well() -> None:
    turns = [Turn(prompt="Greet.", status="failed", error="rate limit"), Turn(prompt="x", status="failed", error="401")]
    record = errored_attempt(failure=AttemptFailure(reason="401", phase=Phase.MODEL), turns=turns, log="")
    assert failure_lines(record, Page(), 0)[1:] == ["  turn 1 failed: rate limit", "  model: 401"]


def test_failed_turns_in_a_file_are_read_and_many_are_counted() -> None:
    reader = Reader(turns=[Turn(prompt="x", status="failed") for _ in range(9)])
    lines = failure_lines(failed_attempt(turns=BIG, checks=[], log=""), Page(reader=reader), 0)
    assert lines[1] == "  turn 1 failed: it gave no reason"
    assert lines[4:] == ["  … 6 more failed turns"]


def test_a_timeout_is_a_failure_without_a_phase() -> None:
    record = attempt(Outcome.FAIL, failure=AttemptFailure(reason="timeout"))
    assert headline(record) == "timeout"
    assert failure_lines(record, Page(), 0) == ["terse/-/fake#1  fail", "  timeout"]


def test_an_attempt_to_review_says_why() -> None:
    assert failure_lines(attempt(Outcome.REVIEW), Page(), 0)[1] == "  no check decided anything"


def test_a_failed_verdict_stands_beside_the_score() -> None:
    record = attempt(Outcome.SCORED, verdict="fail", score=3.0, checks=[check(holds=False)])
    assert failure_lines(record, Page(), 0)[0] == "terse/-/fake#1  scored, verdict fail"


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (check("plain"), "✓ plain"),
        (check("no", holds=False), "✗ no"),
        (check("close", status=CheckStatus.MEASURED, measurement=0.83, minimum=0.8), "✓ close  0.83 of at least 0.8"),
        (
            check("seen", holds=None, status=CheckStatus.MEASURED, measurement=0.5, gate=False, line=3),
            "· seen  0.5, line 3",
        ),
        (check("tokens", holds=None, status=CheckStatus.UNAVAILABLE), "? tokens  unavailable"),
        (check("odd", holds=None, status=CheckStatus.ERRORED), "! odd  errored"),
        (
            check("points", holds=None, gate=False, points=2.0, earned=2.0, status=CheckStatus.MATCHED),
            "✓ points  2 of 2 points",
        ),
        (
            check("missed", holds=None, gate=False, points=2.0, earned=0.0, status=CheckStatus.MISMATCHED),
            "✗ missed  0 of 2 points",
        ),
        (check("nice", holds=None, gate=False, optional=True, status=CheckStatus.MISMATCHED), "✗ nice  optional"),
        (check("stop", holds=False, stopped=True, line=3, duration=1.5), "✗ stop  stopped here, line 3"),
    ],
)
def test_a_check_is_a_mark_a_label_and_its_numbers(one: CheckRecord, line: str) -> None:
    assert check_lines(one, Page(), 0) == [line]


def test_how_long_a_check_took_is_shown_with_the_checks_that_hold() -> None:
    assert check_lines(check("slow", duration=1.5), Page(passing=True), 0) == ["✓ slow  1.5 s"]


@pytest.mark.parametrize(
    ("one", "does"),
    [
        (check(), False),
        (check(holds=False), True),
        (check(holds=None, status=CheckStatus.UNAVAILABLE), True),
        (check(holds=None, status=CheckStatus.ERRORED, gate=False, points=1.0), True),
        (check(holds=None, status=CheckStatus.UNAVAILABLE, gate=False), False),
        (check(holds=None, status=CheckStatus.ERRORED, optional=True), False),
        (check(holds=None, status=CheckStatus.MISMATCHED, gate=False, points=1.0), False),
    ],
)
def test_only_checks_that_decide_explain_a_failure(one: CheckRecord, does: bool) -> None:
    assert explains(one) is does


def test_many_failed_checks_are_counted_and_many_lines_cut() -> None:
    checks = [check(f"check {index}", holds=False, message="m\n" * 30) for index in range(5000)]
    lines = failure_lines(failed_attempt(checks=checks, log=""), Page(), 0)
    assert len(lines) < 150
    assert lines[-1] == "  … 4,990 more checks"


def test_the_end_of_a_long_log_is_shown() -> None:
    log = "\n".join(f"line {index}" for index in range(100))
    lines = failure_lines(failed_attempt(log=log, checks=[]), Page(), 0)
    assert lines[1:3] == ["  log, last 10 lines", "    … 90 more lines"]
    assert lines[-1] == "    line 99"


def test_big_parts_are_read_from_their_files() -> None:
    reader = Reader(checks=[check("from a file", holds=False)], log="from a file too")
    lines = failure_lines(failed_attempt(checks=BIG, log=BIG), Page(reader=reader), 0)
    assert lines[1:] == ["  ✗ from a file", "  log", "    from a file too"]


def test_parts_without_a_reader_say_where_they_are() -> None:
    assert failure_lines(failed_attempt(checks=BIG, log=BIG), Page(), 0)[1:] == ["  log", "    (in x/checks.json)"]


@pytest.mark.parametrize("cells", [None, 40, 80])
def test_hostile_text_stays_text_and_fits(cells: int | None) -> None:
    record = failed_attempt(
        attempt=HOSTILE,
        checks=[check(HOSTILE, holds=False, message=HOSTILE * 20)],
        failure=AttemptFailure(reason=HOSTILE, phase=Phase.BODY, detail=HOSTILE),
        turns=[Turn(prompt=HOSTILE, status="failed", error=f"{HOSTILE}\n{HOSTILE}")],
        log=HOSTILE * 50,
    )
    lines = failure_lines(record, Page(cells=cells), 4)
    assert all(line.isprintable() for line in lines)
    assert cells is None or all(width(line) <= cells for line in lines)


def test_errors_stand_apart_and_what_is_not_shown_is_counted() -> None:
    entries = [entry(f"terse/-/fake#{index}", Outcome.FAIL) for index in range(1, 5)]
    entries.append(entry("terse/-/fake#9", Outcome.ERROR))
    evals = [evaluated("greets by name", attempts=entries)]
    failures, errors = failure_sections(evals, [failed_attempt(log="", checks=[]), errored_attempt()], Page())
    assert failures == [
        "failures",
        "",
        "  evals/greet.eval.py › greets by name",
        "    terse/-/fake#1  fail",
        "",
        "  … 3 more failures",
    ]
    assert errors[0] == "errors"
    assert not any("more" in line for line in errors)


def test_how_long_a_judge_took_does_not_tell_failures_apart() -> None:
    judged = [check("kind", holds=False, status=CheckStatus.MEASURED, duration=run / 10) for run in (1, 2)]
    same = [attempt(Outcome.FAIL, attempt=f"terse/-/fake#{run}", checks=[one]) for run, one in enumerate(judged, 1)]
    entries = [entry(f"terse/-/fake#{run}", Outcome.FAIL) for run in (1, 2)]
    failures, _errors = failure_sections([evaluated("judged", attempts=entries)], same, Page(cells=80))
    assert failures[-1] == "      1 more of this eval failed in the same way: terse/-/fake#2"


def test_attempts_of_one_eval_that_failed_alike_are_told_once() -> None:
    broken = AttemptFailure(reason="no such program", phase=Phase.HARNESS)
    same = [attempt(Outcome.ERROR, attempt=f"terse/-/fake#{run}", failure=broken) for run in (1, 2, 3)]
    other = attempt(
        Outcome.ERROR, attempt="terse/-/fake#4", failure=AttemptFailure(reason="it ended", phase=Phase.BODY)
    )
    elsewhere = attempt(Outcome.ERROR, eval="evals/other.eval.py::asks", failure=broken)
    entries = [entry(f"terse/-/fake#{run}", Outcome.ERROR) for run in range(1, 6)]
    _, errors = failure_sections([evaluated("asks", attempts=entries)], [*same, other, elsewhere], Page(cells=80))
    said = "      harness: no such program"
    assert errors[3:] == [
        "    terse/-/fake#1  error",
        said,
        "      2 more of this eval failed in the same way: terse/-/fake#2, terse/-/fake#3",
        "    terse/-/fake#4  error",
        "      body: it ended",
        "",
        "  evals/other.eval.py::asks",
        "    terse/-/fake#1  error",
        said,
    ]


def test_a_database_that_breaks_every_question_is_told_once() -> None:
    broken = AttemptFailure(reason="Ground truth query failed", analysis="it is gone", phase=Phase.TRUTH)
    records = [attempt(Outcome.ERROR, eval=f"auto/{name}", failure=broken) for name in ("a", "b", "c")]
    records.append(attempt(Outcome.ERROR, eval="auto/d", failure=replace(broken, analysis="no such table")))
    evals = [replace(evaluated(name), id=f"auto/{name}") for name in "abcd"]
    _, errors = failure_sections(evals, records, Page())
    assert errors[2:] == [
        "  evals/greet.eval.py › a",
        "    terse/-/fake#1  error",
        "      Ground truth query failed: it is gone",
        "      2 more failed in the same way: auto/b@terse/-/fake#1, auto/c@terse/-/fake#1",
        "",
        "  evals/greet.eval.py › d",
        "    terse/-/fake#1  error",
        "      Ground truth query failed: no such table",
    ]


def test_a_narrow_screen_keeps_the_whole_name_of_what_failed() -> None:
    record = attempt(Outcome.FAIL, eval="auto/orders", checks=[check(holds=False)])
    planned = replace(evaluated("orders by region", file="agents/eval_questions/revenue.yml"), id="auto/orders")
    failures, _ = failure_sections([planned], [record], Page(cells=30))
    assert failures[2:4] == ["  agents/eval_questions/revenu", "  e.yml › orders by region"]


def test_a_run_without_failures_has_no_sections() -> None:
    assert failure_sections([evaluated()], [], Page()) == ([], [])

"""Data questions on a screen: compared as whole texts, and safe whatever is in them."""

from __future__ import annotations

import time
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from reeval.errors import Phase
from reeval.report.data.accuracy import accuracy_texts
from reeval.report.data.markdown import markdown_lines
from reeval.report.junit import junit_lines
from reeval.report.screen.blocks import block
from reeval.report.screen.ending import screen
from reeval.report.screen.failures import Page, failure_lines, failure_sections
from reeval.report.screen.ink import Ink
from reeval.report.screen.numbers import accuracy
from reeval.report.screen.runs import run_row, run_table
from reeval.report.show import attempt_screen
from reeval.report.summary import summary_text
from reeval.report.text import width
from reeval.schema.record import AccuracyRecord, AttemptFailure, GateResult, Outcome
from reeval.schema.recorded.data import ResultSample
from reeval.schema.transcript import Turn
from tests.report.data.kit import ANALYSIS, FOUR, answered, asked, data_attempt, question
from tests.report.records import HOSTILE, Reader, cell, entry, evaluated, gate


@pytest.mark.parametrize(
    ("passed", "total", "text"),
    [
        (0, 0, "–"),
        (0, 4, "0% (0/4)"),
        (1, 8, "13% (1/8)"),
        (1, 3, "33% (1/3)"),
        (2, 3, "67% (2/3)"),
        (199, 200, "100% (199/200)"),
        (1, 1, "100% (1/1)"),
        (1, 200, "1% (1/200)"),
    ],
)
def test_accuracy_is_rounded_halves_up(passed: int, total: int, text: str) -> None:
    assert accuracy(passed, total) == text


def test_a_run_ends_with_its_accuracy() -> None:
    lines = screen(asked(*FOUR), [], Page(), elapsed=None, place=None)
    assert "\n".join(lines) == (
        """\
pass revenue

fail orders  Row count mismatch
  The answer has 2 rows, but the ground truth has 1.

review returns  No query
  The agent ran no query.

error discount  Ground truth query failed

errors

  … 1 more error

1 passed, 1 did not pass, 1 to review, 1 error
2 attempts that decide nothing did not pass
look closer    reeval show 'auto/orders@analyst/-/fake#1'
again, errors  reeval run --retry-errors 20261130-142501-x7f3
accuracy       25% (1/4)"""
    )


@pytest.mark.parametrize("cells", [40, 80, None])
def test_no_line_is_wider_than_the_screen(cells: int | None) -> None:
    hostile = question(HOSTILE, Outcome.FAIL, "Value mismatch", HOSTILE * 20, asks=HOSTILE)
    lines = screen(asked(hostile), [], Page(cells=cells), elapsed=None, place=None)
    assert all(line.isprintable() for line in lines)
    shown = [line for line in lines if "reeval show" not in line]  # a command is never cut
    assert cells is None or max(map(width, shown)) <= cells


def test_each_cell_has_its_accuracy_with_the_mean_over_runs_and_a_gate_that_does_not_hold() -> None:
    records = [
        AccuracyRecord(
            key=f"{harness}/-/fake",
            harness=harness,
            sandbox="fake",
            passed=passed,
            total=4,
            mean=mean,
            gate=GateResult(rule="accuracy", minimum=0.8, holds=holds, undecided=holds is None),
        )
        for harness, passed, mean, holds in (("old", 1, 0.3, False), ("new", 4, 1.0, True), ("odd", 3, 0.8, None))
    ]
    assert accuracy_texts(records) == [
        "old  25% (1/4) · mean over runs 30% · gate ≥ 0.8 does not hold",
        "new  100% (4/4) · mean over runs 100%",
        "odd  75% (3/4) · mean over runs 80% · gate ≥ 0.8 undecided",
    ]


def test_a_gate_that_does_not_hold_shows_its_failures_in_detail() -> None:
    closed = gate(rule="accuracy", minimum=0.8, holds=None)
    record = asked(question("orders", Outcome.FAIL, "Row count mismatch", ANALYSIS, gate=closed), exit_code=1)
    lines = screen(record, [data_attempt()], Page(), elapsed=None, place=None)
    assert "\n".join(lines) == (
        """\
fail orders  Row count mismatch
  The answer has 2 rows, but the ground truth has 1.

failures

  agents/eval_questions.yml › orders
    analyst/-/fake#1  fail
      Row count mismatch
      rows that differ
                  orders
        expected  3
        got       2
        expected  (no such row)
        got       1

1 failed
look closer         reeval show 'auto/orders@analyst/-/fake#1'
again, what failed  reeval run --last-failed
accuracy            0% (0/1) · gate ≥ 0.8 does not hold"""
    )


def test_reasons_of_several_runs_are_counted_once() -> None:
    entries = [
        entry(f"analyst/-/fake#{run}", outcome, reason=reason)
        for run, (outcome, reason) in enumerate(
            [
                (Outcome.FAIL, "Value mismatch"),
                (Outcome.FAIL, "Value mismatch"),
                (Outcome.REVIEW, "No query"),
                (Outcome.ERROR, "Agent error"),
                (Outcome.PASS, None),
            ],
            1,
        )
    ]
    counts = cell("analyst/-/fake", passed=1, failed=2, review=1, error=1, gate=gate(rule="none", holds=None))
    planned = evaluated("orders", counts, asks="How many orders?", attempts=entries, runs=5)
    assert block(planned)[0] == "fail orders  1 of 4 · Value mismatch × 2, No query, Agent error"


def test_a_block_says_why_of_each_agent_and_whose_answer_it_explains() -> None:
    entries = [
        entry("old/-/fake#1", Outcome.PASS),
        entry("old/-/fake#2", Outcome.ERROR, reason="Agent error", analysis="The agent's turn failed."),
        entry("new/-/fake#1", Outcome.FAIL, reason="Value mismatch", analysis="They differ."),
        entry("new/-/fake#2", Outcome.FAIL, reason="Value mismatch", analysis="They differ."),
    ]
    reports = gate(rule="none", holds=None)
    cells = cell("old/-/fake", passed=1, error=1, gate=reports), cell("new/-/fake", failed=2, gate=reports)
    assert block(evaluated("orders", *cells, asks="How many?", attempts=entries, runs=2)) == [
        "fail orders",
        "  harness  pass    why",
        "  old      1 of 1  Agent error",
        "  new      0 of 2  Value mismatch × 2",
        "  new/-/fake#1: They differ.",
    ]


def test_an_answer_that_is_wrong_in_another_way_than_the_first_says_how() -> None:
    closed = gate(rule="accuracy", minimum=0.8, holds=None)
    first = question("orders", Outcome.FAIL, "Row count mismatch", ANALYSIS, gate=closed)
    other = replace(
        data_attempt(answered(differing=())),
        attempt="analyst/-/fake#2",
        failure=AttemptFailure(reason="Value mismatch", analysis="They differ."),
    )
    failures, _ = failure_sections([first], [data_attempt(answered(differing=())), other], Page())
    assert failures[3:] == [
        "    analyst/-/fake#1  fail",
        "      Row count mismatch",
        "    analyst/-/fake#2  fail",
        "      Value mismatch: They differ.",
    ]


def test_why_a_turn_failed_is_told_once() -> None:
    failure = AttemptFailure(reason="Agent error", analysis="The agent's turn failed: overflow", phase=Phase.AGENT)
    turn = Turn(prompt="What is orders?", message="", status="failed", error="overflow\nof the context")
    record = replace(data_attempt(answered(differing=()), outcome=Outcome.ERROR, failure=failure), turns=[turn])
    assert failure_lines(record, Page()) == [
        "  analyst/-/fake#1  error",
        "    turn 1 failed: overflow",
        "      of the context",
        "    Agent error",
    ]


# --- one attempt ----------------------------------------------------------------------------------------


def shown(cells: int | None, **more: object) -> str:
    record = data_attempt(answered(**more))
    return "\n".join(attempt_screen(asked(*FOUR), record, Page(cells=cells)))


def test_two_queries_stand_side_by_side_where_there_is_room() -> None:
    assert shown(80) == (
        """\
agents/eval_questions.yml › orders @ analyst/-/fake#1
fail in 0.34 s · harness terse · sandbox fake · started 2026-11-30 14:25 UTC
run 20261130-142501-x7f3 · dev · all questions

question
  What is orders?
Row count mismatch
  The answer has 2 rows, but the ground truth has 1.

model output · SQL                     │ ground truth · SQL
SELECT region, count(*)                │ SELECT count(*) AS orders
FROM orders                            │ FROM orders
GROUP BY region                        │

rows that differ
            orders
  expected  3
  got       2
  expected  (no such row)
  got       1

ground truth  1 row, 1 column
  orders
  3

model output  2 rows, 2 columns
  region  n
  north   2
  NULL    1

turn 1  completed in 0 ms
  prompt
    What is orders?
  response
    Here it is."""
    )


def test_two_queries_stand_below_each_other_where_there_is_not() -> None:
    text = shown(40)
    assert "│" not in text
    assert (
        """\
model output · SQL
  SELECT region, count(*)
  FROM orders
  GROUP BY region
ground truth · SQL
  SELECT count(*) AS orders
  FROM orders
"""
        in text
    )


@pytest.mark.parametrize("cells", [40, 80, 120, None])
@pytest.mark.parametrize("color", [False, True])
def test_what_an_agent_or_a_database_says_cannot_do_anything_to_a_terminal(cells: int | None, color: bool) -> None:
    bad = ResultSample(columns=(HOSTILE,) * 3, rows=((HOSTILE, "x" * 5000, None),), row_count=9, column_count=3)
    found = answered(
        agent_sql=f"SELECT '{HOSTILE}'\r\x1b[2J",
        truth_sql=HOSTILE * 50,
        analysis=HOSTILE,
        warnings=(HOSTILE,),
        agent=bad,
        truth=bad,
        differing=(((HOSTILE, 1, None), ()),),
    )
    record = data_attempt(found, message=f"# {HOSTILE}\n\n```sql\n{HOSTILE}\n```\n\n[x](http://e\x1b]8;;evil)\n")
    for page in (Page(cells=cells, ink=Ink(color)), Page(cells=cells, ink=Ink(color), full=True)):
        text = "\n".join(attempt_screen(asked(*FOUR), record, page))
        assert "\x1b[2J" not in text
        assert "\x1b]" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "\r" not in text


def test_a_question_that_passed_shows_no_reason() -> None:
    record = data_attempt(answered(reason=None, analysis="", differing=()), outcome=Outcome.PASS, failure=None)
    text = "\n".join(attempt_screen(asked(*FOUR), record, Page()))
    assert "mismatch" not in text
    assert "rows that differ" not in text


# --- a response -----------------------------------------------------------------------------------------


def test_markdown_is_rendered() -> None:
    text = "# Revenue\n\n* **north** `10`\n* south\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    lines = [line.strip() for line in markdown_lines(text, Page(cells=60), 2)]
    assert "• north 10" in lines
    assert "**" not in "".join(lines)
    assert any(line.split() == ["1", "2"] for line in lines)


def test_html_in_a_response_stays_text() -> None:
    text = "\n".join(markdown_lines("<b>12</b>\n\n<script>alert(1)</script>\n", Page(cells=60), 0))
    assert "<b>12</b>" in text
    assert "<script>alert(1)</script>" in text


@pytest.mark.parametrize("piece", ["> ", "* ", "[", "![", "`", "**a", "| ", "<", "\\", "1. ", "&#27;[2J", "\t", "\n\n"])
def test_a_response_made_to_hang_is_rendered_in_time(piece: str) -> None:
    began = time.monotonic()
    lines = markdown_lines(piece * (1_000_000 // len(piece)), Page(cells=80), 0)
    assert time.monotonic() - began < 30
    assert len(lines) <= 62
    assert "\x1b" not in "".join(lines)


# --- elsewhere ------------------------------------------------------------------------------------------


def test_the_summary_has_a_table_of_cells_and_of_questions_that_did_not_pass() -> None:
    text = summary_text(asked(*FOUR), [])
    assert (
        f"""
## Accuracy

| agent | accuracy | mean over runs | gate |
| --- | ---: | ---: | --- |
| `analyst/-/fake` | 25% (1/4) |  | reports only |

| | question | agent | why |
| --- | --- | --- | --- |
| fail | `orders` | `analyst/-/fake#1` | `Row count mismatch: {ANALYSIS}` |
| review | `returns` | `analyst/-/fake#1` | `No query: The agent ran no query.` |
"""
        in text
    )


def test_the_summary_shows_both_queries_of_a_failure() -> None:
    closed = gate(holds=False)
    record = asked(question("orders", Outcome.FAIL, "Row count mismatch", "x", gate=closed), exit_code=1)
    text = summary_text(record, [data_attempt()], Reader(data_attempt()))
    assert "ground truth · SQL\n  SELECT count(*) AS orders\n" in text


def test_nothing_hostile_gets_out_of_the_summary() -> None:
    record = asked(question(HOSTILE, Outcome.FAIL, "Value mismatch", HOSTILE, asks=HOSTILE), exit_code=1)
    found = answered(agent_sql=HOSTILE, truth_sql=HOSTILE, analysis=HOSTILE)
    text = summary_text(record, [data_attempt(found)])
    outside = [line for line in text.split("\n") if line.startswith(("#", "| fail"))]
    assert all("<img" not in line.split("`")[0] for line in outside)
    assert "\n# head" not in text
    assert text.replace("\n", "").isprintable()


def test_many_questions_that_did_not_pass_are_counted() -> None:
    many = [question(f"q{number}", Outcome.FAIL, "Value mismatch", "x") for number in range(150)]
    assert "\n50 more did not pass: `reeval query" in summary_text(asked(*many), [])


def test_junit_says_in_the_message_of_a_failure_what_was_wrong() -> None:
    closed = gate(rule="accuracy", minimum=0.8, holds=None)
    wrong = asked(question("orders", Outcome.FAIL, "Row count mismatch", ANALYSIS, gate=closed), exit_code=1)
    for reader in (Reader(data_attempt()), None):
        (failure,) = ET.fromstring("\n".join(junit_lines(wrong, reader))).iter("failure")
        assert failure.get("message") == f"Row count mismatch: {ANALYSIS}"


def test_junit_says_why_a_question_that_decides_nothing_did_not_pass() -> None:
    root = ET.fromstring("\n".join(junit_lines(asked(*FOUR), Reader(*[data_attempt()] * 4))))
    skipped = {case.get("name"): case[0].get("message") for case in root.iter("testcase") if len(case)}
    assert skipped["orders @ analyst/-/fake#1"] == (
        f"it did not pass (Row count mismatch: {ANALYSIS}), which decides nothing here"
    )


def test_a_list_of_runs_shows_accuracy_and_target() -> None:
    only, mixed = asked(*FOUR), asked(*FOUR, evaluated("greets", cell(passed=3, failed=1)))
    assert (run_row(only).result, run_row(only).accuracy, run_row(only).target) == ("25% (1/4)", "25% (1/4)", "dev")
    assert run_row(mixed).result == "75% (3/4), questions 25% (1/4)"
    head, line = run_table([run_row(only)], Page())
    assert head.split()[:3] == ["run", "state", "result"]
    assert "target" in head
    assert "  dev  " in line

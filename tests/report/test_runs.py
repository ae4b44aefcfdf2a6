"""The list of runs."""

from __future__ import annotations

import pytest

from reeval.report.screen.failures import Page
from reeval.report.screen.ink import Ink
from reeval.report.screen.runs import RunRow, run_row, run_table
from reeval.report.text import width
from reeval.schema.record import RunState
from reeval.schema.recorded.gates import AccuracyRecord
from tests.report.records import CREATED, HOSTILE, cell, evaluated, gate, run

PASSED = run(
    evaluated("a", cell("terse/plain/fake", passed=6), cell("chatty/house/fake", passed=5, failed=1, error=1)),
    selection="--tag smoke",
    created_by="ada",
)
SCORED = run(
    evaluated("a", cell(scored=3, complete=3, mean_score=6.0), kind="scored"),
    evaluated("b", cell(scored=1, error=1, complete=1, mean_score=8.0), kind="scored"),
    kind="scored",
    run_id="20261129-090000-aaaa",
    state=RunState.INTERRUPTED,
    ended_at=None,
)


def test_a_row_for_each_run() -> None:
    lines = run_table([run_row(PASSED), run_row(SCORED, updated=CREATED + 60_000)], Page())
    assert "\n".join(lines) == (
        """\
run                   state        result                     created (UTC)     agent          environment   selection    created by  last updated
20261130-142501-x7f3  completed    92% (11/12)                2026-11-30 14:25  terse, chatty  plain, house  --tag smoke  ada         2026-11-30 14:25
20261129-090000-aaaa  interrupted  mean 6.5, 4 of 5 complete  2026-11-30 14:25  terse          –             everything   –           2026-11-30 14:26"""  # noqa: E501 - the whole text as it is
    )


def test_a_run_without_results_has_none() -> None:
    assert run_row(run()).result == "–"
    assert run_row(run(kind="scored")).result == "–"


def test_a_run_of_data_questions_has_no_accuracy_before_one_has_ended() -> None:
    accuracy = [AccuracyRecord(key="a/-/fake", harness="a", sandbox="fake", total=2, gate=gate())]
    going = run_row(run(evaluated("a", cell("a/-/fake"), asks="How many?"), accuracy=accuracy, state=RunState.RUNNING))
    assert (going.result, going.accuracy) == ("–", "")
    done = run_row(run(evaluated("a", cell("a/-/fake", failed=1), asks="How many?"), accuracy=accuracy))
    assert (done.result, done.accuracy) == ("0% (0/2)", "0% (0/2)")


def test_many_names_are_counted() -> None:
    cells = [cell(f"agent-{index}/-/fake", passed=1) for index in range(9)]
    (line,) = run_table([run_row(run(evaluated("x", *cells)))], Page())[1:]
    assert "agent-0, agent-1, agent-2 +6" in line


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (40, "20261130-142501-x7f3  comple…  92% (1/1…"),
        (80, "20261130-142501-x7f3  completed  92% (1/12)  2026-11-30 14:25  –"),
    ],
)
def test_a_narrow_terminal_keeps_what_counts_and_fits(cells: int, shown: str) -> None:
    row = RunRow(
        run_id="20261130-142501-x7f3", created=CREATED, state="completed", result="92% (1/12)", selection=HOSTILE
    )
    lines = run_table([row], Page(cells=cells))
    assert all(width(line) <= cells and line.isprintable() for line in lines)
    assert lines[1] == shown


def test_the_state_is_colored() -> None:
    assert "\x1b[32mcompleted\x1b[0m" in run_table([run_row(PASSED)], Page(ink=Ink(color=True)))[1]

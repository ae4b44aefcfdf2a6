"""A run's last screen, compared as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.report.screen.ending import blocks, header, next_commands, screen, totals
from reeval.report.screen.evidence import failing_of, is_open, load_failures
from reeval.report.screen.failures import Page
from reeval.report.screen.ink import PLAIN
from reeval.report.text import width
from reeval.schema.record import GateResult, Outcome, RunRecord, RunState, Totals
from reeval.schema.recorded.budget import BudgetRecord
from reeval.schema.recorded.lifts import LiftRecord
from tests.report.records import (
    HOSTILE,
    Reader,
    cell,
    entry,
    errored_attempt,
    evaluated,
    failed_attempt,
    gate,
    plan,
    planned,
    run,
    start,
)

PLACE = ".reeval/runs/20261130-142501-x7f3/"


def mixed() -> RunRecord:
    good = evaluated("adds", cell(passed=2, duration=0.3))
    bad = evaluated(
        "greets by name",
        cell(failed=1, error=1, gate=gate(holds=False)),
        attempts=[entry(outcome=Outcome.FAIL), entry("terse/-/fake#2", Outcome.ERROR)],
    )
    return run(good, bad, evaluated("later", mode="todo"), exit_code=1, remarks=["adds: a measurement nobody uses"])


def test_the_last_screen() -> None:
    failures = [failed_attempt(log=""), errored_attempt()]
    assert "\n".join(screen(mixed(), failures, Page(), elapsed=3.2, place=PLACE)) == (
        """\
pass adds  2 of 2 · 0.30 s
fail greets by name  0 of 1 · 1 error
todo later

failures

  evals/greet.eval.py › greets by name
    terse/-/fake#1  fail
      ✗ mentions Ada  line 12
          expected text that includes 'greet.js'
          got 'Done.'

errors

  evals/greet.eval.py › greets by name
    terse/-/fake#2  error
      setup: npm ci exited with 1
        npm ERR! missing: left-pad

remarks

  · adds: a measurement nobody uses

2 passed, 1 failed, 1 error in 3.2 s
record              .reeval/runs/20261130-142501-x7f3/
look closer         reeval show 'evals/greet.eval.py::greets by name@terse/-/fake#1'
again, what failed  reeval run --last-failed
again, errors       reeval run --retry-errors 20261130-142501-x7f3"""
    )


def test_the_last_screen_of_a_run_that_goes_well_is_short() -> None:
    record = run(evaluated("adds", cell(passed=1, duration=0.3)))
    assert screen(record, [], Page(), elapsed=0.4, place=PLACE) == [
        "pass adds  0.30 s",
        "",
        "1 passed in 0.40 s",
        "record  .reeval/runs/20261130-142501-x7f3/",
    ]


def test_misses_that_decide_nothing_are_no_failures() -> None:
    control = cell("terse/bare/fake", role="control", failed=2, gate=gate(rule="none", holds=None))
    variant = cell("terse/full/fake", role="variant", passed=2)
    misses = [entry(f"terse/bare/fake[{case}]#1", Outcome.FAIL) for case in "ab"]
    record = run(evaluated("greets", control, variant, attempts=misses))
    assert load_failures(record, Reader()) == []
    assert screen(record, [], Page(), elapsed=1.0, place=None)[-4:] == [
        "",
        "2 passed, 2 did not pass in 1.0 s",
        "2 attempts that decide nothing did not pass",
        "look closer  reeval show 'evals/greet.eval.py::greets@terse/bare/fake[a]#1'",
    ]


@pytest.mark.parametrize(
    ("rule", "failing"),
    [
        (gate(rule="pass_rate", minimum=0.5, holds=True), ["terse/-/fake#2"]),
        (gate(rule="none", holds=None), ["terse/-/fake#2"]),
        (gate(holds=False), ["terse/-/fake#1", "terse/-/fake#2"]),
        (gate(holds=None, undecided=True), ["terse/-/fake#1", "terse/-/fake#2"]),
    ],
)
def test_errors_are_always_shown_and_fails_where_their_gate_does_not_hold(rule: GateResult, failing: list[str]) -> None:
    entries = [entry(outcome=Outcome.FAIL), entry("terse/-/fake#2", Outcome.ERROR), entry("terse/-/fake#3")]
    one = evaluated("x", cell(passed=1, failed=1, error=1, gate=rule), attempts=entries)
    assert [entry.attempt for entry in failing_of(one)] == failing


def test_the_misses_of_a_variant_are_failures_where_its_lift_is_too_small() -> None:
    control = cell("terse/bare/fake", role="control", failed=1, gate=gate(rule="none", holds=None))
    variant = cell("terse/full/fake", role="variant", failed=1, gate=gate(rule="pass_rate", minimum=0.0))
    sides = [entry("terse/bare/fake#1", Outcome.FAIL), entry("terse/full/fake#1", Outcome.FAIL)]
    lift = LiftRecord(variant="full", control="bare", min_lift=0.1, holds=False)
    one = evaluated("x", control, variant, attempts=sides, lifts=[lift])
    assert [entry.attempt for entry in failing_of(one)] == ["terse/full/fake#1"]
    assert is_open(one)


def test_commands_are_never_cut_on_a_narrow_terminal() -> None:
    lines = screen(mixed(), [failed_attempt(log="")], Page(cells=40), elapsed=3.2, place=PLACE)
    assert lines[-8:] == [
        "record",
        "  .reeval/runs/20261130-142501-x7f3/",
        "look closer",
        "  reeval show 'evals/greet.eval.py::greets by name@terse/-/fake#1'",
        "again, what failed",
        "  reeval run --last-failed",
        "again, errors",
        "  reeval run --retry-errors 20261130-142501-x7f3",
    ]
    assert all(width(line) <= 40 for line in lines[:-8])


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (run(), "nothing ran in 1.0 s"),
        (run(evaluated("x", cell(scored=1234), kind="scored"), kind="scored"), "1,234 scored in 1.0 s"),
        (
            run(evaluated("x", cell(passed=1, review=1, skipped=1, planned=9))),
            "1 passed, 1 to review, 1 skipped, 6 not run in 1.0 s",
        ),
        (run(evaluated("x", cell(error=2))), "2 errors in 1.0 s"),
    ],
)
def test_totals_say_only_what_there_is(record: RunRecord, text: str) -> None:
    assert totals(record, 1.0, Page()) == [text]


@pytest.mark.parametrize(
    ("state", "exit_code", "said", "next_step"),
    [
        (
            RunState.INTERRUPTED,
            130,
            "interrupted: what finished is recorded",
            "reeval run --resume 20261130-142501-x7f3",
        ),
        (RunState.FAILED, 3, "the run itself failed", "reeval run --resume 20261130-142501-x7f3"),
        (
            RunState.COMPLETED,
            3,
            "undecided: errors could still change a gate",
            "reeval run --retry-errors 20261130-142501-x7f3",
        ),
    ],
)
def test_a_run_that_did_not_decide_says_how_to_go_on(
    state: RunState, exit_code: int, said: str, next_step: str
) -> None:
    record = run(evaluated("x", cell(error=1)), state=state, exit_code=exit_code)
    assert said in screen(record, [errored_attempt()], Page(), elapsed=None, place=None)
    assert next_step in [command for _, command in next_commands(record, [errored_attempt()])]


def test_a_run_that_stopped_at_a_failure_says_how_to_run_the_rest() -> None:
    cut = run(evaluated("x", cell(failed=1, planned=20, gate=gate(holds=False))), exit_code=1)
    assert ("go on", "reeval run --resume 20261130-142501-x7f3") in next_commands(cut, [failed_attempt()])
    whole = run(evaluated("x", cell(failed=1, gate=gate(holds=False))), exit_code=1)
    assert [name for name, _ in next_commands(whole, [failed_attempt()])] == ["look closer", "again, what failed"]


ATTEMPT = "evals/greet.eval.py::x@terse/-/fake#1"


@pytest.mark.parametrize(
    ("budget", "lines", "go_on"),
    [
        (
            {"limit": 5, "spent": 5.124, "unstarted": 28},
            ["the budget of $5.00 is spent ($5.12): 28 attempts were not started"],
            "--budget 5",
        ),
        (
            {"limit": 0.005, "spent": 0.005, "unstarted": 1, "unasked": 1},
            ["the budget of $0.0050 is spent ($0.0050): 1 attempt was not started and 1 question was not asked"],
            "--budget 0.005",
        ),
        (
            {"limit": 5, "spent": 6, "unasked": 3, "unpriced": 2},
            [
                "the budget of $5.00 is spent ($6.00): 3 questions were not asked",
                "the cost of 2 attempts is not known in full: $6.00 of $5.00 is known to be spent",
            ],
            "--budget 5",
        ),
        (
            {"limit": 5, "spent": 1, "unstarted": 2, "unpriced": 1, "blind": ATTEMPT},
            [
                (
                    f"the budget of $5.00 could not be kept, since {ATTEMPT} does not say what it cost: "
                    "2 attempts were not started"
                ),
                "the cost of 1 attempt is not known in full: $1.00 of $5.00 is known to be spent",
            ],
            "--budget 5 --allow-unknown-cost",
        ),
    ],
)
def test_a_run_that_its_budget_stopped_says_what_is_left_and_how_to_go_on(
    budget: dict[str, Any], lines: list[str], go_on: str
) -> None:
    found = BudgetRecord(stopped=True, **budget)
    record = run(evaluated("x", cell(passed=1)), state=RunState.INTERRUPTED, exit_code=3, budget=found)
    said = screen(record, [], Page(), elapsed=None, place=None)
    assert [line for line in said if line in lines] == lines
    assert said[-1] == f"go on  reeval run --resume 20261130-142501-x7f3 {go_on}"
    assert "interrupted: what finished is recorded" not in said


def test_a_budget_that_was_enough_says_nothing() -> None:
    record = run(evaluated("x", cell(passed=1)), budget=BudgetRecord(limit=5, spent=1))
    assert screen(record, [], Page(), elapsed=None, place=None) == ["pass x", "", "1 passed"]


@pytest.mark.parametrize(
    ("totals", "causes"),
    [
        ({"passed": 1, "error": 1, "planned": 2}, "errors"),
        ({"passed": 1, "planned": 2}, "attempts that did not run"),
        ({"error": 1, "planned": 2}, "errors and attempts that did not run"),
    ],
)
def test_an_undecided_run_says_what_could_still_change_it(totals: dict[str, int], causes: str) -> None:
    record = run(evaluated("x", cell()), exit_code=3, totals=Totals(**totals))
    assert f"undecided: {causes} could still change a gate" in screen(record, [], Page(), elapsed=None, place=None)


def test_of_many_evals_that_went_well_only_the_first_are_listed() -> None:
    evals = [evaluated(f"eval {index}", cell(passed=1)) for index in range(1000)]
    evals[900] = evaluated("the bad one", cell(failed=1, gate=gate(holds=False)))
    lines = blocks(evals, Page())
    assert len(lines) == 62
    assert lines[-2:] == ["fail the bad one", "… 939 more evals that went well"]
    assert len(blocks(evals, Page(full=True))) == 1000


def test_evals_of_one_name_are_told_apart_by_their_files() -> None:
    evals = [evaluated("adds", cell(passed=1), file=file) for file in ("evals/a.eval.py", "evals/b.eval.py")]
    assert blocks([*evals, evaluated("greets", cell(passed=1))], Page()) == [
        "pass evals/a.eval.py › adds",
        "pass evals/b.eval.py › adds",
        "pass greets",
    ]


def test_the_header_says_how_much_there_is() -> None:
    two = plan(planned(), planned("b", runs=4), planned("later", mode="todo"))
    facts = ["sandbox fake: plain directory", HOSTILE]
    lines = header(two, start(), facts, PLAIN, None)
    assert lines[:2] == ["run 20261130-142501-x7f3  2 evals, 5 attempts, 10 at a time", "sandbox fake: plain directory"]
    assert lines[2].isprintable()
    assert all(width(line) <= 40 for line in header(two, start(), facts, PLAIN, 40))

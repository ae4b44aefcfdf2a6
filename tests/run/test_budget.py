"""How far a run goes on a budget."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace

from reeval.protocols import Room
from reeval.run.budget import Budget
from reeval.schema.options import JudgeOptions
from reeval.schema.record import AttemptFailure, AttemptRecord, Outcome, RunState, SpenderUsage
from reeval.schema.recorded.budget import BudgetRecord
from reeval.schema.transcript import Turn
from reeval.usage import Usage
from tests.run.kit import Stage, done

PASSES = """
@evaluate("passes")
async def passes(c):
    await c.send("Do it.")
    c.check(1, equals(1))
"""
JUDGED = """
@evaluate("is kind")
async def is_kind(c):
    await c.send("Be kind.")
    c.judge("Is it kind?").gate(0.5)
"""


def attempt(*costs: float | None, failure: AttemptFailure | None = None) -> AttemptRecord:
    return AttemptRecord(
        eval="evals/it.eval.py::passes",
        attempt="terse/-/plain#1",
        outcome=Outcome.ERROR if failure else Outcome.PASS,
        started_at=0,
        duration=0.1,
        harness="terse",
        sandbox="plain",
        run=1,
        turns=[Turn(prompt="Do it.")],
        usage=[SpenderUsage(spender="agent", usage=Usage(cost=cost)) for cost in costs],
        failure=failure,
    )


BROKE = AttemptFailure(reason="the program died")
BLIND = "it is not known what evals/it.eval.py::passes@terse/-/plain#1 cost"


@pytest.mark.parametrize(
    ("records", "allow_unknown", "why", "spent", "unpriced"),
    [
        ([attempt(0.5), attempt(0.4)], False, None, 0.9, 0),
        ([attempt(0.5), attempt(0.5)], False, "the budget is spent", 1.0, 0),
        ([attempt(0.1)] * 10, False, "the budget is spent", 1.0, 0),
        ([attempt(0.3, 0.9)], False, "the budget is spent", 1.2, 0),
        ([attempt(0.2, None)], False, BLIND, 0.2, 1),
        ([attempt()], False, BLIND, 0.0, 1),
        ([attempt(0.2, None), attempt()], True, None, 0.2, 2),
        ([attempt(None), attempt(1.5)], True, "the budget is spent", 1.5, 1),
        ([attempt(0.2, failure=BROKE), attempt(failure=BROKE)], False, None, 0.2, 1),
        ([replace(attempt(), turns=[])], False, None, 0.0, 0),
    ],
)
def test_a_budget_counts_what_is_known_and_stops_at_what_is_not(
    records: list[AttemptRecord], allow_unknown: bool, why: str | None, spent: float, unpriced: int
) -> None:
    budget = Budget(1.0, allow_unknown=allow_unknown)
    for record in records:
        budget.attempt(record)
    assert budget.why_stop == why
    found = budget.record(unstarted=0, unasked=0, in_order=why is not None)
    assert (found.spent, found.unpriced, found.stopped) == (pytest.approx(spent), unpriced, False)


def test_answers_to_questions_count() -> None:
    budget = Budget(0.5, allow_unknown=False)
    budget.answer("fake", Usage(cost=0.2))
    assert budget.why_stop is None
    budget.answer("fake", Usage(cost=0.3))
    assert budget.why_stop == "the budget is spent"


def test_an_answer_of_which_the_cost_is_unknown_stops_a_budget_unless_that_is_allowed() -> None:
    strict, lenient = Budget(0.5, allow_unknown=False), Budget(0.5, allow_unknown=True)
    for budget in (strict, lenient):
        budget.answer("openai/own", Usage(input=5))
    assert strict.why_stop == "it is not known what an answer of openai/own cost"
    assert lenient.why_stop is None


async def a_quarter(prompt: str, room: Room) -> Turn:
    return replace(await done(prompt, room), usage=Usage(input=1, output=1, cost=0.25))


def test_a_spent_budget_begins_nothing_more_and_says_what_is_left(stage: Stage) -> None:
    stage.harnesses["terse"].answer = a_quarter
    stage.runs = 10
    stage.max_concurrent = 1
    stage.changes = {"budget": 0.75}
    outcome = stage.run(PASSES)
    assert [record.run for record in stage.recorder.records] == [1, 2, 3]
    assert outcome.state == RunState.INTERRUPTED
    assert outcome.budget == BudgetRecord(limit=0.75, spent=0.75, stopped=True, unstarted=7)
    assert stage.reporter.warnings == ["the budget is spent: what runs comes to its end, nothing more begins"]


def test_what_runs_when_the_budget_is_spent_is_recorded(stage: Stage) -> None:
    async def later_ones_take_longer(prompt: str, room: Room) -> Turn:
        await anyio.sleep(0.05 * stage.harnesses["terse"].sessions)
        return await a_quarter(prompt, room)

    stage.harnesses["terse"].answer = later_ones_take_longer
    stage.runs = 10
    stage.max_concurrent = 3
    stage.changes = {"budget": 0.25}
    outcome = stage.run(PASSES)
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 3
    assert outcome.budget == BudgetRecord(limit=0.25, spent=0.75, stopped=True, unstarted=7)


def test_a_run_that_ends_within_its_budget_is_complete(stage: Stage) -> None:
    stage.harnesses["terse"].answer = a_quarter
    stage.runs = 3
    stage.changes = {"budget": 0.75}
    outcome = stage.run(PASSES)
    assert outcome.state == RunState.COMPLETED
    assert outcome.budget == BudgetRecord(limit=0.75, spent=0.75)


def test_without_a_budget_nothing_is_counted(stage: Stage) -> None:
    assert stage.run(PASSES).budget is None


def test_a_harness_that_does_not_say_what_it_cost_stops_a_budget(stage: Stage) -> None:
    stage.runs = 5
    stage.max_concurrent = 1
    stage.changes = {"budget": 1.0}
    outcome = stage.run(PASSES)
    blind = "evals/it.eval.py::passes@terse/-/plain#1"
    assert outcome.budget == BudgetRecord(limit=1, spent=0, unpriced=1, blind=blind, stopped=True, unstarted=4)


def test_unknown_costs_that_are_allowed_are_counted_and_stop_nothing(stage: Stage) -> None:
    stage.runs = 5
    stage.changes = {"budget": 1.0, "allow_unknown_cost": True}
    outcome = stage.run(PASSES)
    assert outcome.state == RunState.COMPLETED
    assert outcome.budget == BudgetRecord(limit=1, spent=0, unpriced=5)


def test_judges_count_too(stage: Stage) -> None:
    stage.harnesses["terse"].answer = a_quarter
    stage.judge = JudgeOptions(model="fake")
    stage.runs = 10
    stage.max_concurrent = 1
    stage.changes = {"budget": 1.0}
    outcome = stage.run(JUDGED)
    assert outcome.budget is not None
    # The next attempt does not begin while a judge answers: what it costs is known when it has.
    assert (outcome.budget.spent, len(stage.recorder.records)) == (1.0, 2)


def test_the_failures_that_end_a_run_are_not_the_budgets_doing(stage: Stage) -> None:
    stage.harnesses["terse"].answer = a_quarter
    stage.runs = 10
    stage.max_concurrent = 1
    stage.changes = {"budget": 0.25, "max_failures": 1}
    outcome = stage.run(PASSES.replace("equals(1)", "equals(2)"))
    assert outcome.state == RunState.COMPLETED
    assert outcome.budget == BudgetRecord(limit=0.25, spent=0.25, unstarted=9)

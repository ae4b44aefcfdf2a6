from __future__ import annotations

import asyncio
import time

import anyio
import pytest

from reeval.backends import QueryError
from reeval.cli.gold import suspicions
from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Room
from reeval.run.data.database import AT_ONCE
from reeval.run.executor import LocalExecutor
from reeval.schema.data.results import ResultTable
from reeval.schema.plan import decode_plan, encode_plan
from reeval.schema.record import Outcome
from reeval.schema.recorded.data import Reason
from reeval.schema.transcript import Turn
from tests.run.data.kit import GOLD, TRUTH, DataStage, block, question, says, table
from tests.run.kit import ScriptedHarness

ANSWER = "SELECT answer"


def answering(data: DataStage, result: ResultTable | QueryError, text: str = block(ANSWER)) -> DataStage:
    data.stage.harnesses["terse"].answer = says(text)
    data.database.results[ANSWER] = result
    return data


def test_the_same_rows_pass(data: DataStage) -> None:
    record, found = answering(data, table(("south", 20), ("north", 10))).record()
    assert record.outcome is Outcome.PASS
    assert record.failure is None
    assert (found.reason, found.analysis) == (None, "")
    assert (found.truth_sql, found.agent_sql) == (TRUTH, ANSWER)
    assert found.truth is not None
    assert found.truth.rows == (("north", 10), ("south", 20))
    assert found.agent is not None
    assert found.agent.columns == ("region", "total")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (table(("north", 10)), Reason.ROW_COUNT),
        (table(("north",), ("south",)), Reason.MISSING_COLUMNS),
        (table(("north", 10), ("south", 21)), Reason.VALUE),
        (table(("north", 10), ("south", 20), ("west", 1)), Reason.UNEXPECTED_ROWS),
        (QueryError("no such table: sale"), Reason.QUERY_ERROR),
    ],
)
def test_another_result_fails_with_its_reason(
    data: DataStage, result: ResultTable | QueryError, reason: Reason
) -> None:
    record, found = answering(data, result).record()
    assert record.outcome is Outcome.FAIL
    assert found.reason is reason
    assert found.analysis
    assert record.failure is not None
    assert record.failure.phase is None
    assert (record.failure.reason, record.failure.analysis) == (reason.value, " ".join(found.analysis.split()))


def test_another_number_of_rows_is_told_of_the_agent(data: DataStage) -> None:
    _, found = answering(data, table(("north", 11))).record()
    assert found.analysis.startswith("The agent returned 1 row, but the ground truth has 2 rows")


def test_a_value_that_differs_is_shown_in_its_rows(data: DataStage) -> None:
    _, found = answering(data, table(("north", 10), ("south", 21))).record()
    assert found.differing == ((("south", 20), ("south", 21)),)


def test_an_agent_that_ran_no_query_is_to_review(data: DataStage) -> None:
    record, found = answering(data, GOLD, "North sells most.").record()
    assert record.outcome is Outcome.REVIEW
    assert found.reason is Reason.NO_QUERY
    assert found.agent_sql is None
    assert [turn.message for turn in record.turns] == ["North sells most."]
    assert data.database.asked == [[TRUTH]]


def test_both_queries_run_on_one_state_after_the_truth_was_tried(data: DataStage) -> None:
    answering(data, GOLD).record()
    assert data.database.asked == [[TRUTH], [TRUTH, ANSWER]]


def test_a_broken_truth_is_found_before_the_agent_is_asked(data: DataStage) -> None:
    data.database.results[TRUTH] = QueryError("no such column: totl")
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert found.reason is Reason.TRUTH_FAILED
    assert record.failure is not None
    assert record.failure.phase is Phase.TRUTH
    assert record.failure.said == "Ground truth query failed: The ground truth does not run: no such column: totl"
    assert data.stage.harnesses["terse"].sessions == 0


def test_a_truth_that_is_not_found_is_an_error_without_the_agent(data: DataStage) -> None:
    data.questions = [question(sql=None, certified_query="arr")]
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert found.reason is Reason.TRUTH_NOT_FOUND
    assert found.analysis == "There is no certified query 'arr' in the space 'auto'."
    assert data.stage.harnesses["terse"].sessions == 0
    assert data.database.opened == 0


def test_the_truth_decides_when_both_queries_fail(data: DataStage) -> None:
    answering(data, QueryError("gone"))

    async def only_once() -> ResultTable:
        data.database.results[TRUTH] = QueryError("the server closed the connection")
        return GOLD

    data.database.results[TRUTH] = only_once
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert found.reason is Reason.TRUTH_FAILED
    assert "the server closed the connection" in found.analysis


def test_a_failed_turn_is_an_error_of_the_agent(data: DataStage) -> None:
    data.stage.harnesses["terse"].answer = says("", status="failed", error="context overflow\nmore\n  ValueError: 7\n")
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase is Phase.AGENT
    assert found.analysis == "The agent's turn failed: context overflow … ValueError: 7"


def test_the_agents_timeout_is_an_error_here(data: DataStage) -> None:
    async def sleeps(prompt: str, room: Room) -> Turn:
        await anyio.sleep(60)
        raise AssertionError("unreachable")

    data.stage.harnesses["terse"].answer = sleeps
    data.stage.timeout = 0.1
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert found.reason is Reason.AGENT_ERROR
    assert record.failure is not None
    assert record.failure.phase is Phase.AGENT
    assert "the limit of 0.1 s passed" in record.failure.analysis


def test_time_in_the_database_is_not_the_agents(data: DataStage) -> None:
    async def slowly() -> ResultTable:
        await anyio.sleep(0.3)
        return GOLD

    data.stage.timeout = 0.2
    answering(data, GOLD)
    data.database.results[TRUTH] = slowly
    data.database.results[ANSWER] = slowly
    record, _ = data.record()
    assert record.outcome is Outcome.PASS
    assert record.duration < 0.2


def test_an_agent_that_does_not_start_is_an_error_of_its_phase(data: DataStage) -> None:
    async def trouble(number: int, room: Room) -> None:
        raise InfrastructureError(Phase.HARNESS, "no program")

    data.stage.harnesses["terse"].trouble = trouble
    record, found = data.record()
    assert record.outcome is Outcome.ERROR
    assert record.failure is not None
    assert (record.failure.phase, record.failure.reason) == (Phase.HARNESS, "no program")
    assert found.reason is Reason.AGENT_ERROR


def test_the_database_opens_once_a_run_and_closes(data: DataStage) -> None:
    answering(data, GOLD)
    data.questions = [question(f"q{number}") for number in range(20)]
    data.runs = 2
    records = data.run()
    assert [record.outcome for record in records] == [Outcome.PASS] * 40
    assert (data.database.opened, data.database.closed) == (1, 1)
    assert data.database.most_at_once <= AT_ONCE


def test_a_truth_is_tried_once_a_run(data: DataStage) -> None:
    answering(data, GOLD)
    data.runs = 5
    data.run()
    assert data.database.asked.count([TRUTH]) == 1
    assert data.database.asked.count([TRUTH, ANSWER]) == 5


def test_a_database_that_does_not_open_is_the_truths_error_in_every_question(data: DataStage) -> None:
    data.questions = [question("a"), question("b")]
    data.database.trouble = QueryError("shop.duckdb is not a database")
    records = data.run()
    assert [record.outcome for record in records] == [Outcome.ERROR] * 2
    assert records[0].failure is not None
    assert "the database cannot be opened: shop.duckdb is not a database" in records[0].failure.analysis
    assert data.database.opened == 1


def test_an_interrupted_run_ends_queries_in_the_database(data: DataStage) -> None:
    async def for_ever() -> ResultTable:
        await anyio.sleep(600)
        return GOLD

    answering(data, GOLD)
    data.stage.changes["max_failures"] = 1
    data.questions = [question("slow", sql="SELECT slow"), question("broken", sql="SELECT broken")]
    data.database.results["SELECT slow"] = for_ever
    began = time.monotonic()
    data.run()
    assert time.monotonic() - began < 30
    assert data.database.cancelled == 1
    assert data.database.closed == 1


def test_the_prompt_is_the_question(data: DataStage) -> None:
    record, _ = answering(data, GOLD).record()
    assert [turn.prompt for turn in record.turns] == ["What is the revenue by region?"]


def test_an_agent_that_cannot_look_is_told_the_tables(data: DataStage) -> None:
    data.needs_schema = True
    data.runs = 2
    answering(data, GOLD)
    records = data.run()
    prompts = [turn.prompt for record in records for turn in record.turns]
    assert prompts == ["What is the revenue by region?\n\nThe database:\n\nCREATE TABLE sales (region VARCHAR)"] * 2
    assert data.database.asked.count(["describe"]) == 1


def test_each_agent_is_asked(data: DataStage) -> None:
    data.stage.harnesses["second"] = ScriptedHarness(answer=says("no idea"))
    answering(data, GOLD)
    outcomes = {record.harness: record.outcome for record in data.run()}
    assert outcomes == {"terse": Outcome.PASS, "second": Outcome.REVIEW}


def test_exact_numbers_are_not_rounded(data: DataStage) -> None:
    data.database.results[TRUTH] = table(("a", 100_234))
    data.questions = [question("rounded"), question("exact", exact=True)]
    answering(data, table(("a", 100_199)))
    assert [record.outcome for record in data.run()] == [Outcome.PASS, Outcome.FAIL]


def test_long_queries_and_results_are_bounded_in_the_record(data: DataStage) -> None:
    long = f"SELECT answer -- {'x' * 200_000}"
    data.stage.harnesses["terse"].answer = says(block(long))
    data.database.results[TRUTH] = table(*((f"{'y' * 5000}{number}", number) for number in range(500)))
    data.database.results[long] = GOLD
    _, found = data.record()
    assert found.agent_sql is not None
    assert len(found.agent_sql) < 40_000
    assert found.truth is not None
    assert found.truth.row_count == 500
    assert sum(len(str(cell)) for row in found.truth.rows for cell in row) < 10_000


def test_a_doubt_about_the_truth_stands_beside_a_fail_and_is_looked_into_once(data: DataStage) -> None:
    data.database.results[TRUTH] = table(("north", 10), ("north", 10))
    data.runs = 3
    for record in answering(data, table(("north", 11), ("north", 11))).run():
        assert isinstance(record.data, list)
        assert record.outcome is Outcome.FAIL
        assert any("row" in warning for warning in record.data[0].warnings)
    audits = [asked for asked in data.database.asked if len(asked) > 1 and ANSWER not in asked]
    assert len(audits) == 1


def test_a_pass_asks_the_database_nothing_more(data: DataStage) -> None:
    answering(data, GOLD).record()
    assert len(data.database.asked) == 2


def failing_once(data: DataStage, sql: str) -> None:
    """Close the connection under the first run of a query."""
    found = data.database.results[sql]

    async def closed() -> ResultTable:
        data.database.results[sql] = found
        raise QueryError("the server closed the connection", lost=True)

    data.database.results[sql] = closed


@pytest.mark.parametrize("sql", [TRUTH, ANSWER])
def test_a_connection_that_the_server_closed_blames_nobody(data: DataStage, sql: str) -> None:
    answering(data, GOLD)
    failing_once(data, sql)
    record, _ = data.record()
    assert record.outcome is Outcome.PASS


def test_a_query_that_closes_the_connection_each_time_is_at_fault(data: DataStage) -> None:
    record, found = answering(data, QueryError("the server closed the connection", lost=True)).record()
    assert record.outcome is Outcome.FAIL
    assert found.reason is Reason.QUERY_ERROR
    assert data.database.asked.count([TRUTH, ANSWER]) == 2


def test_one_attempt_of_a_plan_read_back_opens_a_database_of_its_own(data: DataStage) -> None:
    answering(data, GOLD)
    plan = decode_plan(encode_plan(data.plan()))

    async def execute() -> Outcome:
        executor = LocalExecutor(data.tools())
        key = f"{plan.evals[0].id}@terse/-/plain#1"
        return (await executor.execute(plan, key, data.stage.recorder)).outcome

    assert anyio.run(execute) is Outcome.PASS
    assert (data.database.opened, data.database.closed) == (1, 1)


def test_many_ground_truths_are_audited_a_few_at_a_time(data: DataStage) -> None:
    most = 0

    async def looks() -> ResultTable:
        nonlocal most
        most = max(most, len(asyncio.all_tasks()))
        return GOLD

    data.database.results[TRUTH] = looks
    data.questions = [question(f"q{number}") for number in range(300)]
    assert suspicions(data.plan(), data.tools().catalog) == []
    assert data.database.asked.count([TRUTH, TRUTH]) == 300
    assert most <= 2 * AT_ONCE + 5

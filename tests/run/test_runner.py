from __future__ import annotations

import time

import anyio

from reeval.errors import RecordError
from reeval.protocols import Room
from reeval.run.runner import run_plan
from reeval.schema.record import Outcome, RunState
from reeval.schema.transcript import Turn
from tests.run.kit import MemoryRecorder, ScriptedHarness, Stage, done

PASSES = """
@evaluate("passes")
async def passes(c):
    turn = await c.send("Do it.")
    c.check(turn.message, equals("Done."))
"""
FAILS_ON_RUN_3 = """
import anyio
@evaluate("fails on its third run")
async def fails(c):
    c.check(c.run, not_(equals(3)))
    await anyio.sleep(0.01 * c.run)
"""


async def slow(prompt: str, room: Room) -> Turn:
    await anyio.sleep(0.1)
    return await done(prompt, room)


def test_every_attempt_is_recorded_before_it_is_reported(stage: Stage) -> None:
    stage.runs = 20
    stage.max_concurrent = 3
    seen = []

    class Reporter(type(stage.reporter)):  # type: ignore[misc]
        def attempt_finished(self, attempt, record):
            seen.append(record in stage.recorder.records)
            super().attempt_finished(attempt, record)

    stage.reporter = Reporter()
    outcome = stage.run(PASSES)
    assert outcome.state == RunState.COMPLETED
    assert seen == [True] * 20
    assert [record.run for record in stage.recorder.records] == list(range(1, 21))
    assert stage.reporter.started == stage.reporter.finished


def test_a_slow_harness_with_limit_1_does_not_slow_a_fast_one(stage: Stage) -> None:
    stage.harnesses = {"slow": ScriptedHarness(answer=slow), "fast": ScriptedHarness()}
    stage.limits = {"slow": 1}
    stage.max_concurrent = 2
    stage.runs = 5
    stage.run(PASSES)
    finished = [record.harness for record in stage.recorder.records]
    assert finished[:5].count("fast") >= 4
    assert finished.count("slow") == 5


def test_at_most_so_many_attempts_run_at_once(stage: Stage) -> None:
    running = most = 0

    async def counted(prompt: str, room: Room) -> Turn:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.01)
        running -= 1
        return await done(prompt, room)

    stage.harnesses["terse"].answer = counted
    stage.runs = 12
    stage.max_concurrent = 4
    stage.run(PASSES)
    assert most == 4


def test_debug_runs_one_attempt_at_a_time_without_a_timeout(stage: Stage) -> None:
    stage.harnesses["terse"].answer = slow
    stage.runs = 2
    stage.timeout = 0.05
    stage.changes = {"debug": True}
    began = time.monotonic()
    stage.run(PASSES)
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 2
    assert time.monotonic() - began >= 0.2


def test_a_resumed_run_leaves_out_what_is_done(stage: Stage) -> None:
    stage.runs = 3
    stage.changes = {"done": frozenset({"evals/it.eval.py::passes@terse/-/plain#2"})}
    stage.run(PASSES)
    assert [record.run for record in stage.recorder.records] == [1, 3]


def test_a_run_stops_after_so_many_failures(stage: Stage) -> None:
    stage.runs = 10
    stage.max_concurrent = 1
    stage.changes = {"max_failures": 1}
    outcome = stage.run(FAILS_ON_RUN_3)
    assert [record.run for record in stage.recorder.records] == [1, 2, 3]
    assert outcome.state == RunState.COMPLETED
    assert outcome.notes == ("stopped after 1 attempt that did not pass",)
    assert [record.run for record in outcome.failures] == [3]


def test_failures_kept_for_the_report_are_bounded(stage: Stage) -> None:
    stage.runs = 60
    outcome = stage.run(PASSES.replace("Done.", "Other."))
    assert len(stage.recorder.records) == 60
    assert len(outcome.failures) == 50


def test_a_record_that_cannot_be_written_ends_the_run_cleanly(stage: Stage) -> None:
    stage.recorder = MemoryRecorder(fail_after=2, error=RecordError("no space left on .reeval; free some"))
    stage.harnesses["terse"].answer = slow
    stage.runs = 10
    stage.max_concurrent = 2
    outcome = stage.run(PASSES)
    assert outcome.state == RunState.FAILED
    assert outcome.notes == ("no space left on .reeval; free some",)
    assert len(stage.recorder.records) == 2
    assert stage.harnesses["terse"].sessions == stage.harnesses["terse"].closed


def test_an_eval_that_changed_since_it_was_planned_is_refused(stage: Stage) -> None:
    stage.write(PASSES)
    plan = stage.plan()
    stage.write(PASSES.replace("Done.", "Something else."))
    outcome = anyio.run(run_plan, plan, stage.tools())
    assert outcome.state == RunState.FAILED
    assert outcome.notes == ("evals/it.eval.py:3: 'passes' has changed since the run was planned; run again",)
    assert stage.recorder.records == []


def test_a_plain_body_and_an_async_one_run_side_by_side(stage: Stage) -> None:
    stage.runs = 5
    stage.run("""
@evaluate("sync")
def sync(c):
    c.check(c.send("Do it.").message, equals("Done."))
@evaluate("not sync")
async def not_sync(c):
    c.check((await c.send("Do it.")).message, equals("Done."))
""")
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 10


def test_a_body_that_swallows_every_cancellation_is_given_up(stage: Stage) -> None:
    stage.timeout = 0.2
    began = time.monotonic()
    record = stage.record("""
import anyio
@evaluate("clings")
async def clings(c):
    while True:
        try:
            await c.exec("sleep 1")
        except BaseException:
            pass
""")
    assert record.outcome == Outcome.ERROR
    assert "the body swallowed its cancellation and was given up" in record.diagnostics
    assert time.monotonic() - began < 15


def test_a_body_may_clean_up_after_its_timeout_and_registers_nothing_more(stage: Stage) -> None:
    stage.timeout = 0.2
    marker = stage.root / "cleaned"
    record = stage.record(f"""
import anyio, pathlib
@evaluate("cleans up")
async def cleans(c):
    try:
        await anyio.sleep(30)
    finally:
        await anyio.sleep(0.1)
        pathlib.Path({str(marker)!r}).touch()
        c.check(1, equals(2))
""")
    assert marker.exists()
    assert record.checks == []
    assert record.failure is not None
    assert record.failure.reason.startswith("the attempt's timeout of 0.2 s passed")


def test_a_body_that_blocks_the_loop_is_named_by_the_watchdog(stage: Stage) -> None:
    record = stage.record("""
import time
@evaluate("blocks")
async def blocks(c):
    time.sleep(1.6)
    c.check(1, equals(1))
""")
    assert record.outcome == Outcome.PASS
    (warning,) = stage.reporter.warnings
    assert warning.startswith("evals/it.eval.py:6: the body of evals/it.eval.py::blocks@terse/-/plain#1 blocks")
    assert record.diagnostics == [warning]


def test_a_plain_body_may_block_as_long_as_it_likes(stage: Stage) -> None:
    stage.run("""
import time
@evaluate("blocks")
def blocks(c):
    time.sleep(1.6)
    c.check(1, equals(1))
""")
    assert stage.reporter.warnings == []

from __future__ import annotations

from typing import Any

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Room
from reeval.schema.record import Outcome
from reeval.schema.transcript import Turn
from reeval.usage import Usage
from tests.run.kit import ScriptedHarness, Stage, done


async def writes(prompt: str, room: Room) -> Turn:
    """Write a file named like the prompt."""
    sandbox = await room.sandbox()
    await sandbox.write(prompt, b"from the agent")
    return Turn(prompt=prompt, message="Done.", usage=Usage(input=10, output=2), model="m-1")


async def never_ends(prompt: str, room: Room) -> Turn:
    await (await room.sandbox()).write("begun.txt", b"")
    await anyio.sleep(1000)
    raise AssertionError("not reached")


def test_what_the_agent_changes_is_told_from_what_the_eval_writes(stage: Stage) -> None:
    stage.harnesses["terse"].answer = writes
    record = stage.record("""
@evaluate("writes")
async def writes(c):
    await c.write_file("mine.txt", "by the eval")
    turn = await c.send("a.txt")
    await c.exec("echo more > mine-too.txt")
    await c.send("b.txt")
    c.check([one.path for one in turn.changes.files], equals(["a.txt"]))
    c.changed_paths(["a.txt", "b.txt"])
    c.file_changed("b.txt", status="added")
    c.no_changes().label("nothing").optional()
""")
    assert record.outcome == Outcome.PASS
    assert [check.holds for check in record.checks] == [True, True, True, None]
    assert record.diff == "added a.txt\nadded b.txt\n"
    assert record.usage[0].usage == Usage(input=20, output=4)
    assert record.model == "m-1"


def test_a_sandbox_that_starts_in_the_first_turn_is_looked_at_before_the_agent_writes(stage: Stage) -> None:
    stage.harnesses["terse"].answer = writes
    record = stage.record("""
@evaluate("writes")
async def writes(c):
    await c.send("a.txt")
    c.changed_paths(["a.txt"])
""")
    assert record.outcome == Outcome.PASS
    assert record.start_duration is not None


def test_an_empty_workspace_is_a_beginning_too(stage: Stage) -> None:
    stage.harnesses["terse"].answer = writes
    record = stage.record("""
@evaluate("writes")
async def writes(c):
    await c.exec("true")
    await c.send("a.txt")
    c.changed_paths(["a.txt"])
""")
    assert record.outcome == Outcome.PASS


def test_usage_that_one_turn_does_not_report_is_unknown(stage: Stage) -> None:
    turns = iter([Turn(prompt="", usage=Usage(input=1, output=1)), Turn(prompt="")])

    async def answer(prompt: str, room: Room) -> Turn:
        return next(turns)

    stage.harnesses["terse"].answer = answer
    record = stage.record("""
@evaluate("asks twice")
async def asks(c):
    await c.send("one")
    await c.send("two")
""")
    assert record.usage[0].usage == Usage()


def test_the_session_and_the_sandbox_are_closed(stage: Stage) -> None:
    stage.harnesses["terse"].answer = writes
    stage.record("""
import anyio
@evaluate("in a scope of its own")
async def scoped(c):
    with anyio.fail_after(5):
        await c.send("a.txt")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(c.exec, "true")
    await c.send("b.txt")
    c.check(len(c.turns), equals(2))
""")
    assert (stage.harnesses["terse"].sessions, stage.harnesses["terse"].closed) == (1, 1)
    assert (stage.sandbox.opened, stage.sandbox.closed) == (1, 1)


def test_two_sends_at_once_are_refused(stage: Stage) -> None:
    async def slow(prompt: str, room: Room) -> Turn:
        await anyio.sleep(0.1)
        return await done(prompt, room)

    stage.harnesses["terse"].answer = slow
    record = stage.record("""
import asyncio
@evaluate("sends twice")
async def twice(c):
    await asyncio.gather(c.send("one"), c.send("two"))
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert "another send was running" in record.failure.reason


def test_writing_while_the_agent_acts_is_refused(stage: Stage) -> None:
    stage.harnesses["terse"].answer = never_ends
    record = stage.record("""
import asyncio
@evaluate("meddles")
async def meddles(c):
    turn = asyncio.create_task(c.send("a.txt"))
    await asyncio.sleep(0.1)
    await c.write_file("b.txt", "")
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert "would be taken for its change" in record.failure.reason


def test_a_timeout_in_the_agents_turn_is_a_fail_that_keeps_the_turn(stage: Stage) -> None:
    stage.harnesses["terse"].answer = never_ends
    stage.timeout = 0.3
    record = stage.record("""
@evaluate("waits")
async def waits(c):
    c.file_changed("begun.txt")
    await c.send("Take your time.")
""")
    assert record.outcome == Outcome.FAIL
    assert record.failure is not None
    assert (record.failure.reason, record.failure.phase) == ("timeout", None)
    (turn,) = record.turns
    assert (turn.prompt, turn.status, turn.error) == ("Take your time.", "failed", "timeout")
    assert record.diff == "added begun.txt\n"
    assert record.checks[0].holds is True


@pytest.mark.parametrize(
    ("line", "phase", "said"),
    [
        ("await c.exec('sleep 30')", Phase.CHECK, "passed in c.exec on line 7"),
        ("await anyio.sleep(30)", Phase.BODY, "passed in code of the body itself"),
    ],
)
def test_a_timeout_anywhere_else_is_an_error(stage: Stage, line: str, phase: Phase, said: str) -> None:
    stage.timeout = 0.3
    record = stage.record(f"""
import anyio
@evaluate("waits")
async def waits(c):
    await c.send("Do it.")
    {line}
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == phase
    assert said in record.failure.reason
    assert 0.3 <= record.duration < 5


def test_starting_a_sandbox_or_a_session_does_not_use_the_attempts_time(stage: Stage) -> None:
    async def slow_sandbox(_: int) -> None:
        await anyio.sleep(0.4)

    async def slow_session(_: int, room: Room) -> None:
        await room.sandbox()
        await anyio.sleep(0.4)

    stage.sandbox.trouble = slow_sandbox
    stage.harnesses["terse"].trouble = slow_session
    stage.timeout = 0.3
    record = stage.record("""
@evaluate("waits")
async def waits(c):
    turn = await c.send("Do it.")
    c.check(turn.message, equals("Done."))
""")
    assert record.outcome == Outcome.PASS
    assert record.duration < 0.3
    assert record.start_duration is not None
    assert record.start_duration >= 0.4


def test_a_session_that_waits_for_the_sandbox_is_not_late_itself(stage: Stage) -> None:
    async def slow_sandbox(_: int) -> None:
        await anyio.sleep(0.3)

    async def session(_: int, room: Room) -> None:
        await room.sandbox()
        await anyio.sleep(0.3)

    stage.sandbox.trouble = slow_sandbox
    stage.harnesses["terse"].trouble = session
    stage.start_timeout = 0.5
    record = stage.record("""
@evaluate("waits")
async def waits(c):
    turn = await c.send("Do it.")
    c.check(turn.message, equals("Done."))
""")
    assert (record.outcome, record.tries) == (Outcome.PASS, 1)


async def hangs(*_: Any) -> None:
    await anyio.sleep(1000)


async def hangs_once(number: int, *_: Any) -> None:
    if number == 1:
        await anyio.sleep(1000)


async def refuses(*_: Any) -> None:
    raise InfrastructureError(Phase.HARNESS, "no such program")


async def breaks(*_: Any) -> None:
    raise OSError("no space")


ASKS = """
@evaluate("asks")
async def asks(c):
    try:
        turn = await c.send("Do it.")
        await c.exec("true")
    except Exception:
        pass
    c.check(1, equals(1))
"""


@pytest.mark.parametrize("where", ["session", "sandbox"])
def test_what_does_not_start_in_time_is_tried_once_more(stage: Stage, where: str) -> None:
    stage.start_timeout = 0.2
    (stage.sandbox if where == "sandbox" else stage.harnesses["terse"]).trouble = hangs_once
    record = stage.record(ASKS)
    assert (record.outcome, record.tries) == (Outcome.PASS, 2)


@pytest.mark.parametrize(("where", "phase"), [("session", Phase.HARNESS), ("sandbox", Phase.SANDBOX)])
def test_what_never_starts_is_an_error_even_when_the_body_catches_it(stage: Stage, where: str, phase: Phase) -> None:
    stage.start_timeout = 0.2
    (stage.sandbox if where == "sandbox" else stage.harnesses["terse"]).trouble = hangs
    record = stage.record(ASKS)
    assert (record.outcome, record.tries) == (Outcome.ERROR, 2)
    assert record.failure is not None
    assert record.failure.phase == phase
    assert "did not start within 0.2 s" in record.failure.reason


def test_an_error_that_is_not_retryable_is_not_tried_again(stage: Stage) -> None:
    stage.harnesses["terse"].trouble = refuses
    record = stage.record(ASKS)
    assert (record.outcome, record.tries) == (Outcome.ERROR, 1)
    assert record.failure is not None
    assert (record.failure.phase, record.failure.reason) == (Phase.HARNESS, "no such program")


def test_a_defect_of_an_adapter_is_an_infrastructure_error(stage: Stage) -> None:
    stage.sandbox.trouble = breaks
    record = stage.record(ASKS)
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.SANDBOX
    assert "OSError: no space" in record.failure.reason
    assert "in breaks" in record.failure.detail


def test_a_turn_that_never_reached_the_agent_is_an_error_even_when_caught(stage: Stage) -> None:
    async def unreachable(prompt: str, room: Room) -> Turn:
        raise InfrastructureError(Phase.MODEL, "rate limit", detail="429")

    stage.harnesses["terse"] = ScriptedHarness(answer=unreachable)
    record = stage.record(ASKS)
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert (record.failure.phase, record.failure.detail) == (Phase.MODEL, "429")
    assert [(turn.status, turn.error) for turn in record.turns] == [("failed", "rate limit")]


def test_a_defect_in_a_turn_is_an_infrastructure_error(stage: Stage) -> None:
    async def broken(prompt: str, room: Room) -> Turn:
        raise KeyError("session_id")

    stage.harnesses["terse"] = ScriptedHarness(answer=broken)
    record = stage.record(ASKS)
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.HARNESS
    assert "KeyError: 'session_id'" in record.failure.reason


def test_clean_up_that_fails_is_a_diagnostic(stage: Stage) -> None:
    stage.sandbox.close_error = OSError("directory not empty")
    record = stage.record("""
@evaluate("runs")
async def runs(c):
    c.check(await c.exec("true"), command_succeeded())
""")
    assert record.outcome == Outcome.PASS
    assert record.diagnostics == ["clean-up: OSError: directory not empty"]

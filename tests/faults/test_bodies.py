"""Whatever a body does, its attempt ends as the right thing, and every other attempt as if it were alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults.shell import Done, Shell

CONFIG = """
max_concurrent = 200
[harness.terse]
kind = "fake"
"""
BODIES = '''
import asyncio, math, os, sys
import anyio
from reeval import *

class Raises:
    """An object whose comparison raises."""
    def __eq__(self, other):
        raise RuntimeError("no comparison")
    __hash__ = None

@evaluate("passes")
async def _(c):
    c.check(1, equals(1))

@evaluate("raises")
async def _(c):
    c.check(1, equals(1))
    raise LookupError("no such greeting")

@evaluate("exits")
async def _(c):
    sys.exit(0)

@evaluate("never awaits a call")
async def _(c):
    c.check(1, equals(1))
    c.send("Go.")

@evaluate("leaves a task")
async def _(c):
    c.check(1, equals(1))
    asyncio.ensure_future(asyncio.sleep(1000))

@evaluate("swallows the stop")
async def _(c):
    try:
        await c.check(1, equals(2)).or_stop()
    except BaseException:
        pass

@evaluate("registers after a swallowed stop")
async def _(c):
    try:
        await c.check(1, equals(2)).or_stop()
    except BaseException:
        pass
    c.check(1, equals(1))

@evaluate("stops inside a task group")
async def _(c):
    async def one():
        await c.check(1, equals(2)).label("is two").or_stop()
    async def other():
        await anyio.sleep(1000)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        tasks.start_soon(other)

@evaluate("asserts in a task group")
async def _(c):
    async def one(n):
        assert n == 1
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(one(1))
        tasks.create_task(one(2))

@evaluate("reads a file that the agent did not write")
async def _(c):
    c.check(await c.read_text("out.json"), is_defined())

@evaluate("reads a file that is not text")
async def _(c):
    await c.write_file("out.bin", bytes(range(256)))
    await c.read_text("out.bin")

@evaluate("checks nothing")
async def _(c):
    await c.send("Go.")

@evaluate("checks only what is optional")
async def _(c):
    c.check(1, equals(2)).optional()

@evaluate("has a match that raises")
async def _(c):
    c.check(3, satisfies("is odd", lambda value: 1 / 0))

@evaluate("has a value that raises")
async def _(c):
    c.check(Raises(), equals(1))

@evaluate("has a match of the wrong type")
async def _(c):
    c.check(3, satisfies("is odd", lambda value: "yes"))

@evaluate("has a measurement that is not a number")
async def _(c):
    c.check("a", measures("closeness", lambda value: math.nan)).gate(0.5)

@evaluate("gates out of range")
async def _(c):
    c.check("a", similarity("a")).gate(1.5)

@evaluate("gates twice")
async def _(c):
    c.check("a", similarity("a")).gate(0.5).gate(0.6)

@evaluate("tests the truth of a check")
async def _(c):
    if c.check(1, equals(1)):
        pass

@evaluate("has 5,000 checks")
async def _(c):
    for number in range(5000):
        c.check(number, less_than(4999)).label(f"check {number}")

@evaluate("skips after a failure")
async def _(c):
    c.check(1, equals(2))
    c.skip("not today")

@evaluate("skips")
async def _(c):
    c.skip("not today")

@evaluate("sends twice at once")
async def _(c):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(c.send, "One.")
        tasks.start_soon(c.send, "Two.")

@evaluate("goes deeper and deeper")
async def _(c):
    def deeper(n):
        return deeper(n + 1)
    deeper(0)

@evaluate("waits in its own code", timeout=0.5)
async def _(c):
    await anyio.sleep(1000)

@evaluate("never gives up", timeout=0.3)
async def _(c):
    while True:
        try:
            await anyio.sleep(1000)
        except BaseException:
            pass
'''
FAIL, ERROR, PASS, REVIEW, SKIPPED = "fail", "error", "pass", "review", "skipped"
TABLE: list[tuple[str, str, str | None, str]] = [
    ("passes", PASS, None, ""),
    ("raises", ERROR, "body", "LookupError: no such greeting"),
    ("exits", ERROR, "body", "SystemExit"),
    ("never awaits a call", ERROR, "body", "c.send on line 28 was never awaited, so it never ran"),
    ("leaves a task", ERROR, "body", "a task of its own was running: sleep"),
    ("swallows the stop", FAIL, None, ""),
    ("registers after a swallowed stop", ERROR, "body", "is registered after the body was stopped"),
    ("stops inside a task group", FAIL, None, ""),
    ("asserts in a task group", FAIL, None, ""),
    ("reads a file that the agent did not write", FAIL, None, ""),
    ("reads a file that is not text", FAIL, None, ""),
    ("checks nothing", REVIEW, None, ""),
    ("checks only what is optional", REVIEW, None, ""),
    ("has a match that raises", ERROR, "check", "ZeroDivisionError"),
    ("has a value that raises", ERROR, "check", "no comparison"),
    ("has a match of the wrong type", ERROR, "check", "'yes'"),
    ("has a measurement that is not a number", ERROR, "check", "nan"),
    ("gates out of range", ERROR, "body", "a minimum is from 0 to 1, got 1.5"),
    ("gates twice", ERROR, "body", "it is set already; say it once"),
    ("tests the truth of a check", ERROR, "body", "a check has no truth value"),
    ("has 5,000 checks", FAIL, None, ""),
    ("skips after a failure", FAIL, None, ""),
    ("skips", SKIPPED, None, ""),
    ("sends twice at once", ERROR, "body", "c.send was called while another send was running"),
    ("goes deeper and deeper", ERROR, "body", "RecursionError"),
    ("waits in its own code", ERROR, "body", "timeout of 0.5 s"),
    ("never gives up", ERROR, "body", "timeout of 0.3 s"),
]


@pytest.fixture(scope="module")
def done(shared: Shell) -> Done:
    return shared.set_up(CONFIG, bodies=BODIES).run("run")


@pytest.mark.parametrize(("name", "outcome", "phase", "reason"), TABLE, ids=[row[0] for row in TABLE])
def test_a_body_ends_as_what_it_did(
    shared: Shell, done: Done, name: str, outcome: str, phase: str | None, reason: str
) -> None:
    attempt = shared.attempt(name)
    failure: dict[str, Any] = attempt.get("failure", {})
    assert (attempt["outcome"], failure.get("phase")) == (outcome, phase), failure
    assert reason in failure.get("reason", "")


def test_every_body_is_in_the_table_and_ran_once(shared: Shell, done: Done) -> None:
    names = sorted(one["eval"].rpartition("::")[2] for one in shared.attempts())
    assert names == sorted(row[0] for row in TABLE)


def test_a_run_of_broken_bodies_says_so_and_ends(shared: Shell, done: Done) -> None:
    """Some fail, so a gate does not hold: exit 1 comes before the 3 of errors."""
    assert (done.exit_code, done.stderr) == (1, "")
    assert shared.record()["state"] == "completed"
    assert "has 5,000 checks  " in done.stdout
    assert "Traceback" in done.stdout
    assert 'File "' + str(shared.root) in done.stdout


def test_five_thousand_checks_can_be_shown_and_asked_for(shared: Shell, done: Done) -> None:
    (row,) = shared.rows("SELECT count(*) AS n, sum(holds::INT) AS held FROM checks WHERE eval LIKE '%5,000 checks'")
    assert (row["n"], int(row["held"])) == (5000, 4999)
    shown = shared.run("show", "has 5,000 checks@")
    assert shown.exit_code == 0
    assert "check 4999" in shown.stdout
    assert "  … 4,900 more checks" in shown.stdout.splitlines()


def test_a_body_that_never_gives_up_says_so(shared: Shell, done: Done) -> None:
    assert shared.attempt("never gives up")["diagnostics"] == ["the body swallowed its cancellation and was given up"]

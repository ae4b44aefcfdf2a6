"""Whatever a command does, its attempt ends, in bounded memory, and nothing of it is left."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from tests.faults.shell import Done, Shell, wait_for

CONFIG = """
[sandbox.local]
isolation = "{isolation}"
[harness.terse]
kind = "fake"
[harness.loud]
kind = "command"
command = ["python3", "-c", "import sys; [sys.stdout.write('x' * 1048576) for _ in range(64)]"]
[harness.garbled]
kind = "command"
command = ["python3", "-c", "import os; os.write(1, b'caf\\\\xe9 \\\\xff\\\\xfe done')"]
[harness.endless]
kind = "command"
command = "echo begun; sleep MARK"
[harness.closing]
kind = "command"
command = ["python3", "-c", "import os, time; os.write(1, b'early'); os.close(1); time.sleep(0.3)"]
[harness.forking]
kind = "command"
command = "setsid sh -c 'while :; do echo tick >> ~/ticks; sleep 0.05; : MARK; done' >/dev/null 2>&1 & echo started"
[harness.mute]
kind = "command"
command = "cat > /dev/null"
[harness.deaf]
kind = "command"
command = "exec 0<&-; echo I heard nothing"
"""
EVALS = r"""
import os, time
from reeval import *

MARK = os.environ["MARK"]

@evaluate("prints 1 GB", harness="terse", timeout=100)
async def _(c):
    got = await c.exec("echo first; head -c 1073741824 /dev/zero | tr '\\0' 'x'; echo; echo last")
    c.check(got.exit_code, equals(0))
    c.check(got.truncated, is_true())
    c.check(len(got.stdout), less_than(3_000_000))
    c.check(got.stdout.startswith("first\n"), is_true())
    c.check(got.stdout.endswith("last\n"), is_true())

@evaluate("prints invalid UTF-8", harness="terse")
async def _(c):
    got = await c.exec("printf 'caf\\351 \\377 end'")
    c.check(got.stdout, equals("caf\ufffd \ufffd end"))

@evaluate("never ends", harness="terse", timeout=1)
async def _(c):
    await c.exec(f"sleep {MARK}")

@evaluate("forks and leaves its session", harness="terse")
async def _(c):
    began = time.monotonic()
    await c.exec(["setsid", "--fork", "sh", "-c", f"echo $$ > pid; exec sleep {MARK}"])
    c.check(time.monotonic() - began, less_than(20))
    for _ in range(200):
        if await c.exists("pid"):
            break
    c.check(await c.exec("kill -0 $(cat pid)"), command_succeeded()).label("runs on")

@evaluate("closes its output early", harness="terse")
async def _(c):
    got = await c.exec("echo early; exec >&- 2>&-; sleep 0.3; exit 3")
    c.check((got.exit_code, got.stdout), equals((3, "early\n")))

@evaluate("hears an agent that prints 64 MB", harness="loud")
async def _(c):
    turn = await c.send("Go.")
    c.check(turn.status, equals("completed"))
    c.check(len(turn.message), less_than(3_000_000))

@evaluate("hears invalid UTF-8", harness="garbled")
async def _(c):
    c.check((await c.send("Go.")).message, equals("caf\ufffd \ufffd\ufffd done"))

@evaluate("hears an agent that never ends", harness="endless", timeout=1)
async def _(c):
    await c.send("Go.")

@evaluate("hears an agent that closes its output early", harness="closing")
async def _(c):
    c.check((await c.send("Go.")).message, equals("early"))

@evaluate("outlives what an agent leaves running", harness="forking")
async def _(c):
    turn = await c.send("Go.")
    c.check(turn.message, equals("started"))

@evaluate("hears nothing", harness="mute")
async def _(c):
    c.check((await c.send("Go.")).message, equals(""))

@evaluate("speaks to nobody", harness="deaf")
async def _(c):
    c.check((await c.send("Go." * 1_000_000)).message, equals("I heard nothing"))
"""
MEASURED = """
import resource, subprocess, sys
from pathlib import Path
code = subprocess.call(sys.argv[2:])
Path(sys.argv[1]).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
PASSING = [
    "prints 1 GB",
    "prints invalid UTF-8",
    "forks and leaves its session",
    "closes its output early",
    "hears an agent that prints 64 MB",
    "hears invalid UTF-8",
    "hears an agent that closes its output early",
    "outlives what an agent leaves running",
    "hears nothing",
    "speaks to nobody",
]


@pytest.fixture(scope="module", params=["prefer", "none"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, Done]:
    """A run in the sandbox that this machine has, and one in a plain directory."""
    shell = Shell(tmp_path_factory.mktemp("commands"))
    shell.set_up(CONFIG.replace("{isolation}", request.param).replace("MARK", shell.mark), commands=EVALS)
    return shell, shell.run("run", prefix=(sys.executable, "-c", MEASURED, str(shell.traces)))


@pytest.mark.parametrize("name", PASSING)
def test_a_command_may_do_anything(finished: tuple[Shell, Done], name: str) -> None:
    attempt = finished[0].attempt(name)
    assert attempt["outcome"] == "pass", attempt


def test_a_command_that_never_ends_is_an_error_of_the_check(finished: tuple[Shell, Done]) -> None:
    attempt = finished[0].attempt("never ends")
    assert (attempt["outcome"], attempt["failure"]["phase"]) == ("error", "check")
    assert re.search(r"timeout of 1 s passed in c\.exec on line \d+", attempt["failure"]["reason"])


def test_an_agent_that_never_ends_fails_and_keeps_what_it_said(finished: tuple[Shell, Done]) -> None:
    attempt: dict[str, Any] = finished[0].attempt("hears an agent that never ends")
    detail = "the limit of 1 s passed while turn 1 was still running"
    assert (attempt["outcome"], attempt["failure"]) == ("fail", {"reason": "timeout", "detail": detail})
    assert attempt["turns"][0]["status"] == "failed"


def test_nothing_of_any_command_is_left(finished: tuple[Shell, Done]) -> None:
    shell, done = finished
    assert (done.exit_code, done.stderr) == (1, "")
    assert shell.no_sandbox_left()
    wait_for(lambda: shell.survivors() == [], "a process of a sandbox lives on")


def test_a_command_that_prints_1_gb_costs_bounded_memory(finished: tuple[Shell, Done]) -> None:
    (kilobytes,) = finished[0].traced()
    assert int(kilobytes) < 250_000

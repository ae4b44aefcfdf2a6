"""Ctrl-C and SIGTERM: the first one ends a run in order, the second one at once."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import pytest

from tests.faults.shell import Shell, needs, wait_for

CONFIG = """
[sandbox.local]
isolation = "{isolation}"
[harness.terse]
kind = "fake"
"""
EVAL = """
import os
from pathlib import Path
from reeval import evaluate, equals

@evaluate("waits", runs=4)
async def waits(c):
    await c.exec("true")
    with open(os.environ["TRACES"], "a") as out:
        out.write(f"{c.run}\\n")
    if c.run > 1 and not Path(os.environ["TRACES"]).with_name("gate").exists():
        await c.exec("sleep " + os.environ["MARK"])
    c.check(1, equals(1))
"""
BLOCKING = """
import os, time
from reeval import evaluate

@evaluate("blocks")
async def blocks(c):
    await c.exec(f"(trap '' TERM INT; sleep {os.environ['MARK']}) & true")
    open(os.environ["TRACES"], "a").write("begun\\n")
    time.sleep(1000)
"""


def begun(shell: Shell, count: int, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
    """Start a run, as a shell does in a process group of its own, and wait until its bodies are at work."""
    process = shell.start("run", *arguments, process_group=0, **options)
    wait_for(lambda: len(shell.traced()) == count, "the bodies are at work", process)
    return process


@pytest.mark.parametrize("isolation", ["prefer", "none"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_cleans_up_records_and_exits_130(shell: Shell, number: signal.Signals, isolation: str) -> None:
    shell.set_up(CONFIG.replace("{isolation}", isolation), waits=EVAL)
    process = begun(shell, 4, "--junit", "out.xml")
    os.killpg(process.pid, number)  # A terminal's Ctrl-C reaches the whole group.
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b""), out
    assert b"interrupted: cleaning up and recording; press Ctrl-C again to leave at once" in out
    assert b"reeval run --resume" in out
    record = shell.record()
    assert (record["state"], record["exit_code"]) == ("interrupted", 130)
    assert shell.totals() == {"planned": 4, "passed": 1}
    assert (shell.last / "summary.md").is_file()
    assert (shell.root / "out.xml").is_file()
    assert shell.no_sandbox_left()
    assert shell.survivors() == []

    shell.traces.unlink()
    shell.traces.with_name("gate").touch()
    done = shell.run("run", "--resume")
    assert done.exit_code == 0, done
    assert sorted(shell.traced()) == ["2", "3", "4"]
    assert shell.totals() == {"planned": 4, "passed": 4}


def test_the_second_signal_leaves_at_once_and_the_rest_can_be_swept(shell: Shell) -> None:
    shell.set_up(CONFIG.replace("{isolation}", "none"), blocks=BLOCKING)
    process = begun(shell, 1)
    for _ in range(40):  # Two signals that arrive as one count as one: press again, as a person would.
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
            break
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in out + err
    assert "interrupted" in shell.run("show").stdout
    # In a plain directory nothing holds what the agent left running: the next run sweeps it, as this does by hand.
    shell.run("clean")
    assert shell.no_sandbox_left()
    wait_for(lambda: shell.survivors() == [], "a process of the sandbox lives on")


def test_json_ends_with_the_record_when_interrupted(shell: Shell) -> None:
    shell.set_up(CONFIG.replace("{isolation}", "none"), waits=EVAL)
    process = begun(shell, 4, "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert out.splitlines()[-1].startswith(b'{"event":"run_finished","record":{')


@pytest.mark.skipif(needs("bwrap") is not None, reason=str(needs("bwrap")))
def test_a_killed_run_takes_its_isolated_sandboxes_with_it(shell: Shell) -> None:
    shell.set_up(CONFIG.replace("{isolation}", "require"), waits=EVAL)
    process = begun(shell, 4)
    assert len(shell.survivors()) >= 3
    process.kill()
    process.communicate()
    wait_for(lambda: shell.survivors() == [], "a process of a sandbox lives on")

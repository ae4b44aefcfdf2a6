"""Whole runs that stop early: decided, killed and resumed, asked about."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.faults.shell import Shell, wait_for

CONFIG = """
max_concurrent = {at_once}
[sandbox.local]
isolation = "none"
[harness.terse]
kind = "fake"
[harness.chatty]
kind = "fake"
[provider.asked]
kind = "fake"
function = "model.py:answer"
"""
COMPARED = """
import os
from pathlib import Path
import anyio
from reeval import compare, environment, equals, evaluate

GATE = Path(os.environ["TRACES"]).with_name("gate")

@evaluate("helps", runs={"until_decided": 30}, harness="terse")
@compare(baseline=environment("plain"), variants=[environment("house")])
async def helps(c):
    if c.run > 2 and os.environ.get("WAIT") and not GATE.exists():
        await anyio.sleep(60)
    with open(os.environ["TRACES"], "a") as out:
        out.write(f"{c.cell.environment}#{c.run}\\n")
    c.check(c.cell.environment, equals("house"))
"""


@pytest.fixture
def project(shell: Shell) -> Shell:
    return shell.set_up(CONFIG.format(at_once=2), helps=COMPARED)


def decided_after(shell: Shell) -> int:
    (note,) = shell.record()["evals"][0]["notes"]
    assert note.startswith("decided after ")
    return int(note.split()[2])


def recorded(shell: Shell) -> int:
    journal = shell.last / "events.ndjson"
    return journal.read_text().count('{"type":"attempt"') if journal.exists() else 0


def test_a_compare_runs_until_it_is_decided_and_says_so(project: Shell) -> None:
    done = project.run("run")
    assert (done.exit_code, done.stderr) == (0, "")
    after = decided_after(project)
    assert 4 <= after <= 7
    assert f"decided after {after} of at most 30 runs a side" in done.stdout
    assert "helped" in done.stdout
    assert "not run" not in done.stdout
    assert len(project.traced()) <= 2 * (after + 1)
    (lift,) = project.record()["evals"][0]["lifts"]
    assert (lift["said"], lift["variant_decided"], lift["lift"]) == ("helped", after, 1.0)
    assert project.run("show").exit_code == 0


def test_events_say_what_will_not_start(project: Shell) -> None:
    done = project.run("run", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    left = [event for event in events if event["event"] == "attempts_left_out"]
    assert [event["eval"] for event in left] == ["evals/helps.eval.py::helps"]
    assert left[0]["count"] + len(project.traced()) == 60


def test_a_killed_run_is_decided_after_as_many_runs_as_one_that_was_not(project: Shell) -> None:
    assert project.run("run").exit_code == 0
    after = decided_after(project)
    project.traces.unlink()
    project.variables["WAIT"] = "1"
    process = project.start("run")
    wait_for(lambda: len(project.runs) == 2 and recorded(project) == 4, "two runs of both sides", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    project.traces.with_name("gate").touch()
    done = project.run("run", "--resume")
    assert (done.exit_code, done.stderr) == (0, ""), done
    assert decided_after(project) == after
    traced = project.traced()
    assert len(traced) == len(set(traced)), "nothing ran twice"
    again = project.run("run", "--resume")
    assert again.exit_code == 0
    assert project.traced() == traced, "a decided run has nothing to do"


ASKED = """
from reeval import Question, equals, evaluate, questions
@evaluate("passes", runs={"best_of": 5}, harness=["terse", "chatty"])
@questions(Question("Which is better?", across="harness", model="asked"))
async def passes(c):
    await c.send("Do it.")
    c.check(1, equals(1))
"""


def test_pairs_are_asked_about_once_nothing_more_will_run(shell: Shell) -> None:
    shell.set_up(CONFIG.format(at_once=1), asked=ASKED)
    shell.write("model.py", 'def answer(request):\n    return {"winner": "A", "reason": "It is."}\n')
    done = shell.run("run")
    assert (done.exit_code, done.stderr) == (0, "")
    assert len(shell.attempts()) == 6
    (planned,) = shell.record()["evals"]
    assert len(planned["answers"]) == 3
    assert planned["notes"] == ["4 of 10 attempts were not needed for a majority"]
    assert shell.totals() == {"planned": 6, "passed": 6}

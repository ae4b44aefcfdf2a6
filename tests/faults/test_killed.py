"""``kill -9`` in the middle of a run: no finished attempt is lost, and none runs twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.faults.shell import Shell, wait_for

EVAL = """
import os, time
from pathlib import Path
import anyio
from reeval import evaluate, equals

GATE = Path(os.environ["TRACES"]).with_name("gate")

@evaluate("counts", runs=12)
async def counts(c):
    await c.exec("sleep 0.05; echo work > work.txt")
    with open(os.environ["TRACES"], "a") as out:
        out.write(f"{c.run}\\n")
    while c.run > 4 and not GATE.exists():
        await anyio.sleep(0.02)
    c.check(1, equals(1))

@evaluate("also counts", runs=2)
async def also(c):
    with open(os.environ["TRACES"], "a") as out:
        out.write(f"also {c.run}\\n")
    c.check(1, equals(1))
"""
CONFIG = """
max_concurrent = 4
[sandbox.local]
isolation = "prefer"
[harness.terse]
kind = "fake"
"""


def killed(shell: Shell) -> list[str]:
    """Kill a run when six attempts are recorded and four more are at work; return the finished ones."""
    process = shell.start("run")
    journal = shell.root / ".reeval" / "runs"
    # Two of "also counts" and four of "counts" end, in the order of the plan; the next four wait for a gate.
    wait_for(lambda: len(finished(journal)) == 6 and len(shell.traced()) == 10, "the middle of the run", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return finished(journal)


def finished(runs: Path) -> list[str]:
    return [
        line.split('"attempt":"')[1].split('"')[0]
        for journal in runs.glob("*/events.ndjson")
        for line in journal.read_text().splitlines()
        if line.startswith('{"type":"attempt"') and line.endswith("}")
    ]


@pytest.fixture
def kill(shell: Shell) -> list[str]:
    return killed(shell.set_up(CONFIG, counts=EVAL))


def test_a_killed_run_is_read_resumed_and_complete(shell: Shell, kill: list[str]) -> None:
    assert not (shell.last / "record.json").exists()
    shown = shell.run("show")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "interrupted" in shown.stdout
    assert "reeval run --resume" in shown.stdout
    assert "interrupted" in shell.run("runs").stdout
    (row,) = shell.rows("SELECT state, (SELECT count(*) FROM attempts) AS n FROM runs")
    assert row == {"state": "interrupted", "n": len(kill)}

    shell.traces.rename(shell.traces.with_name("before"))
    shell.traces.with_name("gate").touch()
    done = shell.run("run", "--resume")
    assert (done.exit_code, done.stderr) == (0, ""), done
    assert f"{len(kill)} of 14 attempts are kept" in done.stdout
    # What was at work when the process was killed has no record, so it runs again; nothing else does.
    assert len(shell.traced()) == 14 - len(kill)
    record = shell.record()
    assert (record["state"], record["exit_code"], shell.totals()) == ("completed", 0, {"planned": 14, "passed": 14})
    keys = [f"{one['eval']}@{one['attempt']}" for one in shell.attempts()]
    assert len(keys) == len(set(keys)) == 14
    assert shell.rows("SELECT count(*) AS n, count(DISTINCT (eval, attempt_id)) AS keys FROM attempts") == [
        {"n": 14, "keys": 14}
    ]
    assert shell.no_sandbox_left(), "the next run sweeps what the killed one left"


def test_a_resume_runs_again_only_the_eval_that_was_edited(shell: Shell, kill: list[str]) -> None:
    edited = EVAL.replace('out.write(f"also {c.run}\\n")', 'out.write(f"edited {c.run}\\n")')
    assert edited != EVAL
    shell.write("evals/counts.eval.py", edited)
    shell.traces.unlink()
    shell.traces.with_name("gate").touch()
    done = shell.run("run", "--resume")
    assert (done.exit_code, done.stderr) == (0, ""), done
    assert sorted(line for line in shell.traced() if "edited" in line) == ["edited 1", "edited 2"]
    assert len(shell.traced()) == 2 + 8
    assert "runs again: evals/counts.eval.py::also counts, since its task changed" in done.stdout
    assert shell.totals() == {"planned": 14, "passed": 14}
    # A second resume has nothing to do.
    shell.traces.unlink()
    again = shell.run("run", "--resume")
    assert (again.exit_code, shell.traced()) == (0, [])
    assert shell.totals() == {"planned": 14, "passed": 14}


def test_a_torn_last_line_costs_one_attempt(shell: Shell, kill: list[str]) -> None:
    journal = shell.last / "events.ndjson"
    journal.write_bytes(journal.read_bytes()[:-20])
    assert shell.run("show").exit_code == 0
    shell.traces.unlink()
    shell.traces.with_name("gate").touch()
    done = shell.run("run", "--resume")
    assert done.exit_code == 0, done
    assert f"{len(kill) - 1} of 14 attempts are kept" in done.stdout
    assert len(shell.traced()) == 14 - len(kill) + 1
    assert shell.totals() == {"planned": 14, "passed": 14}


def test_a_run_that_is_alive_is_neither_resumed_nor_swept(shell: Shell) -> None:
    shell.set_up(CONFIG, counts=EVAL)
    process = shell.start("run")
    wait_for(lambda: len(shell.traced()) == 10, "the middle of the run", process)
    done = shell.run("run", "--resume")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "another process is writing this run" in done.stderr
    assert "running" in shell.run("runs").stdout
    other = shell.run("run", "-k", "also")
    assert other.exit_code == 0, other
    cleaned = shell.run("clean")
    assert cleaned.exit_code == 0
    shell.traces.with_name("gate").touch()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b""), out
    assert len(shell.runs) == 2
    assert [len(shell.attempts(run)) for run in shell.runs] == [14, 2]
    assert shell.rows("SELECT count(*) AS n FROM attempts") == [{"n": 16}]


def test_two_runs_that_begin_at_once_are_both_whole(shell: Shell) -> None:
    shell.set_up(CONFIG, counts=EVAL)
    shell.traces.with_name("gate").touch()
    both = [shell.start("run", "-q") for _ in range(2)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert [err for _, err in ends] == [b"", b""]
    assert [len(shell.attempts(run)) for run in shell.runs] == [14, 14]
    assert shell.rows("SELECT run_id, count(*) AS n FROM attempts GROUP BY 1 ORDER BY 1") == [
        {"run_id": run.name, "n": 14} for run in shell.runs
    ]
    assert shell.no_sandbox_left()

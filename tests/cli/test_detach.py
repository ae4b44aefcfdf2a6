"""``--detach`` and ``--follow``: a run in the background, with real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reeval.record.store import RunDirectory
from tests.cli.projects import project

SLOW = """
import anyio
from pathlib import Path
from reeval import Attempt, evaluate, includes

@evaluate("waits")
async def waits(c: Attempt) -> None:
    turn = await c.send("Go.")
    while not Path("go").exists():
        await anyio.sleep(0.02)
    c.check(turn.message, includes("Done"))
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    yield project(tmp_path, slow=SLOW)
    (tmp_path / "go").touch()


def reeval(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reeval", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)


def waited_for(condition: Callable[[], bool]) -> bool:
    for _ in range(3000):
        if condition():
            return True
        time.sleep(0.02)
    return False


def begun(root: Path, *arguments: str) -> RunDirectory:
    done = reeval(root, "run", "--detach", *arguments)
    assert done.returncode == 0, done.stderr
    run = RunDirectory(root / ".reeval" / "runs" / done.stdout.strip())
    assert done.stderr == f"it runs in the background: reeval show {run.id} --follow\n"
    return run


def test_a_run_goes_on_when_its_command_has_ended(here: Path) -> None:
    run = begun(here)
    assert run.is_alive()
    (row,) = map(json.loads, reeval(here, "runs", "--json").stdout.splitlines())
    assert (row["run_id"], row["state"]) == (run.id, "running")
    assert os.getsid(run.start().pid) == run.start().pid, "it would end with the terminal"
    (here / "go").touch()
    assert waited_for((run.path / "summary.md").exists)
    assert json.loads((run.path / "record.json").read_text())["exit_code"] == 0
    assert "1 pass" in (run.path / "output.log").read_text()


def test_follow_prints_until_the_end(here: Path) -> None:
    run = begun(here)
    command = [sys.executable, "-m", "reeval", "show", run.id, "--follow"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout
        first = following.stdout.readline()
        (here / "go").touch()
        rest = following.stdout.read()
    assert following.returncode == 0
    assert first + rest == (run.path / "output.log").read_text()
    assert not run.is_alive()
    shown = reeval(here, "show", run.id, "--follow")
    assert shown.stdout.startswith(f"run {run.id} · completed"), "there is nothing to follow any more"


def test_a_run_in_the_foreground_is_waited_for(here: Path) -> None:
    runs = here / ".reeval" / "runs"
    with subprocess.Popen([sys.executable, "-m", "reeval", "run"], cwd=here, stdout=subprocess.DEVNULL) as running:
        assert waited_for(lambda: runs.exists() and any(RunDirectory(path).is_alive() for path in runs.iterdir()))
        command = [sys.executable, "-m", "reeval", "show", "--follow"]
        with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as following:
            (here / "go").touch()
            shown, _ = following.communicate(timeout=60)
    assert running.returncode == 0
    assert " · completed · " in shown.splitlines()[0]


def test_what_is_wrong_before_the_run_begins_is_told_in_the_foreground(here: Path) -> None:
    done = reeval(here, "run", "--detach", "evals/slwo.eval.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no eval file is at 'evals/slwo.eval.py'")
    assert not (here / ".reeval" / "runs").exists()


@pytest.mark.parametrize("option", ["--dry-run", "--debug"])
def test_what_needs_the_terminal_cannot_be_detached(here: Path, option: str) -> None:
    done = reeval(here, "run", "--detach", option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --detach runs in the background; leave out --dry-run and --debug\n"


def test_a_resumed_run_can_be_detached(here: Path) -> None:
    run = begun(here)
    pid = run.start().pid
    os.kill(pid, 9)
    assert waited_for(lambda: not run.is_alive())
    assert begun(here, "--resume", run.id).id == run.id
    (here / "go").touch()
    assert waited_for((run.path / "summary.md").exists)


def test_an_attempt_cannot_be_followed(here: Path) -> None:
    (here / "go").touch()
    assert reeval(here, "run").returncode == 0
    done = reeval(here, "show", "waits@#1", "--follow")
    assert done.stderr == "error: --follow watches whole runs, and 'waits@#1' is no run; `reeval runs` lists them\n"

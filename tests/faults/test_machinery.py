"""What breaks around an agent is an error and never the agent's failure."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.faults.shell import Shell

CONFIG = """
[harness.fine]
kind = "fake"
[harness.late]
kind = "fake"
hang_start = 1
start_timeout = 1
[harness.never]
kind = "fake"
hang_start = true
start_timeout = 0.5
[harness.broken]
kind = "fake"
fail_with = "the agent's login has expired"
[harness.missing]
kind = "command"
command = ["no-such-program-anywhere"]
[harness.gives-up]
kind = "fake"
script = [[{ error = "I give up" }]]
[sandbox.plain]
kind = "local"
isolation = "none"
[environment.unready]
setup = ["echo preparing; exit 7"]
"""
ANSWERS = """
@evaluate("HARNESS", harness=["HARNESS"], sandbox="SANDBOX")
async def _(c):
    c.check((await c.send("Go.")).message, includes("Done"))
"""
UNREADY = """
@evaluate("unready", harness=["fine"], environment="unready")
async def _(c):
    await c.exec("true")
"""


def evals(sandbox: str) -> str:
    """Return an eval for each harness, and one whose environment cannot be set up."""
    names = ("fine", "late", "never", "broken", "missing", "gives-up")
    each = [ANSWERS.replace("HARNESS", name).replace("SANDBOX", sandbox) for name in names]
    return "".join(["from reeval import evaluate, includes", *each, UNREADY])


TABLE = [
    ("fine", "pass", None, ""),
    ("late", "pass", None, ""),
    ("never", "error", "harness", "a session of never"),
    ("broken", "error", "harness", "the agent's login has expired"),
    ("missing", "error", "harness", "no-such-program-anywhere"),
    ("gives-up", "fail", None, ""),
    ("unready", "error", "setup", "the setup step 'echo preparing; exit 7' exited with 7"),
]


@pytest.fixture(scope="module")
def finished(shared: Shell) -> Shell:
    shared.set_up(CONFIG, machinery=evals("plain"))
    assert shared.run("run").exit_code == 1
    return shared


@pytest.mark.parametrize(("name", "outcome", "phase", "reason"), TABLE, ids=[row[0] for row in TABLE])
def test_an_attempt_ends_as_what_happened(
    finished: Shell, name: str, outcome: str, phase: str | None, reason: str
) -> None:
    attempt = finished.attempt(name)
    failure = attempt.get("failure", {})
    assert (attempt["outcome"], failure.get("phase")) == (outcome, phase), attempt
    assert reason in failure.get("reason", "") + failure.get("detail", "")
    assert attempt.get("tries", 1) == (2 if name in {"late", "never"} else 1)


def test_errors_leave_the_gate_undecided(finished: Shell) -> None:
    for words, code in (("unready or fine", 3), ("broken", 3), ("gives-up", 1), ("fine", 0)):
        done = finished.run("run", "-q", "-k", words)
        assert done.exit_code == code, (words, done)


def test_isolation_that_is_required_and_not_there_starts_nothing(shell: Shell) -> None:
    shell.set_up(CONFIG, machinery=evals("local"))
    programs = shell.directory / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = shell.run("run", PATH=str(programs))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "bubblewrap" in done.stderr
    assert 'isolation = "prefer"' in done.stderr
    assert shell.nothing_written()


def test_a_workspace_of_50000_files_is_no_trouble(shell: Shell) -> None:
    config = """
[sandbox.local]
isolation = "prefer"
[environment.big]
workspace = "big"
[harness.writes]
kind = "command"
command = "echo changed > d7/f7 && rm d8/f8 && mkdir new && cp -r d1 d2 d3 new && echo done"
"""
    body = """
from reeval import evaluate, equals
@evaluate("changes a few of many files", environment="big")
async def changes(c):
    turn = await c.send("Go.")
    c.check(turn.message, equals("done"))
    c.check(len(turn.changes.files), equals(2 + 3 * 500))
    c.file_changed("d7/f7")
    c.file_deleted("d8/f8")
"""
    shell.set_up(config, changes=body)
    for folder in range(100):
        place = shell.root / "big" / f"d{folder}"
        place.mkdir(parents=True)
        for file in range(500):
            (place / f"f{file}").touch()
    done = shell.run("run")
    assert (done.exit_code, done.stderr) == (0, ""), done
    assert shell.no_sandbox_left()
    assert shell.run("show", "changes@#1").exit_code == 0


def test_the_package_starts_as_a_module_and_as_a_command(shell: Shell) -> None:
    shell.set_up()
    as_module = shell.run("--version")
    as_command = shell.run_program(str(Path(sys.executable).with_name("reeval")), "--version")
    assert as_module == as_command
    assert as_module.stdout.startswith("reeval 0.")

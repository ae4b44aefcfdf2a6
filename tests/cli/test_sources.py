"""Git sources in whole runs: pinned before anything starts, kept by a resumed one, refused in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.environments.sources.repositories import Repository
from tests.faults.shell import Shell

CONFIG = """
[harness.terse]
kind = "fake"
script = [[{ exec = "cat a.txt" }]]

[environment.e]
workspace = { git = "../source", ref = "main" }
"""
EVAL = """
import os, subprocess
from pathlib import Path
from reeval import Attempt, evaluate

@evaluate("reads", environment="e", runs=2)
async def reads(c: Attempt) -> None:
    turn = await c.send("Read.")
    with open(os.environ["TRACES"], "a") as out:
        out.write(turn.tool_calls[0].output)
    if c.run == 2 and not Path(os.environ["TRACES"]).with_name("mended").exists():
        raise OSError("no such luck")
    assert turn.tool_calls[0].ok
"""


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "source")
    repository.commit({"a.txt": "first\n"})
    return repository


@pytest.fixture
def shell(tmp_path: Path, source: Repository) -> Shell:
    return Shell(tmp_path).set_up(config=CONFIG, reads=EVAL)


def test_a_run_that_goes_on_keeps_the_commits_it_began_with(shell: Shell, source: Repository) -> None:
    done = shell.run("run")
    assert done.exit_code == 3, done.stdout
    fact = f"git source ../source@main is commit {source.git('rev-parse', 'HEAD')[:12]}"
    assert fact in done.stdout.splitlines()
    assert "fetching ../source@main" in done.stderr
    source.commit({"a.txt": "second\n"})
    (shell.traces.with_name("mended")).touch()
    again = shell.run("run", "--retry-errors", "last")
    assert again.exit_code == 0, again.stdout
    assert fact in again.stdout.splitlines()
    assert shell.traces.read_text() == "first\n" * 3
    assert shell.run("run").exit_code == 0
    assert shell.traces.read_text().endswith("second\n" * 2)


def test_a_source_that_cannot_be_used_stops_the_run_before_it_starts(shell: Shell, source: Repository) -> None:
    source.git("branch", "--move", "main", "trunk")
    done = shell.run("run")
    assert done.exit_code == 2
    assert done.stderr == (
        "error: environment 'e': workspace: 'main' is no branch and no tag of the git source '../source'; correct ref\n"
    )
    assert not (shell.root / ".reeval" / "runs").exists()
    assert not shell.traces.exists()


def test_a_dry_run_asks_nobody(shell: Shell, source: Repository) -> None:
    source.git("branch", "--move", "main", "trunk")
    assert shell.run("run", "--dry-run").exit_code == 0


def test_a_run_brings_the_cache_below_its_size(shell: Shell, source: Repository) -> None:
    (shell.traces.with_name("mended")).touch()
    config = shell.root / "reeval.config.toml"
    config.write_text(f"{config.read_text()}\n[cache]\nsize = '1kB'\n")
    trees = shell.root / ".reeval" / "cache" / "trees"
    for text in ("a" * 600, "b" * 600, "c" * 600):
        source.commit({"a.txt": text})
        assert shell.run("run").exit_code == 0
        assert len(list(trees.iterdir())) == 1

"""``--branch`` and ``--vs-branch``: which files run, what is compared, and what stays behind."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reeval.cli.branches import BRANCHES, on_branches, sweep_branches
from reeval.cli.project import open_project
from reeval.schema.plan import Selection
from tests.cli.projects import reeval

NO_QUESTIONS = "--vs-branch compares data questions, and none are selected; select some, or leave it out"
CONFIG = '[harness.scripted]\nkind = "fake"\n[data]\ndatabase = "duckdb:shop"\n'
QUESTION = "eval_questions:\n- {name: total, question: What was the revenue?, sql: SELECT 1}\n"
EVAL = """
from pathlib import Path
from reeval import Attempt, equals, evaluate

@evaluate("reads its branch")
async def reads(c: Attempt) -> None:
    await c.send("Go.")
    c.check(Path(__file__).parents[1].joinpath("model.txt").read_text(), equals("new"))
"""


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project in a folder of a repository, with ``main`` checked out and changed, and a branch ``feat/x``."""
    root = tmp_path / "team"
    (root / "agents").mkdir(parents=True)
    (root / "evals").mkdir()
    (root / "shop").mkdir()
    (root / "shop" / "orders.csv").write_text("amount\n1\n")
    (root / "reeval.config.toml").write_text(CONFIG)
    (root / "agents" / "eval_questions.yml").write_text(QUESTION)
    (root / "evals" / "reads.eval.py").write_text(EVAL)
    (root / "model.txt").write_text("old")
    (tmp_path / ".gitignore").write_text(".reeval/\nshop/\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "checkout", "-qb", "feat/x")
    (root / "model.txt").write_text("new")
    (root / "agents" / "eval_questions.yml").write_text(QUESTION + "- {name: more, question: More?, sql: SELECT 2}\n")
    git(tmp_path, "commit", "-qam", "second")
    git(tmp_path, "checkout", "-q", "main")
    (root / "model.txt").write_text("changed")
    monkeypatch.chdir(root)
    return root


def planned(*arguments: str) -> dict[str, Any]:
    done = reeval("run", "--dry-run", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    plan: dict[str, Any] = json.loads(done.stdout)
    return plan


def left(root: Path) -> list[str]:
    """Return what is left of worktrees, on disk and in git."""
    trees = git(root, "worktree", "list").splitlines()[1:]
    return [*trees, *(str(path) for path in (root / BRANCHES).glob("*"))]


def test_the_files_of_the_branch_run_and_records_stay_with_the_checkout(here: Path) -> None:
    done = reeval("run", "--branch", "feat/x", "evals")
    assert done.exit_code == 0, done.stdout
    (run,) = (here / ".reeval" / "runs").iterdir()
    record = json.loads((run / "record.json").read_text())
    assert (record["git_branch"], record["git_dirty"], record["project"]) == ("feat/x", False, "team")
    assert record["git_commit"] == git(here, "rev-parse", "feat/x").strip()
    assert record["selection"] == "evals --branch feat/x"
    assert left(here) == []
    assert (here / "model.txt").read_text() == "changed"
    assert reeval("run", "evals").exit_code == 1


def test_a_run_of_a_branch_goes_on_on_the_branch(here: Path) -> None:
    assert reeval("run", "--branch", "feat/x", "evals").exit_code == 0
    done = reeval("run", "--resume=last")
    assert done.exit_code == 0, done.stdout
    assert "1 of 1 attempts are kept" in done.stdout
    assert left(here) == []


def test_the_questions_are_the_branchs_and_the_database_is_the_checkouts(here: Path) -> None:
    plan = planned("--branch", "feat/x", "agents")
    assert [one["id"] for one in plan["evals"]] == ["auto/total", "auto/more"]
    assert plan["database"]["url"] == f"duckdb:{here.resolve()}/shop"
    assert [one["id"] for one in planned("agents")["evals"]] == ["auto/total"]


def test_two_branches_are_the_sides_of_a_compare(here: Path) -> None:
    plan = planned("--branch", "feat/x", "--vs-branch", "main")
    assert [one["id"] for one in plan["evals"]] == ["auto/total", "auto/more"]
    compare = plan["evals"][0]["compare"]
    assert (compare["control"], compare["variants"]) == ("main", ["feat-x"])
    assert [plan["environments"][side]["env"]["REEVAL_BRANCH"] for side in ("main", "feat-x")] == ["main", "feat/x"]
    (note,) = plan["notes"]
    assert note == (
        "branches: feat/x is compared with main; the questions, the config and the agent's program are those of feat/x "
        "on both sides"
    )
    assert left(here) == []


def test_the_checkout_with_its_changes_is_compared_with_its_own_branch(here: Path) -> None:
    compare = planned("--vs-branch", "main")["evals"][0]["compare"]
    assert (compare["control"], compare["variants"]) == ("main", ["checkout"])


def sides(project: Any, selection: Selection) -> dict[str, dict[str, str]]:
    """Return what the workspace of each side holds, by the name of the side."""
    with on_branches(project, selection) as on:
        compare = on.config.data.compare
        found = {}
        for side in (compare.baseline, *compare.variants):
            folder = Path(side.workspace.path)
            files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".git"]
            found[side.name] = {path.relative_to(folder).as_posix(): path.read_text() for path in files}
    return found


def test_the_workspace_of_a_side_is_the_branch_without_its_questions(here: Path) -> None:
    found = sides(open_project(here), Selection(vs_branch="feat/x"))
    assert found["feat/x"]["model.txt"] == "new"
    assert found["main"]["model.txt"] == "changed", "the checkout counts as it is"
    assert not [path for files in found.values() for path in files if path.startswith("agents/")]


def test_an_environment_of_the_questions_is_taken_from_each_branch(here: Path) -> None:
    more = 'environment = "model"\n[environment.model]\nworkspace = "semantic"\nfiles = {"a" = {from = "model.txt"}}\n'
    (here / "semantic").mkdir()
    (here / "semantic" / "view.sql").write_text("ours")
    (here / "reeval.config.toml").write_text(CONFIG + more)
    git(here, "add", "-A")
    git(here, "commit", "-qm", "third")
    git(here, "checkout", "-qb", "other")
    (here / "semantic" / "view.sql").write_text("theirs")
    git(here, "commit", "-qam", "fourth")
    git(here, "checkout", "-q", "main")
    assert sides(open_project(here), Selection(branch="main", vs_branch="other")) == {
        "other": {"view.sql": "theirs"},
        "main": {"view.sql": "ours"},
    }
    done = reeval("run", "--dry-run", "--vs-branch", "feat/x")
    assert done.stderr == "error: branch 'feat/x' has no environment 'model', which its data questions run in\n"
    assert left(here) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--branch", "feat/y"), "there is no branch 'feat/y'; did you mean 'feat/x'?"),
        (("--branch=--help",), "there is no branch '--help'; there are 'feat/x', 'main'"),
        (("--vs-branch", "feat/x", "evals"), NO_QUESTIONS),
        (("--branch", "main", "--vs-branch", "main"), "--branch and --vs-branch are both 'main'; name two branches"),
    ],
)
def test_what_cannot_be_laid_out_is_told(here: Path, arguments: tuple[str, ...], said: str) -> None:
    done = reeval("run", *arguments)
    assert (done.exit_code, done.stderr) == (2, f"error: {said}\n")
    assert left(here) == []


def test_a_branch_without_the_project_is_told(here: Path) -> None:
    git(here, "checkout", "-q", "--orphan", "empty")
    git(here, "commit", "-qm", "none", "--allow-empty")
    git(here, "rm", "-rqf", "--cached", ".")
    git(here, "commit", "-qm", "none", "--allow-empty")
    git(here, "checkout", "-qf", "main")
    done = reeval("run", "--branch", "empty")
    assert done.stderr == "error: branch 'empty' has no team/reeval.config.toml; name one that has the project\n"
    assert left(here) == []


def test_a_project_without_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reeval.config.toml").write_text(CONFIG)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    done = reeval("run", "--branch", "main")
    assert done.stderr == f"error: --branch and --vs-branch need git, and {tmp_path} is in no git repository\n"


def test_what_a_killed_run_left_is_removed_by_the_next(here: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    dead, alive = here / BRANCHES / f"{child.pid}-dead", here / BRANCHES / f"{os.getpid()}-alive"
    git(here, "worktree", "add", "-q", "--detach", str(dead), "feat/x")
    git(here, "worktree", "add", "-q", "--detach", str(alive), "feat/x")
    assert f"would remove  files of a branch {dead}" in reeval("clean", "--dry-run").stdout
    assert sweep_branches(here) == [dead]
    assert [Path(line.split()[0]).name for line in git(here, "worktree", "list").splitlines()[1:]] == [alive.name]


def test_a_hook_of_the_repository_does_not_run(here: Path) -> None:
    hook = here.parent / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    assert reeval("run", "--branch", "feat/x", "evals").exit_code == 0
    assert not list(here.parent.rglob("ran"))

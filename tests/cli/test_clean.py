"""``reeval clean``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reeval.shelf import CACHE
from tests.cli.projects import CONFIG, project, recorded, reeval

LEAVE = """
import os, sys
from pathlib import Path
from reeval.sandboxes.directories import create
print(Path(create("run", Path(sys.argv[1]), keep=False).path).parent, flush=True)
os._exit(1)  # as when it is killed: nothing is cleaned up
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path / "p", config=f"{CONFIG}\n[history]\nkeep = 1\n"))
    return tmp_path / "p"


def in_process(root: Path, *command: str) -> str:
    """Run Python with a temporary directory of the test's own; return what it printed."""
    place = root.parent / "tmp"
    place.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=root, env=env, check=False)
    assert done.stderr == ""
    return done.stdout


def leave_a_tree(root: Path, *, days: int) -> Path:
    tree: Path = root / CACHE / "trees" / f"{days:064x}"
    (tree / "workspace").mkdir(parents=True)
    (tree / "workspace" / "file").write_bytes(b"x" * 5000)
    then = time.time() - days * 86_400
    os.utime(tree, (then, then))
    return tree


def test_nothing_to_remove(root: Path) -> None:
    recorded(root)
    assert reeval("clean").stdout == "nothing to remove\n"


def test_what_killed_and_old_runs_left_goes_and_the_rest_stays(root: Path) -> None:
    old = recorded(root)
    time.sleep(1.1)  # ids sort by seconds
    new = recorded(root)
    old_tree, new_tree = leave_a_tree(root, days=3), leave_a_tree(root, days=0)
    would = reeval("clean", "--dry-run")
    assert old.path.is_dir()
    assert old_tree.is_dir()
    did = reeval("clean")
    assert would.exit_code == did.exit_code == 0
    assert would.stdout.replace("would remove", "removed") == did.stdout
    assert did.stdout.splitlines()[0] == f"removed  prepared files {old_tree.name[:12]}, not used for a day"
    assert did.stdout.splitlines()[1].startswith(f"removed  run {old.id}, ")
    assert did.stdout.splitlines()[-1].startswith("removed 2 things, ")
    assert [old.path.exists(), new.path.exists(), old_tree.exists(), new_tree.exists()] == [False, True, False, True]


def test_what_is_claimed_no_more_goes_and_is_not_worth_a_word(root: Path) -> None:
    left = root / CACHE / "images" / ".lock-left"
    left.parent.mkdir(parents=True)
    left.touch()
    assert reeval("clean").stdout == "nothing to remove\n"
    assert not left.exists()


def test_a_sandbox_of_a_dead_process_goes(root: Path) -> None:
    left = Path(in_process(root, "-c", LEAVE, str(root)).strip())
    assert in_process(root, "-m", "reeval", "clean", "--dry-run").splitlines()[0] == f"would remove  sandbox {left}"
    assert left.is_dir()
    assert in_process(root, "-m", "reeval", "clean").splitlines()[0] == f"removed  sandbox {left}"
    assert not left.exists()

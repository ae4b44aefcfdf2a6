"""``reeval init``: a project that runs, and nothing that was there is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.projects import reeval


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_project_says_what_it_made_and_what_to_do_next(root: Path) -> None:
    assert reeval("init").stdout == (
        "made        reeval.config.toml\n"
        "made        evals/greet.eval.py\n"
        "added       .gitignore: .reeval/\n"
        "\n"
        "next\n"
        "  reeval run --dry-run\n"
        "  reeval run\n"
        "  reeval show\n"
    )
    assert (root / ".gitignore").read_text() == ".reeval/\n"


def test_a_directory_can_be_named(root: Path) -> None:
    assert "  cd 'my evals'\n" in reeval("init", "my evals").stdout
    assert (root / "my evals" / "evals" / "greet.eval.py").is_file()


def test_nothing_is_overwritten(root: Path) -> None:
    (root / "reeval.config.toml").write_text("# mine\n")
    (root / ".gitignore").write_text("node_modules")
    text = reeval("init").stdout
    assert "left alone  reeval.config.toml: it is there already\n" in text
    assert "made        evals/greet.eval.py\n" in text
    assert (root / "reeval.config.toml").read_text() == "# mine\n"
    assert (root / ".gitignore").read_text() == "node_modules\n.reeval/\n"


@pytest.mark.parametrize("line", [".reeval/", ".reeval", "/.reeval/", "  .reeval/  "])
def test_records_are_ignored_once(root: Path, line: str) -> None:
    (root / ".gitignore").write_text(f"a\n{line}\n")
    assert "left alone  .gitignore: it has .reeval/ already" in reeval("init").stdout
    assert (root / ".gitignore").read_text() == f"a\n{line}\n"


def test_twice_changes_nothing(root: Path) -> None:
    reeval("init")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert reeval("init").exit_code == 0
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_place_that_cannot_be_written_is_named(root: Path) -> None:
    (root / "file").write_text("")
    done = reeval("init", "file")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: file")


def test_the_new_project_is_right_and_its_eval_passes(root: Path) -> None:
    reeval("init")
    assert reeval("check").stdout.endswith("1 eval, 2 attempts in 1 file: nothing is wrong\n")
    command = [sys.executable, "-m", "reeval", "run"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=os.environ, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass greets by name  2 of 2" in done.stdout

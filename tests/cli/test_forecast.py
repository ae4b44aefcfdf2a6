"""``reeval run --dry-run``: the time and the cost that earlier runs let expect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reeval.schema.plan import decode_plan
from tests.cli.projects import project, reeval

PRICED = """
[harness.scripted]
kind = "fake"
usage = { cost = 0.25 }
"""
EVAL = """
from reeval import *

@evaluate("greets by name", runs=8)
async def greets(c: Attempt) -> None:
    turn = await c.send("Greet.")
    c.check(turn.message, includes("Done"))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path, config=PRICED, greet=EVAL))
    return tmp_path


def below() -> list[str]:
    """What the dry run says below its table."""
    lines = reeval("run", "--dry-run").stdout.splitlines()
    return lines[lines.index("") + 1 :]


def test_the_first_dry_run_expects_nothing(root: Path) -> None:
    assert below() == ["total: 8 attempts of 1 eval"]
    assert "estimate" not in json.loads(reeval("run", "--dry-run", "--json").stdout)


def test_a_dry_run_expects_what_earlier_runs_took(root: Path) -> None:
    reeval("run")
    assert below() == [
        "estimate: under 1 s · $2.00 (from 8 earlier attempts)",
        "total: 8 attempts of 1 eval",
    ]
    (root / "evals" / "new.eval.py").write_text(EVAL)
    assert below()[0] == "estimate: under 1 s · $2.00 (from 8 earlier attempts; 1 of 2 evals has no history)"


def test_another_model_has_no_history(root: Path) -> None:
    reeval("run")
    (root / "reeval.config.toml").write_text(PRICED + 'model = "other"\n')
    assert below() == ["total: 8 attempts of 1 eval"]


def test_the_plan_as_json_carries_the_estimate_and_is_still_a_plan(root: Path) -> None:
    reeval("run")
    line = reeval("run", "--dry-run", "--json").stdout
    found = json.loads(line)["estimate"]
    assert (found["attempts"], found["cost"], found["new"]) == (8, [2.0, 2.0], 0)
    assert 0 < found["seconds"][0] <= found["seconds"][1] < 1
    assert decode_plan(line.encode()).attempts == 8


def test_a_budget_is_held_against_the_estimate(root: Path) -> None:
    reeval("run")
    lines = reeval("run", "--dry-run", "--budget", "1").stdout.splitlines()
    assert lines[-2] == "budget: $1.00, which may not be enough"


def test_an_estimate_needs_no_database(root: Path) -> None:
    reeval("run")
    code = (
        "import sys; from typer.testing import CliRunner; from reeval.cli.app import app\n"
        "print(CliRunner().invoke(app, ['run', '--dry-run']).stdout, 'duckdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert "estimate: " in done.stdout
    assert done.stdout.split()[-1] == "False"

"""``reeval runs``."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from reeval.record.store import RunStore
from reeval.secrets import Masker
from tests.cli.projects import plan_of, planned, project, recorded, reeval, start_of


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path))
    return tmp_path


def test_runs_are_listed_newest_first_with_their_state(root: Path) -> None:
    completed = recorded(root)
    time.sleep(1.1)  # ids sort by seconds
    killed = recorded(root, ended=False)
    with RunStore(root).create(Masker()) as writer:
        writer.start(start_of(writer.directory.name, plan_of(planned())))
        lines = reeval("runs").stdout.splitlines()
    states = {line.split()[0]: line.split()[1] for line in lines[1:]}
    assert states == {writer.directory.name: "running", killed.id: "interrupted", completed.id: "completed"}
    assert [line.split()[0] for line in lines[1:]] == sorted(states, reverse=True)
    assert "50% (1/2)" in lines[-1]
    assert "--tag smoke" in lines[-1]


def test_a_limit_says_how_many_are_older(root: Path) -> None:
    for _ in range(3):
        recorded(root)
    lines = reeval("runs", "--limit", "1").stdout.splitlines()
    assert len(lines) == 3
    assert lines[-1] == "… 2 older: reeval runs --limit 3"


def test_json_is_an_object_a_line(root: Path) -> None:
    run = recorded(root)
    (line,) = reeval("runs", "--json").stdout.splitlines()
    data = json.loads(line)
    assert data.keys() == {
        "run_id", "created", "state", "result", "accuracy", "target", "harnesses", "environments", "selection",
        "created_by", "updated",
    }  # fmt: skip
    assert (data["run_id"], data["harnesses"], data["created_by"]) == (run.id, ["terse"], "ada")


def test_no_run_says_what_to_do(root: Path) -> None:
    assert reeval("runs").stdout == "no run yet: `reeval run` makes one\n"
    assert reeval("runs", "--json").stdout == ""


def test_a_damaged_run_is_named_and_the_others_are_listed(root: Path) -> None:
    good, bad = recorded(root), recorded(root)
    (bad.path / "record.json").unlink()
    bad.journal.write_text("{garbage\n")
    done = reeval("runs")
    assert done.exit_code == 0
    assert good.id in done.stdout
    assert bad.id not in done.stdout
    assert bad.id in done.stderr

"""``reeval doctor``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reeval.cli.doctor import findings
from tests.cli.projects import project, recorded, reeval


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(start: Path) -> dict[str, tuple[str, str]]:
    return {finding.name: (finding.state, finding.text) for finding in findings(start)}


def test_a_project_that_is_right_has_nothing_broken(here: Path) -> None:
    project(here)
    recorded(here)
    done = reeval("doctor")
    assert done.exit_code == 0
    names = ["python", "git", "sandbox", "disk", "config", "evals", "records", "history"]
    assert [line.split()[1] for line in done.stdout.splitlines() if not line.startswith(" ")] == names
    assert found(here)["records"] == ("ok", f"1 run in {here}/.reeval/runs")


def test_outside_of_a_project_it_says_how_to_start_one(here: Path) -> None:
    done = reeval("doctor")
    assert done.exit_code == 0
    assert "warn    config    no reeval.config.toml here or above\n" in done.stdout
    assert "start a project: reeval init" in done.stdout


def test_a_broken_config_is_exit_1_and_the_records_are_looked_at_all_the_same(here: Path) -> None:
    project(here, config="runs = ")
    done = reeval("doctor")
    assert done.exit_code == 1
    assert "broken  config    reeval.config.toml:1:" in done.stdout
    assert "ok      records" in done.stdout


def test_a_project_without_evals_is_a_warning(here: Path) -> None:
    project(here)
    (here / "evals" / "greet.eval.py").unlink()
    assert found(here)["evals"] == (
        "warn",
        "no evals are declared in 'evals/**/*.eval.py' (reeval.config.toml, evals); `reeval init` writes a first one",
    )


def test_git_that_is_not_there_is_broken(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(here))
    assert found(here)["git"] == ("broken", "not found; it tells what an agent changed")


@pytest.mark.parametrize(("data", "state"), [(b"nonsense that is no database", "warn"), (b"\0" * 8 + b"DUCK", "ok")])
def test_a_damaged_history_is_a_warning(here: Path, data: bytes, state: str) -> None:
    project(here)
    (here / ".reeval").mkdir()
    (here / ".reeval" / "history.duckdb").write_bytes(data)
    assert found(here)["history"][0] == state


def test_each_agent_says_whether_its_program_is_ready(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    project(here, config='[harness.terse]\nkind = "fake"\n[harness.mine]\nkind = "codex"\nprogram = "no-such-codex"\n')
    (finding,) = [one for one in findings(here) if one.name == "agent"]
    assert finding.state == "warn"
    assert finding.text.startswith("mine: no program 'no-such-codex' on this machine")
    assert "install = true" in finding.mend


def test_an_agents_table_that_is_wrong_is_a_warning(here: Path) -> None:
    project(here, config='[harness.codex]\nversion = "newest"\n')
    (finding,) = [one for one in findings(here) if one.name == "agent"]
    assert (finding.state, "newest" in finding.text) == ("warn", True)


def test_an_engine_that_cannot_be_asked_is_told_why(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(here, config='[sandbox.docker]\nkind = "docker"\nimage = "none"\n')
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONTEXT", "no-such")
    text = "there is no docker context 'no-such'; see docker context ls, or set DOCKER_HOST"
    assert found(here)["engine"] == ("warn", text)


def test_it_changes_nothing(here: Path) -> None:
    project(here)
    before = sorted(os.walk(here))
    reeval("doctor")
    assert sorted(os.walk(here)) == before


def test_evals_that_cannot_be_planned_are_a_warning(here: Path) -> None:
    project(here, greet="from reeval import nothing_of_that_name\n")
    state, text = found(here)["evals"]
    assert (state, text) == ("warn", "evals/greet.eval.py: the file does not import")


def keys_of(start: Path) -> list[tuple[str, str]]:
    return [(finding.state, finding.text) for finding in findings(start) if finding.name == "key"]


def test_each_key_that_the_evals_need_is_there_or_said_to_be_missing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(here, config='[defaults]\njudge = "openai/some-model"\n[harness.codex]\nmodel = "another-model"\n')
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (model, agent) = keys_of(here)
    assert model[0] == agent[0] == "warn"
    assert "model 'openai/some-model' needs a key: set the variable OPENAI_API_KEY" in model[1]
    assert "codex is not logged in: the agent has no variable OPENAI_API_KEY" in agent[1]

    (here / ".env").write_text("OPENAI_API_KEY=sk-0123456789\n")
    assert keys_of(here) == [agent, ("ok", "OPENAI_API_KEY is set, for openai/some-model")]
    monkeypatch.delenv("OPENAI_API_KEY")

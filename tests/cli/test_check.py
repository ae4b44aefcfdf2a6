"""``reeval check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, EVAL, project, reeval

SCORED = """
from reeval import ScoredAttempt, evaluate

@evaluate("installs", scored=True, runs=3)
async def installs(c: ScoredAttempt) -> None:
    c.score(1)

evaluate.todo("later")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_counts_for_each_file(here: Path) -> None:
    project(here)
    assert reeval("check").stdout == (
        "file                 evals  attempts  kind       not run\n"
        "evals/greet.eval.py  1      1         pass-fail  ·\n"
        "\n"
        "1 eval, 1 attempt in 1 file: nothing is wrong\n"
    )


def test_json_is_one_object(here: Path) -> None:
    project(here)
    assert json.loads(reeval("check", "--json").stdout) == {
        "files": [{"file": "evals/greet.eval.py", "kind": "pass-fail", "evals": 1, "attempts": 1, "not_run": 0}],
        "evals": 1,
        "attempts": 1,
        "notes": [],
    }


def test_both_kinds_are_planned_where_the_config_chooses_one(here: Path) -> None:
    project(here, config=f'kind = "pass-fail"\n{CONFIG}', greet=EVAL, score=SCORED)
    data = json.loads(reeval("check", "--json").stdout)
    assert [(row["kind"], row["attempts"]) for row in data["files"] if row["attempts"]] == [
        ("pass-fail", 1),
        ("scored", 3),
    ]


def test_a_mixed_selection_is_refused_with_nothing_on_stdout(here: Path) -> None:
    project(here, greet=EVAL, score=SCORED)
    done = reeval("check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--kind" in done.stderr
    assert reeval("check", "--kind", "scored").exit_code == 0


def test_problems_of_both_kinds_are_told_at_once_and_each_once(here: Path) -> None:
    unknown = CONFIG + '\n[harness.other]\nkind = "fake"\ndelays = 1\n'
    broken = {
        "greet": EVAL.replace('"greets by name"', '"greets by name", harness="nobody"'),
        "score": SCORED.replace("runs=3", 'harness="no one"'),
    }
    project(here, config=unknown, **broken)
    done = reeval("check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "evals/greet.eval.py:" in done.stderr
    assert "evals/score.eval.py:" in done.stderr
    assert done.stderr.count("delays") == 1


def test_every_problem_is_told_at_once(here: Path) -> None:
    broken = EVAL.replace('"greets by name"', '"greets by name", harness="nobody"')
    project(here, a="import nothing_like_this\n", b="1 / 0\n")
    done = reeval("check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "evals/a.eval.py" in done.stderr
    assert "evals/b.eval.py" in done.stderr
    (here / "evals" / "a.eval.py").write_text(broken)
    (here / "evals" / "b.eval.py").write_text(broken)
    text = reeval("check").stderr
    assert text.startswith("error: ")
    assert "evals/a.eval.py:" in text
    assert "evals/b.eval.py:" in text


def test_files_of_every_selected_harness_are_looked_for(here: Path) -> None:
    table = '[harness.{0}]\nkind = "command"\ncommand = "true"\nfiles = {{ "~/a.sh" = "missing-{0}" }}\n'
    project(here, config=table.format("a") + table.format("b"), greet=EVAL)
    done = reeval("check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: reeval.config.toml:1: [harness.a]: files: 'missing-a' cannot be read: No such file or directory; "
        "correct its path\n"
        "reeval.config.toml:5: [harness.b]: files: 'missing-b' cannot be read: No such file or directory; "
        "correct its path\n"
    )
    (here / "missing-a").touch()
    (here / "missing-b").touch()
    assert reeval("check").exit_code == 0


def test_a_path_narrows_what_is_checked(here: Path) -> None:
    project(here, greet=EVAL, bad="1 / 0\n")
    assert reeval("check", "evals/greet.eval.py").exit_code == 0
    assert reeval("check", "evals/bad.eval.py").exit_code == 2


def test_nothing_is_started_and_nothing_is_written(here: Path) -> None:
    project(here)
    reeval("check")
    assert not (here / ".reeval").exists()

"""Data questions from the shell: what check and the dry run say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.projects import project, reeval

CONFIG = '[harness.scripted]\nkind = "fake"\n[data]\ndatabase = "duckdb:shop"\n'
REVENUE = """\
eval_questions:
  - name: by quarter
    question: What was the revenue by quarter?
    sql: SELECT quarter, sum(amount) FROM orders GROUP BY 1
  - name: total
    question: What was the revenue?
    certifiedQuery: revenue
"""
PEOPLE = "space: people\neval_questions:\n- {name: total, question: How many?, sql: SELECT count(*) FROM orders}\n"
CERTIFIED = "---\nuser_request: What was the revenue?\n---\nSELECT sum(amount) FROM orders\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, config=CONFIG)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.csv").write_text("quarter,amount\n1,10\n2,20\n")
    write(tmp_path, "eval_questions/revenue.yml", REVENUE)
    write(tmp_path, "eval_questions/people.yml", PEOPLE)
    write(tmp_path, "certified_queries/revenue.md", CERTIFIED)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / "agents" / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "agents" / name).write_text(text)


def selected(*arguments: str) -> list[str]:
    done = reeval("run", "--dry-run", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    return [planned["id"] for planned in json.loads(done.stdout)["evals"]]


def test_check_counts_each_file(here: Path) -> None:
    assert reeval("check").stdout == (
        "file                               evals  attempts  kind       not run\n"
        "agents/eval_questions/people.yml   1      1         data       ·\n"
        "agents/eval_questions/revenue.yml  2      2         data       ·\n"
        "evals/greet.eval.py                1      1         pass-fail  ·\n"
        "\n"
        "data question    file\n"
        "people/total     agents/eval_questions/people.yml:3\n"
        "auto/by quarter  agents/eval_questions/revenue.yml:2\n"
        "auto/total       agents/eval_questions/revenue.yml:5\n"
        "\n"
        "note: 1 question takes its ground truth from certified queries: an agent that is given these sees the answer\n"
        "4 evals, 4 attempts in 3 files: nothing is wrong\n"
    )
    data = json.loads(reeval("check", "agents", "--json").stdout)
    assert data["questions"][0] == {"id": "people/total", "file": "agents/eval_questions/people.yml", "line": 3}
    assert [row["kind"] for row in data["files"]] == ["data", "data"]


def test_check_refuses_a_certified_query_that_is_not_there_and_a_run_does_not(here: Path) -> None:
    (here / "agents/certified_queries/revenue.md").unlink()
    done = reeval("check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: agents/eval_questions/revenue.yml:7: question 'total' names the certified query 'revenue', "
        "which is not in the space 'auto'; the space has none\n"
    )
    assert "auto/total" in selected()


def test_what_is_wrong_in_eval_files_and_question_files_comes_together(here: Path) -> None:
    write(here, "eval_questions/people.yml", "eval_questions: 3\n")
    (here / "evals/bad.eval.py").write_text("1 / 0\n")
    for command in (("check",), ("run", "--dry-run")):
        done = reeval(*command)
        assert done.exit_code == 2
        assert "ZeroDivisionError" in done.stderr
        assert "agents/eval_questions/people.yml:1: the file has eval_questions '3'" in done.stderr


def test_a_run_can_be_scoped_to_a_file_a_name_or_an_id(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert selected("agents/eval_questions/revenue.yml") == ["auto/by quarter", "auto/total"]
    assert selected("agents/eval_questions/revenue.yml::total") == ["auto/total"]
    assert selected("people/total") == ["people/total"]
    assert selected("evals/greet.eval.py") == ["evals/greet.eval.py::greets by name"]
    assert len(selected()) == 4
    monkeypatch.chdir(here / "agents" / "eval_questions")
    assert selected("people.yml") == ["people/total"]
    assert selected("people/total") == ["people/total"]


def test_a_scoped_run_reads_no_other_file(here: Path) -> None:
    write(here, "eval_questions/people.yml", "eval_questions: 3\n")
    assert selected("agents/eval_questions/revenue.yml") == ["auto/by quarter", "auto/total"]
    assert selected("evals") == ["evals/greet.eval.py::greets by name"]


def test_a_question_that_is_not_there_is_told_with_the_nearest(here: Path) -> None:
    assert reeval("run", "people/totl").stderr == (
        "error: there is no data question 'people/totl'; did you mean 'people/total'?\n"
    )


def test_an_agent_called_auto_is_the_configured_one(here: Path) -> None:
    assert selected("--agent", "auto", "people/total") == ["people/total"]
    assert "there is no harness 'nobody'" in reeval("run", "--agent", "nobody", "people/total").stderr


def test_the_dry_run_shows_the_questions_and_the_database(here: Path) -> None:
    shown = reeval("run", "--dry-run", "agents").stdout.splitlines()
    assert shown[1].startswith("agents/eval_questions/people.yml › total")
    assert shown[-2:] == [
        f"database: duckdb:{here.resolve()}/shop · target dev · 60 s and 10,000,000 rows a query",
        "total: 3 attempts of 3 evals",
    ]


def test_gold_warns_of_what_is_suspicious_beside_what_is_right(here: Path) -> None:
    cut = "- {name: top, question: Top?, sql: SELECT quarter FROM orders ORDER BY 1 + 1 LIMIT 1}\n"
    write(here, "eval_questions/people.yml", f"{PEOPLE}{cut}- {{name: none, question: None?, sql: SELECT gone}}\n")
    done = reeval("check", "agents", "--gold")
    assert done.exit_code == 0
    first, second, end = done.stdout.splitlines()[-3:]
    assert first.startswith("warning: agents/eval_questions/people.yml:4: people/top: LIMIT 1 cuts a tie")
    assert second.startswith(
        "warning: agents/eval_questions/people.yml:5: people/none: The ground truth does not run: "
    )
    assert end == "5 evals, 5 attempts in 2 files: nothing is wrong, but 2 ground truths should be looked at"
    data = json.loads(reeval("check", "agents", "--gold", "--json").stdout)
    assert [row["id"] for row in data["gold"]] == ["people/top", "people/none"]
    assert "gold" not in json.loads(reeval("check", "agents", "--json").stdout)
    assert json.loads(reeval("check", "evals", "--gold", "--json").stdout)["gold"] == []

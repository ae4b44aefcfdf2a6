"""Data questions from a shell: a real database, a real agent, and every place where their results are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.projects import reeval

CONFIG = """
[harness.analyst]
kind = "command"
command = "python3 ~/analyst.py"
files = { "~/analyst.py" = "analyst.py" }

[sandbox.local]
isolation = "none"

[data]
database = "duckdb:shop"
"""
AGENT = """
import sys
print({
    "pass": "So:\\n```sql\\nselect sum(amount), region from orders group by 2 order by 1\\n```",
    "fail": "So:\\n```sql\\nselect region, amount from orders\\n```",
    "review": "I **cannot** tell.",
    "error": "unreachable",
    "writes": "```sql\\nDROP TABLE orders\\n```",
}[sys.stdin.read().split()[-1]])
"""
TRUTH = "SELECT region, sum(amount) AS revenue FROM orders GROUP BY region"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "shop").mkdir()
    (tmp_path / "reeval.config.toml").write_text(CONFIG)
    (tmp_path / "analyst.py").write_text(AGENT)
    (tmp_path / "shop" / "orders.csv").write_text("region,amount\nnorth,10\nnorth,5\nsouth,7\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asks(shop: Path, *names: str, truth: str = TRUTH, gate: str = '"none"') -> None:
    lines = ["eval_questions:"]
    for name in names:
        sql = "SELECT nothing FROM orders" if name == "error" else truth
        lines += [f"  - name: {name}", f"    question: What is {name}", f"    sql: {sql}"]
    (shop / "agents" / "eval_questions.yml").write_text("\n".join(lines) + "\n")
    (shop / "reeval.config.toml").write_text(f"{CONFIG}gate = {gate}\n")


def test_a_run_of_each_verdict_ends_in_its_accuracy(shop: Path) -> None:
    asks(shop, "pass", "fail", "review", "error", "writes")
    done = reeval("run")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.rstrip().endswith("accuracy       20% (1/5)")
    assert "fail fail  Row count mismatch" in done.stdout
    assert "review review  No query" in done.stdout
    assert "error error  Ground truth query failed" in done.stdout
    assert "fail writes  Query error" in done.stdout
    assert (shop / "shop" / "orders.csv").is_file()
    outcomes = reeval("query", "SELECT question, outcome FROM data_results ORDER BY question", "--format", "json")
    assert {row["question"]: row["outcome"] for row in map(json.loads, outcomes.stdout.splitlines())} == {
        "pass": "pass",
        "fail": "fail",
        "review": "review",
        "error": "error",
        "writes": "fail",
    }


def test_one_attempt_shows_both_queries_and_the_response(shop: Path) -> None:
    asks(shop, "fail")
    reeval("run")
    text = reeval("show", "auto/fail@analyst/-/fake#1").stdout
    assert "model output · SQL\n  select region, amount from orders\nground truth · SQL\n  SELECT region" in text
    assert "ground truth  2 rows, 2 columns" in text
    assert "· dev · all questions" in text


@pytest.mark.parametrize(
    ("names", "gate", "code"),
    [
        (("pass",), '"all"', 0),
        (("pass", "fail"), '"all"', 1),
        (("pass", "fail"), "{ accuracy = 0.5 }", 0),
        (("pass", "fail"), "{ accuracy = 0.6 }", 1),
        (("pass", "error"), "{ accuracy = 0.6 }", 3),
        (("pass", "error"), "{ accuracy = 0.5 }", 0),
        (("fail", "error"), '"none"', 0),
    ],
)
def test_the_gate_over_all_questions_decides_the_exit_code(
    shop: Path, names: tuple[str, ...], gate: str, code: int
) -> None:
    asks(shop, *names, gate=gate)
    done = reeval("run")
    assert done.exit_code == code, done.stdout


def test_runs_list_the_accuracy_and_the_target(shop: Path) -> None:
    asks(shop, "pass", "fail")
    reeval("run")
    (row,) = map(json.loads, reeval("runs", "--json").stdout.splitlines())
    assert (row["accuracy"], row["target"], row["harnesses"]) == ("50% (1/2)", "dev", ["analyst"])


def test_repeated_runs_pass_together_and_show_their_mean(shop: Path) -> None:
    asks(shop, "pass", "fail")
    done = reeval("run", "--runs", "2")
    assert done.stdout.rstrip().endswith("accuracy     50% (1/2) · mean over runs 50%")


def test_what_failed_runs_again(shop: Path) -> None:
    asks(shop, "pass", "fail", gate='"all"')
    reeval("run")
    done = reeval("run", "--last-failed")
    assert "0% (0/1)" in done.stdout


def test_events_have_the_answer(shop: Path) -> None:
    asks(shop, "fail")
    events = [json.loads(line) for line in reeval("run", "--json").stdout.splitlines()]
    (ended,) = (event["record"] for event in events if event["event"] == "attempt_finished")
    assert ended["data"][0]["reason"] == "Row count mismatch"
    (run,) = (event["record"] for event in events if event["event"] == "run_finished")
    assert (run["accuracy"][0]["total"], run["target"]) == (1, "dev")


def test_a_database_that_is_none_is_the_truths_error(shop: Path) -> None:
    asks(shop, "pass")
    (shop / "bad.duckdb").write_text("no database")
    config = (shop / "reeval.config.toml").read_text()
    (shop / "reeval.config.toml").write_text(config.replace("duckdb:shop", "duckdb:bad.duckdb"))
    done = reeval("run")
    assert "Ground truth query failed: The ground truth does not run:" in done.stdout
    assert "bad.duckdb" in done.stdout
    assert "0% (0/1)" in done.stdout

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
    assert reeval("run", "--quiet").stdout.rstrip().endswith("accuracy  50% (1/2)")


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


COMPARED = """
[environment.plain]

[environment.hinted]
rules = "Sum up."

[provider.critic]
kind = "fake"
function = "critic.py:answer"

[data.compare]
baseline = "plain"
variants = ["hinted"]

[[data.questions]]
text = "Does the query sum up?"
choices = ["yes", "no"]
model = "critic"
"""
CRITIC = """
def answer(request):
    query = request.prompt.partition('title="Query">')[2].partition("</")[0]
    return {"choice": "yes" if "sum(" in query else "no", "reason": "the query says it"}
"""
OBEYS = """
import pathlib
what = "sum(amount)" if pathlib.Path("AGENTS.md").is_file() else "max(amount)"
print(f"```sql\\nselect region, {what} from orders group by 1\\n```")
"""


def test_two_environments_are_compared_and_a_model_is_asked_about_the_queries(shop: Path) -> None:
    asks(shop, "pass")
    with (shop / "reeval.config.toml").open("a") as config:
        config.write(f"runs = 4\n{COMPARED}")
    (shop / "critic.py").write_text(CRITIC)
    (shop / "analyst.py").write_text(OBEYS)
    done = reeval("run")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "hinted  4 of 4  +1.00 [0.31, 1.00] helped" in done.stdout
    assert "yes 4 · no 4" in done.stdout
    assert done.stdout.rstrip().splitlines()[-2:] == [
        "accuracy     plain  0% (0/1) · mean over runs 0%",
        "accuracy     hinted  100% (1/1) · mean over runs 100%",
    ]


def test_in_a_compare_only_variants_decide_the_gate(shop: Path) -> None:
    asks(shop, "pass", gate="{ accuracy = 0.9 }")
    with (shop / "reeval.config.toml").open("a") as config:
        config.write(f"runs = 1\n{COMPARED.partition('[[data.questions]]')[0]}")
    (shop / "analyst.py").write_text(OBEYS)
    assert reeval("run").exit_code == 0
    (shop / "analyst.py").write_text(OBEYS.replace("is_file()", "is_dir()"))
    assert reeval("run").exit_code == 1


def test_a_run_goes_on_with_the_questions_that_are_left(shop: Path) -> None:
    asks(shop, "fail", "pass", "review", gate='"all"')
    assert "not run" in reeval("run", "-x", "-n", "1").stdout
    done = reeval("run", "--resume", "last")
    assert done.stdout.rstrip().endswith("33% (1/3) · gate all does not hold")
    assert len(reeval("query", "data_results", "--format", "json").stdout.splitlines()) == 3


def test_a_changed_truth_runs_its_question_again(shop: Path) -> None:
    asks(shop, "pass", "fail")
    reeval("run")
    asks(shop, "pass", "fail", truth="SELECT region, amount FROM orders")
    done = reeval("run", "--resume", "last")
    assert "pass fail" in done.stdout
    assert "fail pass" in done.stdout

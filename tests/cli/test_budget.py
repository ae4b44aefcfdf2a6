"""``reeval run --budget``: what it refuses, where it stops, what it says and how it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.projects import project, reeval

PRICED = """
[harness.scripted]
kind = "fake"
usage = { input = 10, output = 5, cost = 0.25 }

[provider.fake]
usage = { cost = 0.05 }
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


def record_of(root: Path) -> dict:
    (path,) = root.glob(".reeval/runs/*/record.json")
    return json.loads(path.read_text())


def test_a_spent_budget_leaves_the_run_undecided_and_says_how_to_go_on(root: Path) -> None:
    done = reeval("run", "--budget", "0.50", "--max-concurrent", "1", "--junit", "out.xml")
    record = record_of(root)
    assert done.exit_code == 3
    *_, totals, why, verdict, place, go_on = done.stdout.splitlines()
    assert totals.startswith("2 passed, 6 not run in ")
    assert totals.endswith(" · $0.50")
    assert [why, verdict, place, go_on] == [
        "the budget of $0.50 is spent ($0.50): 6 attempts were not started",
        "undecided: attempts that did not run could still change a gate",
        f"record  .reeval/runs/{record['run_id']}/",
        f"go on   reeval run --resume {record['run_id']} --budget 0.5",
    ]
    assert record["budget"] == {"limit": 0.5, "spent": 0.5, "stopped": True, "unstarted": 6}
    assert (record["state"], record["totals"]["planned"], record["totals"]["passed"]) == ("interrupted", 8, 2)
    assert "budget of $0.50 is spent" in next(root.glob(".reeval/runs/*/summary.md")).read_text()
    suites = ET.parse(root / "out.xml").getroot()
    assert (suites.get("tests"), suites.get("skipped")) == ("3", "1")
    assert [case.get("name") for case in suites.iter("testcase")][-1] == "greets by name: 6 attempts not run"
    assert json.loads(reeval("runs", "--json").stdout)["state"] == "interrupted"


def test_resume_goes_on_with_as_much_again_and_runs_nothing_twice(root: Path) -> None:
    reeval("run", "--budget", "0.50", "--max-concurrent", "1")
    again = reeval("run", "--resume", "last", "--budget", "0.50", "--max-concurrent", "1")
    assert again.exit_code == 3
    assert "the budget of $0.50 is spent ($0.50): 4 attempts were not started" in again.stdout
    last = reeval("run", "--resume", "last", "--budget", "100")
    assert last.exit_code == 0
    assert "8 passed" in last.stdout
    assert record_of(root)["budget"] == {"limit": 100, "spent": 1.0}


def test_a_gate_that_fails_outweighs_a_budget(root: Path) -> None:
    (root / "evals" / "greet.eval.py").write_text(EVAL.replace('"Done"', '"Hello"'))
    assert reeval("run", "--budget", "0.25", "--max-concurrent", "1").exit_code == 1


def test_what_decides_nothing_leaves_nothing_undecided(root: Path) -> None:
    (root / "evals" / "greet.eval.py").write_text(EVAL.replace("runs=8", 'runs=8, gate="none"'))
    assert reeval("run", "--budget", "0.25", "--max-concurrent", "1").exit_code == 0


def test_questions_are_paid_from_the_budget_and_asked_on_resume(root: Path) -> None:
    asked = EVAL.replace("async def", '@questions(Question("Is it kind?", model="fake"))\nasync def')
    (root / "evals" / "greet.eval.py").write_text(asked.replace("runs=8", "runs=2"))
    done = reeval("run", "--budget", "0.50", "--max-concurrent", "1")
    assert done.exit_code == 0
    assert "the budget of $0.50 is spent" in done.stdout
    assert "not asked" in done.stdout
    reeval("run", "--resume", "last", "--budget", "1")
    answers = reeval("query", "SELECT count(*) FROM attempt_answers", "--format", "csv").stdout.split()
    assert answers[-1] == "2"


def test_events_carry_the_budget(root: Path) -> None:
    done = reeval("run", "--budget", "0.25", "--max-concurrent", "1", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["record"]["budget"]["unstarted"] == 7
    said = [event["text"] for event in events if event["event"] == "warning"]
    assert said == ["the budget is spent: what runs comes to its end, nothing more begins"]


def test_worse_cannot_be_told_of_a_run_that_its_budget_cut(root: Path) -> None:
    (root / "evals" / "greet.eval.py").write_text(EVAL.replace("runs=8", 'runs=8, gate="none"'))
    assert reeval("run").exit_code == 0
    done = reeval("run", "--vs", "last", "--fail-on", "worse", "--budget", "0.25", "-n", "1")
    assert done.exit_code == 3
    assert "this run did not get to its end" in done.stderr


SILENT = "it cannot say what it costs, so that no budget can be kept; let it report a cost"
ELSEWHERE = 'base_url = "https://me:pw@models.example.com/v1"\n'
IN_TABLE = "reeval.config.toml:1: harness 'it'"
IN_EVAL = "evals/greet.eval.py:4: judge.model (config): model"
UNNAMED = "its model is the agent's own choice, so that its price is not known; name it, such as model = …"


def unlisted(model: str, at: str) -> str:
    return f"there is no price of {model!r} at {at} in the list; name another model"


@pytest.mark.parametrize(
    ("config", "place", "why"),
    [
        ('[harness.it]\nkind = "fake"\n', IN_TABLE, SILENT),
        ('[harness.it]\nkind = "command"\ncommand = ["true"]\noutput = "text"\n', IN_TABLE, SILENT),
        ('[harness.it]\nkind = "acp"\ncommand = ["true"]\n', IN_TABLE, SILENT),
        ('[harness.it]\nkind = "codex"\n', IN_TABLE, UNNAMED),
        ('[harness.it]\nkind = "codex"\nmodel = "gpt-0"\n', IN_TABLE, unlisted("gpt-0", "openai")),
        ('[harness.it]\nkind = "codex"\nmodel = "m"\n' + ELSEWHERE, IN_TABLE, unlisted("m", "models.example.com")),
        (
            '[defaults]\nharness = "codex:gpt-0"\n',
            "evals/greet.eval.py:4: harness 'codex-gpt-0'",
            unlisted("gpt-0", "openai"),
        ),
        (
            '[harness.it]\nkind = "model"\nmodel = "openai/gpt-0"\n',
            "harness 'it': its model: model 'openai/gpt-0'",
            unlisted("gpt-0", "openai"),
        ),
        (PRICED + '[defaults]\njudge = "openai/gpt-0"\n', f"{IN_EVAL} 'openai/gpt-0'", unlisted("gpt-0", "openai")),
        (PRICED.replace("usage = { cost", "#") + '[defaults]\njudge = "fake"\n', f"{IN_EVAL} 'fake'", SILENT),
    ],
)
def test_what_has_no_known_price_is_refused_before_anything_starts(
    root: Path, config: str, place: str, why: str
) -> None:
    (root / "reeval.config.toml").write_text(config)
    for flags in ((), ("--dry-run",)):
        done = reeval("run", "--budget", "1", *flags)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == f"error: {place}: {why}; --allow-unknown-cost counts only what is known\n"
    assert not (root / ".reeval").exists()
    assert reeval("run", "--budget", "1", "--allow-unknown-cost", "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    "config",
    [
        '[harness.cc]\nkind = "claude-code"\n',
        '[harness.cx]\nkind = "codex"\nmodel = "gpt-5"\n',
        '[harness.g]\nkind = "gemini"\nmodel = "gemini-2.5-pro"\n',
        '[harness.oc]\nkind = "opencode"\nmodel = "anthropic/claude-sonnet-4-5"\n',
        '[harness.cmd]\nkind = "command"\ncommand = ["true"]\noutput = "events"\n',
        '[harness.web]\nkind = "http"\nurl = "http://127.0.0.1:9/"\n',
        PRICED + '[defaults]\njudge = "anthropic/claude-sonnet-4-5"\n',
    ],
)
def test_what_has_a_price_or_says_it_is_taken(root: Path, config: str) -> None:
    (root / "reeval.config.toml").write_text(config)
    done = reeval("run", "--budget", "1", "--dry-run")
    assert (done.exit_code, done.stderr) == (0, "")


def test_allowed_unknown_costs_are_told_at_the_end(root: Path) -> None:
    (root / "reeval.config.toml").write_text('[harness.scripted]\nkind = "fake"\n')
    done = reeval("run", "--budget", "1", "--allow-unknown-cost")
    assert done.exit_code == 0
    assert "the cost of 8 attempts is not known in full: $0.00 of $1.00 is known to be spent" in done.stdout


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--budget", "0"), "--budget takes US dollars above 0"),
        (("--budget", "-1"), "--budget takes US dollars above 0"),
        (("--budget", "nan"), "--budget takes US dollars above 0"),
        (("--budget", "inf"), "--budget takes US dollars above 0"),
        (("--allow-unknown-cost",), "--allow-unknown-cost goes with --budget USD"),
    ],
)
def test_what_is_no_budget_is_refused(root: Path, flags: tuple[str, ...], said: str) -> None:
    done = reeval("run", *flags)
    assert done.exit_code == 2
    assert said in done.stderr


def test_ctrl_c_after_the_budget_is_spent_is_an_interruption(root: Path) -> None:
    (root / "evals" / "greet.eval.py").write_text(
        EVAL.replace("    turn", "    if c.run == 2:\n        await c.exec('touch begun; sleep 60')\n    turn")
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "reeval", "run", "--budget", "0.25", "--max-concurrent", "2"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "the budget is spent" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    record = record_of(root)
    assert process.returncode == 130
    assert (record["state"], record["exit_code"]) == ("interrupted", 130)
    assert "stopped" not in record["budget"]
    assert f"go on   reeval run --resume {record['run_id']}" in rest


def test_a_run_in_the_background_keeps_its_budget(root: Path) -> None:
    command = [sys.executable, "-m", "reeval", "run", "--budget", "0.25", "--max-concurrent", "1", "--detach"]
    started = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    followed = reeval("show", started.stdout.strip(), "--follow")
    assert "the budget of $0.25 is spent ($0.25): 7 attempts were not started" in followed.stdout
    assert record_of(root)["exit_code"] == 3

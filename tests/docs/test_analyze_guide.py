"""What the guide on analyses shows is what comes, and the example of the project works on any run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from reeval.run.asking.analyzing import MOST_TOKENS
from reeval.run.asking.wording import MATERIAL_LIMIT
from tests.cli.projects import planned, recorded
from tests.docs.pages import DOCS, blocks_of, section
from tests.docs.test_examples import project, reeval

PAGE = "guide/analyze.md"
ROOT = DOCS.parent
CONFIG = """
[harness.terse]
kind = "fake"
script = [[{ reply = "I wrote greet.js." }]]

[provider.model]
kind = "fake"
function = "model.py:answer"

[analysis]
model = "model"
"""
EVAL = """
from reeval import Attempt, evaluate, includes


@evaluate("greets by name", runs=3)
async def greets(c: Attempt) -> None:
    turn = await c.send("Write a Python program that greets.")
    c.check(turn.message, includes("greet.py"))
"""
MODEL = """
import re

def answer(request):
    figure = re.findall(r"(n\\d+) = 3 attempts that failed", request.prompt)[-1]
    of = {"eval": "evals/greet.eval.py::greets by name", "attempt": "terse/-/fake#2"}
    one = {
        "kind": "pattern", "text": "All 3 failing attempts write “greet.js”, though the task names Python.",
        "records": [of], "numbers": [{"figure": figure, "value": 3}], "quotes": [{**of, "text": "I wrote greet.js."}],
    }
    return {"claims": [
        one, {**one, "text": "It fails in 4 attempts."}, {**one, "quotes": [{**of, "text": "I wrote greet.rb."}]},
    ]}
"""


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_a_claim_is_shown_as_the_guide_shows_it(tmp_path: Path) -> None:
    (shown,) = [block.text for block in blocks_of(DOCS / PAGE) if block.language == "text"]
    project(tmp_path, CONFIG, {"evals/greet.eval.py": EVAL, "model.py": MODEL})
    assert reeval(tmp_path, "run").returncode == 1
    done = reeval(tmp_path, "analyze")
    assert done.returncode == 0, done.stderr
    assert "\n".join(lines_of(shown)) in "\n".join(lines_of(done.stdout))


def test_one_analysis_costs_no_more_than_the_guide_says() -> None:
    assert "50,000 tokens at most" in " ".join(section(PAGE, "Name a model").split())
    assert MATERIAL_LIMIT / 4 <= 50_000  # four bytes a token, as a rule of thumb
    assert MOST_TOKENS < 50_000


def test_the_example_of_the_project_analyzes_what_fails_and_what_passes(tmp_path: Path) -> None:
    config = '[analysis]\nmodel = "analyst"\n\n[provider.analyst]\nkind = "fake"\nfunction = "analyst.py:claims"\n'
    project(tmp_path, config, {})
    shutil.copy(ROOT / "evals" / "models" / "analyst.py", tmp_path / "analyst.py")
    recorded(tmp_path, planned(runs=1))
    recorded(tmp_path, planned(runs=2))
    for arguments, text in (
        ((), "The check that fails most does so in 1 attempts"),
        (("--vs", "last"), "The check that fails most does so in 1 attempts"),
    ):
        done = json.loads(reeval(tmp_path, "analyze", "--json", *arguments).stdout)
        assert [one["text"].startswith(text) for one in done["claims"]] == [True], done
        assert done["dropped"] == []
    runs = sorted(path.name for path in (tmp_path / ".reeval" / "runs").iterdir())
    done = json.loads(reeval(tmp_path, "analyze", runs[0], "--json").stdout)
    assert [one["kind"] for one in done["claims"]] == ["suggestion"]
    assert done["claims"][0]["numbers"][0]["what"].startswith("attempts that passed · terse/-/fake · ")

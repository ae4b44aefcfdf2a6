"""What the guide on cost and time shows is what comes."""

from __future__ import annotations

import re
from pathlib import Path

from reeval.grade.forecast.estimate import FEW, Estimate
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.kinds import KINDS
from reeval.record.forecast import samples
from reeval.report.screen.forecast import estimate_text
from tests.docs.pages import DOCS, blocks_of, prose_of, section, tables
from tests.docs.test_examples import project, reeval

PAGE = "guide/cost-and-time.md"
PLANNED, ENDED, REFUSED = (block.text for block in blocks_of(DOCS / PAGE) if block.language == "text")
PRICED = '[harness.scripted]\nkind = "fake"\nusage = { cost = 0.25 }\n'
EVAL = """
from reeval import *

@evaluate("greets by name", runs=8)
async def greets(c: Attempt) -> None:
    turn = await c.send("Greet.")
    c.check(turn.message, includes("Done"))
"""


def test_the_estimate_is_written_as_the_guide_shows() -> None:
    found = Estimate(seconds=(250.0, 410.0), cost=(1.2, 2.1), attempts=32, evals=8, new=3, unpriced=0)
    assert PLANNED.splitlines()[0] == f"estimate: {estimate_text(found)}"


def test_a_budget_ends_a_run_as_the_guide_shows(tmp_path: Path) -> None:
    project(tmp_path, PRICED, {"evals/greet.eval.py": EVAL})
    done = reeval(tmp_path, "run", "--budget", "0.5", "--max-concurrent", "1")

    def plain(text: str) -> list[str]:
        text = re.sub(r"\d{8}-\d{6}-\w{4}", "RUN", text)
        return re.sub(r"in [\d.]+ m?s", "in TIME", text).splitlines()

    assert plain(done.stdout)[-5:] == plain(ENDED)
    assert done.returncode == 3


def test_what_has_no_price_is_refused_as_the_guide_shows(tmp_path: Path) -> None:
    project(tmp_path, '[harness.codex]\nmodel = "my-model"\n', {"evals/greet.eval.py": EVAL})
    done = reeval(tmp_path, "run", "--budget", "5", "--harness", "codex")
    assert re.sub(r":\d+:", ":12:", done.stderr) == REFUSED
    assert done.returncode == 2


def test_the_guide_has_every_kind_of_harness() -> None:
    (table,) = tables(section(PAGE, "What counts"))
    named = {
        word
        for row in (text for text in prose_of(PAGE).splitlines() if text.startswith("| `"))
        for word in re.findall(r"`([\w-]+)`", row.split("|")[1])
    }
    assert named == set(KINDS)
    agents = {kind.name for kind in KINDS.values() if issubclass(kind.options, AgentOptions)}
    assert {name for name in agents if agent_named(name).reports_cost} == {"claude-code"}
    assert table["claude-code"] == "it says so itself"


def test_the_bounds_of_the_history_are_those_of_the_guide() -> None:
    text = " ".join(prose_of(PAGE).split())
    assert FEW == 5
    assert "fewer than five earlier attempts" in text
    assert (
        f"{samples.ENOUGH} attempts of each, in the last {samples.MOST_RUNS} runs and {samples.MOST >> 20} MB" in text
    )

"""What the guide on data questions shows of the project's own example is what comes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from reeval.record.compile import load_record
from reeval.record.store import RunStore
from reeval.report.screen.failures import Page
from reeval.report.show import attempt_screen
from tests.docs.pages import DOCS, blocks_of
from tests.docs.test_examples import reeval

ROOT = DOCS.parent
TIME = re.compile(r"\d+(\.\d+)? (ms|s)\b")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The data questions of the project in a directory of their own, and what their run prints."""
    root = tmp_path_factory.mktemp("example")
    for folder in ("agents", "evals/shop", "evals/agents"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "reeval.config.toml", root)
    done = reeval(root, "run", "agents")
    assert done.returncode == 0, done.stderr
    return root, done.stdout


def shown(at: int) -> list[str]:
    blocks = [block.text for block in blocks_of(DOCS / "guide/data-questions.md") if block.language == "text"]
    return [block for block in blocks if "accuracy  " in block or "model output" in block][at].strip().splitlines()


def test_a_run_ends_as_the_guide_shows(example: tuple[Path, str]) -> None:
    lines = [TIME.sub("0 s", line) for line in example[1].splitlines()]
    wanted = [TIME.sub("0 s", line) for line in shown(0) if line and line != "…"]
    assert [line for line in lines if line in wanted] == wanted
    assert lines[-1] == wanted[-1]


def test_an_answer_is_shown_as_in_the_guide(example: tuple[Path, str]) -> None:
    run = RunStore(example[0]).find("last")
    (attempt,) = (one for one in run.attempts() if one.eval == "auto/orders_by_region")
    lines = attempt_screen(load_record(run), attempt, Page(cells=80, reader=run))
    assert "\n".join(shown(1)) in "\n".join(line.rstrip() for line in lines)


def test_the_queries_of_the_guide_answer(example: tuple[Path, str]) -> None:
    (sql,) = (block.text for block in blocks_of(DOCS / "guide/data-questions.md") if "data_results" in block.text)
    reasons, accuracy = (one for one in sql.split(";") if one.strip())
    done = reeval(example[0], "query", re.sub("--.*", "", reasons), "--format", "csv")
    assert sorted(done.stdout.splitlines()[1:]) == [
        "analyst,Ground truth query failed,1",
        "analyst,No query,1",
        "analyst,Value mismatch,1",
    ]
    done = reeval(example[0], "query", re.sub("--.*", "", accuracy), "--format", "csv")
    assert done.stdout.splitlines()[1].endswith("analyst/-/local,1,4")

"""What the guides on judges and questions show is what comes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.pages import DOCS, Block, blocks_of, section
from tests.docs.test_examples import AGENT, project, reeval

MODEL = """
[provider.fake]
function = "models.py:answer"
"""
READER = """
def answer(request):
    if "winner" in request.schema["properties"]:
        return "A" if "crew" in request.prompt.partition('title="B: Diff"')[0] else "B"
    if "choice" in request.schema["properties"]:
        return "yes" if "crew" in request.prompt else "no"
    return "It falls back to the crew." if "crew" in request.prompt else "It greets the name it is given."
"""
"""A model that likes a greeting for those without a name."""
SIDES = ("--harness", "terse", "--harness", "chatty")


def of(page: str, language: str) -> list[Block]:
    return [block for block in blocks_of(DOCS / page) if block.language == language]


def lines_of(block: Block) -> list[str]:
    return [line.strip() for line in block.text.splitlines()]


def in_order(wanted: list[str], text: str) -> bool:
    """Whether these lines stand one below the other."""
    return "\n".join(wanted) in "\n".join(line.strip() for line in text.splitlines())


def test_questions_are_planned_and_answered_as_the_guide_shows(tmp_path: Path) -> None:
    each, pairs = of("guide/questions.md", "python")
    planned, answered, compared = of("guide/questions.md", "text")
    files = {"models.py": READER, "evals/greet.eval.py": each.text, "evals/stranger.eval.py": pairs.text}
    project(tmp_path, AGENT + MODEL, files)

    done = reeval(tmp_path, "run", "evals/greet.eval.py", *SIDES, "--dry-run")
    assert in_order(lines_of(planned), done.stdout), done.stdout
    done = reeval(tmp_path, "run", "evals/greet.eval.py", *SIDES)
    assert in_order(lines_of(answered), done.stdout), done.stdout
    done = reeval(tmp_path, "run", "evals/stranger.eval.py")
    assert in_order(lines_of(compared), done.stdout), done.stdout


def test_the_labelled_examples_of_the_guide_can_be_checked(tmp_path: Path) -> None:
    page = "guide/judges.md"
    (labelled,) = of(page, "json")
    project(tmp_path, AGENT, {"labelled.jsonl": labelled.text, "evals/explain.eval.py": of(page, "python")[0].text})
    done = reeval(
        tmp_path,
        "judge",
        "check",
        "labelled.jsonl",
        "--judge",
        "evals/explain.eval.py::names_motive",
        "--model",
        "fake",
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(lines_of(labelled))} of {len(lines_of(labelled))} examples answered" in done.stdout


def test_the_figures_of_the_guide_have_the_words_that_are_printed(tmp_path: Path) -> None:
    (shown,) = of("guide/judges.md", "text")
    labelled = [{"material": "a", "score": 1}, {"material": "b", "score": 0.2}]
    project(tmp_path, "", {"labelled.jsonl": "".join(f"{json.dumps(line)}\n" for line in labelled)})
    done = reeval(tmp_path, "judge", "check", "labelled.jsonl", "--rubric", "names the motive", "--model", "fake")

    def words(text: str) -> list[list[str]]:
        return [[word for word in re.findall("[a-z]+", line) if word != "to"] for line in text.splitlines()]

    head, _, *figures = words(shown.text)
    assert [head, *figures] == [words(done.stdout)[0], *words(done.stdout)[2 : 2 + len(figures)]]


def test_a_scripted_model_asks_the_function_of_the_reference(tmp_path: Path) -> None:
    page = "reference/models.md"
    (function,) = of(page, "python")
    config = next(block.text for block in of(page, "toml") if "function" in block.text)
    labelled = '{"material": "Hello Ada", "score": 0.9}\n{"material": "Hello", "score": 0.1}\n'
    project(tmp_path, config, {"evals/models.py": function.text, "labelled.jsonl": labelled})
    done = reeval(
        tmp_path, "judge", "check", "labelled.jsonl", "--question", "Is Ada greeted?", "--model", "reader", "--json"
    )
    assert [one["score"] for one in json.loads(done.stdout)["answers"]] == [0.9, 0.1]
    done = reeval(tmp_path, "judge", "check", "labelled.jsonl", "--question", "Is Ada greeted?", "--json")
    assert {(one["score"], one["reason"]) for one in json.loads(done.stdout)["answers"]} == {
        (0.4, "It leaves out why.")
    }


def test_every_figure_has_its_row() -> None:
    text = section("guide/judges.md", "Calibrate before you gate")
    for figure in ("accuracy", "kappa", "mean error", "bias", "rank correlation"):
        assert f"\n| {figure} | " in text

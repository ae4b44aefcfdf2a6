"""``reeval analyze``, from runs to claims, with a scripted model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reeval.record.store import RunDirectory
from tests.cli.projects import Done, planned, project, recorded, reeval

CONFIG = """
[analysis]
model = "reader"

[provider.reader]
kind = "fake"
function = "reader.py:answer"
usage = { input = 900, output = 100, cost = 0.01 }

[provider.broken]
kind = "fake"
fail_with = "the key sk-secret-of-a-model is wrong"
"""
READER = """
import json, pathlib, re

def answer(request):
    pathlib.Path("asked.json").write_text(json.dumps([request.system, request.prompt]))
    text = pathlib.Path("claims.json").read_text()
    for found in set(re.findall(r"<(.+?)>", text)):
        ids = re.findall(rf"(n\\d+) = {re.escape(found)}", request.prompt)
        text = text.replace(f"<{found}>", ids[-1] if ids else "n9999")
    return {"claims": json.loads(text)}
"""
"""Says what a test wrote down; ``<2 attempts that failed>`` is the id of the last such figure."""
EVAL = "evals/greet.eval.py::greets by name"
FAILED = {"eval": EVAL, "attempt": "terse/-/fake#2"}
PASSED = {"eval": EVAL, "attempt": "terse/-/fake#1"}
MESSAGE = "expected text that includes 'Ada' got ''"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project(tmp_path, config=CONFIG)
    (tmp_path / "reader.py").write_text(READER)
    monkeypatch.chdir(tmp_path)
    claims()
    return tmp_path


def claims(*many: dict[str, Any]) -> None:
    Path("claims.json").write_text(json.dumps(many))


def claim(text: str = "It does not greet Ada.", kind: str = "pattern", **more: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"text": text, "kind": kind, "records": [FAILED], "numbers": [], "quotes": []}
    return known | more


def number(figure: str, value: float) -> dict[str, Any]:
    return {"figure": f"<{figure}>", "value": value}


def quote(text: str, of: dict[str, str] = FAILED) -> dict[str, Any]:
    return {**of, "text": text}


def asked() -> str:
    return str(json.loads(Path("asked.json").read_text())[1])


def kept(run: RunDirectory, count: int = 1) -> dict[str, Any]:
    return dict(json.loads((run.path / "analysis" / f"{count}.json").read_text()))


def data(done: Done) -> dict[str, Any]:
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.stdout))


# --- one run ------------------------------------------------------------------------------------------


def test_claims_that_hold_are_shown_and_those_that_do_not_are_counted(root: Path) -> None:
    run = recorded(root)
    failed = number("1 attempts that failed", 1)
    claims(
        claim("It does not greet Ada in 1 attempt.", numbers=[failed], quotes=[quote(MESSAGE)]),
        claim("It fails always.", numbers=[number("1 attempts that failed", 2)]),
        claim("It fails in 2 attempts.", numbers=[failed], records=[FAILED]),
        claim(quotes=[quote("expected text that includes 'Bob'")]),
        claim(quotes=[quote(MESSAGE, PASSED)]),
        claim(records=[{"eval": EVAL, "attempt": "terse/-/fake#7"}], numbers=[failed]),
        claim("It got worse.", "regression", numbers=[failed]),
    )
    done = reeval("analyze")
    assert done.exit_code == 0
    assert done.stdout == (
        f"analysis of run {run.id}\n"
        "reader · 1.0k tokens · $0.01 · 1 claim\n"
        "\n"
        "1  pattern\n"
        "   It does not greet Ada in 1 attempt.\n"
        f"     1  attempts that failed · terse/-/fake · {EVAL}\n"
        f"     “{MESSAGE}”\n"
        f"       {EVAL}@terse/-/fake#2\n"
        f"     reeval show '{EVAL}@terse/-/fake#2'\n"
        "\n"
        "6 claims were dropped: a number does not hold (2×), a quote is not in the record (2×), "
        "an attempt is not in the record, it compares what cannot be compared\n"
        "\n"
        f"sent and answered: {run.path}/analysis/1.json\n"
    )
    assert re.fullmatch(rf"asking reader about run {run.id}, \d+ kB\n", done.stderr)


def test_the_command_of_a_claim_shows_its_attempt(root: Path) -> None:
    import shlex

    recorded(root)
    old = recorded(root).id
    recorded(root)
    claims(claim(quotes=[quote(MESSAGE)]))
    command = data(reeval("analyze", old, "--json"))["claims"][0]["records"][0]["command"]
    assert command.endswith(f" --run {old}")
    done = reeval(*shlex.split(command)[1:])
    assert (done.exit_code, "mentions" in done.stdout or "greets Ada" in done.stdout) == (0, True)


def test_everything_sent_and_answered_is_kept_and_a_second_time_beside_it(root: Path) -> None:
    run = recorded(root)
    claims(claim(quotes=[quote(MESSAGE)]), claim(quotes=[quote("not there")]))
    first, second = data(reeval("analyze", "--json")), data(reeval("analyze", run.id[:-1], "--json"))
    assert [Path(one["file"]).name for one in (first, second)] == ["1.json", "2.json"]
    whole = kept(run)
    assert whole["prompt"] == asked()
    assert [one["text"] for one in whole["reply"]["claims"]] == ["It does not greet Ada."] * 2
    assert [one["why"] for one in whole["dropped"]] == ["a quote is not in the record"]
    assert whole["claims"] == first["claims"]
    assert reeval("show").exit_code == 0


def test_the_model_of_the_flag_is_asked_in_place_of_the_configured_one(root: Path) -> None:
    run = recorded(root)
    done = reeval("analyze", "--model", "broken")
    assert done.exit_code == 3
    assert "the key sk-secret-of-a-model is wrong" in done.stderr
    assert done.stdout == ""
    assert "error" in kept(run)


def test_secrets_that_are_known_now_are_in_nothing_that_is_sent_kept_or_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READER_KEY", "includes 'Ada'")
    (root / "reeval.config.toml").write_text(
        CONFIG.replace('kind = "fake"\nfunction', 'kind = "fake"\nkey = "READER_KEY"\nfunction')
    )
    run = recorded(root)
    claims(
        claim("It wants includes 'Ada'.", quotes=[quote("expected text that ***")]),
        claim(quotes=[quote("expected text that includes 'Ada'")]),
    )
    done = reeval("analyze")
    assert "2 claims" in done.stdout
    for text in (asked(), done.stdout, done.stderr, (run.path / "analysis" / "1.json").read_text()):
        assert "includes 'Ada'" not in text
    assert "It wants ***." in done.stdout


# --- two runs -----------------------------------------------------------------------------------------


def test_two_runs_are_told_apart_and_compared(root: Path) -> None:
    before, now = recorded(root), recorded(root)
    this, other = FAILED | {"run": "this"}, FAILED | {"run": "vs"}
    same = number("0 lift (can't tell yet)", 0)
    claims(
        claim("It still fails.", "regression", records=[this, other], numbers=[same], quotes=[quote(MESSAGE, other)]),
        claim("It fell.", "regression", records=[this], numbers=[number("0 lift (can't tell yet)", -0.5)]),
    )
    done = reeval("analyze", "--vs", "last")
    assert done.stdout.startswith(f"analysis of run {now.id} against {before.id}\n")
    assert "     0  lift (can't tell yet) · terse/-/fake · " in done.stdout
    assert f"     reeval show '{EVAL}@terse/-/fake#2'\n" in done.stdout
    assert f"     reeval show '{EVAL}@terse/-/fake#2' --run {before.id}\n" in done.stdout
    assert "1 claim was dropped: a number does not hold" in done.stdout
    assert "of the run 'vs'" in asked()


def test_an_eval_that_is_in_one_run_only_is_not_compared(root: Path) -> None:
    before = recorded(root, planned("another"), planned("both"))
    recorded(root, planned(), planned("both"))
    records = [FAILED | {"run": "this"}]
    claims(claim("It got worse.", "regression", records=records, numbers=[number("0 lift (can't tell yet)", 0)]))
    done = reeval("analyze", "--vs", before.id)
    assert "1 claim was dropped: it compares what cannot be compared" in done.stdout
    assert f"not compared: {EVAL}: " in asked()


def test_runs_without_a_common_eval_are_refused_before_anything_is_asked(root: Path) -> None:
    before = recorded(root, planned("another"))
    recorded(root)
    done = reeval("analyze", "--vs", before.id)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "have no eval in common" in done.stderr
    assert not Path("asked.json").exists()


def test_a_directory_such_as_a_ci_artifact_can_be_analyzed_and_compared_with(root: Path, tmp_path: Path) -> None:
    import shutil

    moved = tmp_path / "artifact"
    shutil.move(recorded(root).path, moved)
    recorded(root)
    claims(claim(records=[FAILED | {"run": "vs"}], quotes=[quote(MESSAGE, FAILED | {"run": "vs"})]))
    done = reeval("analyze", "--vs", str(moved))
    assert f"--run {moved}" in done.stdout
    claims(claim(quotes=[quote(MESSAGE)]))
    assert f"sent and answered: {moved}/analysis/1.json" in reeval("analyze", str(moved)).stdout


# --- what is refused, and what goes wrong ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("20200101",), "there is no run '20200101'"),
        (("--vs", "20200101"), "there is no run '20200101'"),
        (("--vs", "last"), "there is no run before"),
        (("last", "--vs", "{run}"), "run {run} cannot be compared with itself"),
        (("--model", "nobody/x"), "there is no provider 'nobody'"),
        (("--model", "anthropic/claude-sonnet-5"), "needs a key: set the variable ANTHROPIC_API_KEY"),
    ],
)
def test_what_cannot_be_analyzed_is_refused_before_anything_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run = recorded(root).id
    done = reeval("analyze", *(one.format(run=run) for one in arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    assert said.format(run=run) in done.stderr
    assert not Path("asked.json").exists()


def test_without_a_model_the_error_says_what_to_write(root: Path) -> None:
    (root / "reeval.config.toml").write_text("")
    recorded(root)
    done = reeval("analyze")
    assert done.exit_code == 2
    assert '[analysis]\n  model = "anthropic/claude-sonnet-5"' in done.stderr


def test_a_run_without_a_finished_attempt_is_refused(root: Path) -> None:
    recorded(root, planned(runs=1), ended=False)
    done = reeval("analyze")
    assert done.exit_code == 2
    assert "has no finished attempt; there is nothing to analyze" in done.stderr


def test_a_run_that_was_killed_is_analyzed_as_far_as_it_went(root: Path) -> None:
    recorded(root, planned(runs=3), ended=False)
    claims(claim(quotes=[quote(MESSAGE)]))
    assert len(data(reeval("analyze", "--json"))["claims"]) == 1


def test_an_answer_of_another_shape_is_exit_3_and_no_claim(root: Path) -> None:
    recorded(root)
    Path("claims.json").write_text('[{"text": "no kind"}]')
    done = reeval("analyze")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "gave an answer of the wrong shape" in done.stderr


def test_an_analysis_that_cannot_be_kept_is_shown_all_the_same(root: Path) -> None:
    run = recorded(root)
    (run.path / "analysis").write_text("in the way")
    claims(claim(quotes=[quote(MESSAGE)]))
    done = reeval("analyze")
    assert (done.exit_code, "the analysis is not kept:" in done.stderr) == (0, True)
    assert "1  pattern" in done.stdout


def test_hostile_words_of_a_model_reach_the_terminal_escaped(root: Path) -> None:
    recorded(root)
    claims(claim("It \x1b[2J\x07 clears\n\n1  pattern\n   forged", quotes=[quote(MESSAGE)]))
    done = reeval("analyze")
    assert "\x1b" not in done.stdout
    assert "   It \\x1b[2J\\x07 clears 1 pattern forged\n" in done.stdout
    assert done.stdout.count("\n1  pattern\n") == 1


def test_ten_thousand_attempts_are_read_into_a_bounded_prompt(root: Path) -> None:
    run = recorded(root, *(planned(f"eval {n}", 10) for n in range(1000)))
    claims(claim(records=[{"eval": "evals/greet.eval.py::eval 999", "attempt": "terse/-/fake#2"}],
                 numbers=[number("1000 attempts that failed", 1000)]))  # fmt: skip
    found = data(reeval("analyze", "--json"))
    assert len(found["claims"]) == 1
    assert len(asked()) < 200_000
    assert "960 more evals are left out" in asked()
    assert kept(run)["prompt"] == asked()

"""``reeval judge check``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.projects import Done, project, reeval
from tests.servers.models import Act, ModelServer

CONFIG = """
[defaults]
judge = { model = "grader", threshold = 0.6 }

[provider.grader]
kind = "fake"
function = "grader.py:answer"

[provider.broken]
kind = "fake"
fail_with = "the server burns"
"""
GRADER = """
import json, re

CALLS = []

def answer(request):
    with open("calls.ndjson", "a") as file:
        file.write(json.dumps({"system": request.system, "prompt": request.prompt}) + "\\n")
    found = re.search(r"worth (\\S+)", request.prompt)[1]
    if found == "silence":
        raise RuntimeError("nothing to say")
    return {"score": float(found), "reason": f"it says {found}\\x1b[31m\\nand more"}
"""
JUDGES = """
print("a file may print")
from reeval import evaluate, judge

motive = judge("names the motive", "Is there a motive?", anchors={0: "none", 1: "a clear one"})
strict = judge("strict", "Is every claim supported?", model="broken")
again = motive
twin = judge("strict", "Another one.")
"""
EXAMPLES = [
    {"material": {"answer": "worth 0.9"}, "score": 0.8},
    {"material": {"answer": "worth 0.7"}, "label": "fail", "note": "no motive"},
    {"material": "worth 0.1", "score": 0.2},
    {"material": {"answer": "worth 0.2"}, "score": 1, "note": "clear enough"},
    {"material": {"answer": "worth 0.3"}, "label": False},
    {"material": {"answer": "worth 1"}, "label": True},
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project(tmp_path, config=CONFIG, judges=JUDGES)
    (tmp_path / "grader.py").write_text(GRADER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str, examples: list[dict[str, Any]] | None = None) -> Done:
    lines = EXAMPLES if examples is None else examples
    Path("labelled.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return reeval("judge", "check", "labelled.jsonl", *arguments)


def calls() -> list[dict[str, str]]:
    path = Path("calls.ndjson")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


MOTIVE = ("--judge", "evals/judges.eval.py::motive")


# --- what is shown ------------------------------------------------------------------------------------


def test_figures_come_first_then_the_disagreements_with_the_largest_miss_first(root: Path) -> None:
    done = check(*MOTIVE)
    assert (done.exit_code, done.stderr) == (0, "a file may print\n")
    assert done.stdout == (
        "judge  names the motive\n"
        "grader · passes from 0.6 · 6 of 6 examples answered\n"
        "\n"
        "                         95 %\n"
        "accuracy          0.67   0.30 to 0.90    on the same side of the threshold\n"
        "kappa             0.33   -0.50 to 1.00   beyond chance: 1 in full, 0 by chance alone\n"
        "mean error        0.33   0.10 to 0.80    between the two scores\n"
        "bias              -0.27  -0.80 to +0.10  above 0: the judge is generous\n"
        "rank correlation  0.50   –               1: in the same order\n"
        "\n"
        "               judge passes  judge fails\n"
        "person passes             2            1\n"
        "person fails              1            2\n"
        "\n"
        "note: 6 examples say little: label 30 or more, as many that fail as pass\n"
        "\n"
        "2 disagreements, the largest first\n"
        "  labelled.jsonl:4  expected pass (1), got fail (0.2)\n"
        "      judge: it says 0.2\\x1b[31m\n"
        "      and more\n"
        "      note: clear enough\n"
        "  labelled.jsonl:2  expected fail, got pass (0.7)\n"
        "      judge: it says 0.7\\x1b[31m\n"
        "      and more\n"
        "      note: no motive\n"
    )


def test_json_has_every_answer_and_nothing_else_on_stdout(root: Path) -> None:
    done = check(*MOTIVE, "--json")
    data = json.loads(done.stdout)
    assert (data["judge"], data["model"], data["threshold"], data["votes"]) == ("names the motive", "grader", 0.6, 1)
    assert (data["examples"], data["scored"], data["errors"]) == (6, 3, 0)
    assert data["accuracy"]["value"] == pytest.approx(4 / 6)
    assert data["table"] == {"both_pass": 2, "both_fail": 2, "only_judge": 1, "only_person": 1}
    assert data["disagreements"] == [4, 2]
    assert [one["line"] for one in data["answers"]] == [1, 2, 3, 4, 5, 6]
    assert [one["expected"] for one in data["answers"]] == [0.8, "fail", 0.2, 1.0, "fail", "pass"]
    assert data["answers"][3]["reason"] == "it says 0.2\x1b[31m\nand more"


def test_perfect_agreement_is_said_and_has_no_interval_that_would_claim_certainty(root: Path) -> None:
    done = check(*MOTIVE, examples=[EXAMPLES[0], EXAMPLES[4], EXAMPLES[5]])
    lines = done.stdout.splitlines()
    assert next(line for line in lines if line.startswith("kappa")).split()[:3] == ["kappa", "1.00", "–"]
    assert lines[-1] == "no disagreement"


def test_more_than_ten_disagreements_are_counted_until_full_shows_them(root: Path) -> None:
    many = [{"material": "worth 0.9", "label": "fail"}] * 14
    assert check(*MOTIVE, examples=many).stdout.endswith("  … 4 more: --full\n")
    assert check(*MOTIVE, "--full", examples=many).stdout.count("expected fail, got pass") == 14


# --- how it is asked ----------------------------------------------------------------------------------


def test_it_is_asked_as_in_a_run_and_sees_neither_label_nor_note(root: Path) -> None:
    check(*MOTIVE)
    asked = calls()
    assert len(asked) == 6
    for call in asked:
        assert "Is there a motive?" in call["system"]
        assert "a clear one" in call["system"]
        assert "worth" not in call["system"]
        for word in ("no motive", "clear enough", "score", "fail"):
            assert word not in call["prompt"]
    assert sum('title="Output"' in call["prompt"] for call in asked) == 1
    assert sum('title="answer"' in call["prompt"] for call in asked) == 5


@pytest.mark.parametrize(
    ("arguments", "system"),
    [
        (["--rubric", "It is short."], "by this rubric"),
        (["--question", "Is it short?"], "by this question"),
    ],
)
def test_a_rubric_or_a_question_can_stand_for_a_judge(root: Path, arguments: list[str], system: str) -> None:
    done = check(*arguments)
    assert done.stdout.splitlines()[0] == f"judge  {arguments[1]}"
    assert system in calls()[0]["system"]
    assert arguments[1] in calls()[0]["system"]


def test_flags_win_over_the_judge_and_the_judge_over_the_config(root: Path) -> None:
    strict = ("--judge", "evals/judges.eval.py::strict")
    assert "the server burns" in check(*strict).stdout
    assert check(*strict, "--model", "grader").exit_code == 0
    shown = check(*MOTIVE, "--threshold", "0.15", "--votes", "3").stdout
    assert "grader · 3 votes each · passes from 0.15 · 6 of 6 examples answered" in shown
    assert len(calls()) == 6 + 18


@pytest.mark.parametrize("name", ["motive", "again", "names the motive"])
def test_a_judge_is_found_by_its_variable_or_its_name(root: Path, name: str) -> None:
    assert check("--judge", f"evals/judges.eval.py::{name}").stdout.startswith("judge  names the motive\n")


def test_a_file_with_one_judge_needs_no_name_and_paths_are_typed_from_here(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "evals/one.py").write_text('from reeval import judge\n\nonly = judge("the only one", "Is it good?")\n')
    monkeypatch.chdir(root / "evals")
    assert check("--judge", "one.py").stdout.startswith("judge  the only one\n")


def test_examples_are_asked_side_by_side_within_the_limit(root: Path) -> None:
    (root / "grader.py").write_text(
        "import anyio\nNOW, MOST = [], []\n\n"
        "async def answer(request):\n"
        "    NOW.append(1); MOST.append(len(NOW))\n"
        "    await anyio.sleep(0.01)\n"
        "    NOW.pop()\n"
        "    return {'score': 1, 'reason': f'{max(MOST)} at once'}\n"
    )
    many = [{"material": "work", "label": "fail"}] * 30
    for limit in ("1", "3"):
        reasons = [
            one["reason"] for one in json.loads(check(*MOTIVE, "--json", "-n", limit, examples=many).stdout)["answers"]
        ]
        assert max(int(reason.split()[0]) for reason in reasons) == int(limit)


# --- a minimum, and errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--min-accuracy", "0.6"], 0, ""),
        (["--min-accuracy", "0.7"], 1, "the judge does not reach accuracy 0.7\n"),
        (["--min-kappa", "0.3", "--min-accuracy", "0.6"], 0, ""),
        (
            ["--min-kappa", "0.4", "--min-accuracy", "0.6"],
            1,
            "the judge does not reach accuracy 0.6 and kappa 0.4\n",
        ),
    ],
)
def test_a_minimum_decides_the_exit_code(root: Path, arguments: list[str], code: int, said: str) -> None:
    done = check(*MOTIVE, *arguments)
    assert (done.exit_code, done.stderr.removeprefix("a file may print\n")) == (code, said)


def test_errors_are_listed_apart_and_left_out(root: Path) -> None:
    mixed = [*EXAMPLES, {"material": "worth silence", "label": "pass"}, {"material": "worth 1.2", "label": "pass"}]
    done = check(*MOTIVE, examples=mixed)
    assert done.exit_code == 0
    assert "6 of 8 examples answered" in done.stdout
    _, _, errors = done.stdout.partition("\n2 examples without an answer, left out of the figures\n")
    assert "  labelled.jsonl:7\n      model 'grader': its function grader.py:answer raised RuntimeError" in errors
    assert "  labelled.jsonl:8\n      the score is 1.2; it has to be a number from 0 to 1\n" in errors


def test_errors_leave_a_minimum_undecided_only_while_they_could_decide(root: Path) -> None:
    mixed = [*EXAMPLES, {"material": "worth silence", "label": "pass"}]
    assert check(*MOTIVE, "--min-accuracy", "0.5", examples=mixed).exit_code == 0  # 4 of 7 at worst
    undecided = check(*MOTIVE, "--min-accuracy", "0.65", examples=mixed)
    assert undecided.exit_code == 3
    assert undecided.stderr.endswith("it cannot be told whether the judge reaches accuracy 0.65\n")
    assert check(*MOTIVE, "--min-accuracy", "0.8", examples=mixed).exit_code == 1  # 5 of 7 at best


def test_no_answer_at_all_is_exit_3(root: Path) -> None:
    done = check(*MOTIVE, "--model", "broken")
    assert (done.exit_code, "kappa" in done.stdout) == (3, False)
    assert done.stdout.count("the server burns") == 6


def test_the_projects_own_example_shows_what_its_scripted_judge_overlooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    example = ("judge", "check", "evals/labelled/robust.jsonl", "--judge", "evals/judged.eval.py::robust")
    done = reeval(*example, "--min-accuracy", "0.9")
    assert done.exit_code == 1
    assert "judge  robust\ncritic · passes from 0.5 · 12 of 12 examples answered" in done.stdout
    assert "note: an assert is no answer to a missing name" in done.stdout
    assert reeval(*example, "--min-accuracy", "0.6").exit_code == 0


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "which judge is not said; add one of --judge PATH::NAME, --rubric TEXT, --question TEXT"),
        ([*MOTIVE, "--rubric", "x"], "--judge and --rubric are given; add one of"),
        (["--rubric", " "], "--rubric is empty"),
        (["--question", ""], "--question is empty"),
        (
            ["--judge", "evals/judges.eval.py"],
            "evals/judges.eval.py has 3 judges (names the motive, strict); add ::VARIABLE",
        ),
        (
            ["--judge", "evals/judges.eval.py::moitve"],
            "evals/judges.eval.py has no judge 'moitve'; did you mean 'motive'?",
        ),
        (["--judge", "evals/none.eval.py"], "evals/none.eval.py: No such file or directory"),
        (["--judge", "grader.py"], "grader.py has no judge at its top level; write NAME = judge(…)"),
        ([*MOTIVE, "--votes", "2"], "--votes: judge.votes is 2; it should be an odd number"),
        ([*MOTIVE, "--threshold", "1.2"], "--threshold: judge.threshold is 1.2; it should be from 0 to 1"),
        ([*MOTIVE, "--threshold", "nan"], "--threshold: judge.threshold is nan; it should be from 0 to 1"),
        ([*MOTIVE, "--model", "gradr"], "--model: the model 'gradr'"),
        ([*MOTIVE, "--model", "openai/gpt"], "model 'openai/gpt' needs a key: set the variable OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_asked_is_exit_2_and_nothing_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], text: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = check(*arguments)
    assert (done.exit_code, done.stdout, calls()) == (2, "", [])
    assert f"error: {text}" in done.stderr


def test_a_judge_of_two_with_its_name_is_not_guessed(root: Path) -> None:
    (root / "evals/two.py").write_text(
        'from reeval import judge\n\none = judge("same", "A?")\ntwo = judge("same", "B?")\n'
    )
    done = check("--judge", "evals/two.py::same")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "evals/two.py has, with the name 'same', 2 judges (same); add ::VARIABLE" in done.stderr
    assert check("--judge", "evals/two.py::two").exit_code == 0


def test_bad_lines_are_told_with_their_numbers_and_nothing_is_asked(root: Path) -> None:
    done = check(*MOTIVE, examples=[EXAMPLES[0], {"material": "a"}, {"material": "a", "score": 2}])
    assert (done.exit_code, done.stdout, calls()) == (2, "", [])
    assert "labelled.jsonl:2: it says nothing of what a person found" in done.stderr
    assert "labelled.jsonl:3: score is 2; give a number from 0 to 1" in done.stderr


def test_a_file_that_is_not_there_is_named(root: Path) -> None:
    done = reeval("judge", "check", "nowhere.jsonl", *MOTIVE)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nowhere.jsonl cannot be read: No such file or directory" in done.stderr


def test_without_a_model_it_says_where_to_name_one(root: Path) -> None:
    (root / "reeval.config.toml").write_text("")
    done = check(*MOTIVE)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no judge model; add --model provider/model, or set judge in [defaults]" in done.stderr


def test_ctrl_c_ends_the_asking_with_130(root: Path) -> None:
    (root / "reeval.config.toml").write_text('[provider.slow]\nkind = "fake"\ndelay = 60\n')
    Path("labelled.jsonl").write_text('{"material": "a", "label": "pass"}\n' * 5)
    command = ["-m", "reeval", "judge", "check", "labelled.jsonl", *MOTIVE, "--model", "slow"]
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the file of judges has printed: what follows is the asking
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout, stderr) == (130, b"", b"")


# --- over HTTP ----------------------------------------------------------------------------------------


@pytest.fixture
def server(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with ModelServer() as one:
        (root / "reeval.config.toml").write_text(
            f'[provider.near]\nkind = "anthropic"\nbase_url = "{one.url}"\nkey = "NEAR_KEY"\n'
        )
        monkeypatch.setenv("NEAR_KEY", "sk-very-secret-key")
        yield one


def test_a_model_over_http_answers(server: ModelServer) -> None:
    done = check(*MOTIVE, "--model", "near/claude-x", "--json")
    data = json.loads(done.stdout)
    assert [one["score"] for one in data["answers"]] == [0.75] * 6
    assert len(server.requests) == 6


def test_a_wrong_key_is_an_error_of_each_example_and_never_shown(server: ModelServer) -> None:
    server.acts = [Act(status=401, message="invalid x-api-key: sk-very-secret-key")] * 6
    done = check(*MOTIVE, "--model", "near/claude-x")
    assert done.exit_code == 3
    assert "6 examples without an answer" in done.stdout
    assert "sk-very-secret-key" not in done.stdout + done.stderr

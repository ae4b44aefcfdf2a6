"""Questions in whole runs: what a model is sent, what comes of its answers, and what goes wrong beside them."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.faults.shell import Shell, wait_for

CONFIG = """
[defaults]
harness = ["terse", "chatty"]
question = "asked"

[sandbox.local]
isolation = "none"

[harness.terse]
kind = "fake"
script = [[{ write = { "greet.py" = "print('Hello from terse')\\n" } }, { reply = "Done by terse." }]]

[harness.chatty]
kind = "fake"
script = [[{ write = { "greet.py" = "print('Ahoy from chatty')\\n" } }, { reply = "Done by chatty." }]]

[provider.asked]
kind = "fake"
function = "model.py:answer"
"""
MODEL = """
import json, os

SAILOR = "print('Ahoy"

def answer(request):
    with open(os.environ["TRACES"], "a") as out:
        out.write(json.dumps({"system": request.system, "prompt": request.prompt,
                              "pictures": [one.name for one in request.pictures]}) + "\\n")
    wanted = request.schema["properties"]
    if "winner" in wanted:
        first, _, second = request.prompt.partition('title="B: Diff"')
        return {"winner": "A" if SAILOR in first else "B" if SAILOR in second else "tie", "reason": "It says Ahoy."}
    if "choice" in wanted:
        return {"choice": "yes" if SAILOR in request.prompt else "no", "reason": "Seen in the diff."}
    return {"answer": "It says Ahoy." if SAILOR in request.prompt else "It says Hello."}
"""
EVAL = """
from reeval import Question, evaluate, includes, questions

@evaluate("greets", runs=2)
@questions(Question("Does it say Ahoy?", choices=["yes", "no"]), "What does it say?",
           Question("Which says Ahoy?", across="harness"))
async def greets(c):
    turn = await c.send("Write greet.py.")
    c.check(turn.message, includes("Done"))
"""


def asking(shell: Shell, model: str = MODEL, config: str = CONFIG, source: str = EVAL) -> Shell:
    shell.set_up(config, asks=source)
    shell.write("model.py", model)
    return shell


def sent(shell: Shell) -> list[dict[str, Any]]:
    """Return every request that the model got."""
    return [json.loads(line) for line in shell.traced()]


def answering(expression: str) -> str:
    """Return a model that answers everything with one value."""
    return f"def answer(request):\n    return {expression}\n"


def one_question(question: str, *, harness: str = '["terse"]', body: str = "") -> str:
    return f"""
from reeval import Question, evaluate, includes, questions

@evaluate("greets", harness={harness})
@questions({question})
async def greets(c):
    turn = await c.send("Write greet.py.")
    c.check(turn.message, includes("Done"))
{body}
"""


CHOICE = 'Question("Does it say Ahoy?", choices=["yes", "no"])'
PAIR = 'Question("Which says Ahoy?", across="harness")'
BOTH = '["terse", "chatty"]'


# --- a run that goes well -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asked(shared: Shell) -> Shell:
    asking(shared)
    done = shared.run("run")
    assert done.exit_code == 0, done
    (shared.root / "out").write_text(done.stdout)
    return shared


def test_the_result_shows_tallies_first_answers_and_wins(asked: Shell) -> None:
    out = (asked.root / "out").read_text()
    block = out[out.index("  question  Does") : out.index("\n\n4 passed")].splitlines()
    assert block == [
        "  question  Does it say Ahoy?",
        "    yes 2 · no 2",
        "  question  What does it say?",
        "    terse/-/fake#1   It says Hello.",
        "    terse/-/fake#2   It says Hello.",
        "    chatty/-/fake#1  It says Ahoy.",
        "    1 more: reeval query attempt_answers",
        "  question  Which says Ahoy?",
        "    terse   won 0 of 4",
        "    chatty  won 4 of 4",
    ]
    assert "\n".join(block) in asked.run("show").stdout


def test_the_record_holds_answers_beside_attempts_and_pairs_beside_the_eval(asked: Shell) -> None:
    (planned,) = asked.record()["evals"]
    for entry in planned["attempts"]:
        assert [answer["question"] for answer in entry["answers"]] == [1, 2]
        for answer in entry["answers"]:
            document = json.loads((asked.last / answer["input"]["file"]).read_text())
            assert document["question"] == answer["text"]
            assert document["prompt"].startswith(f"Question: {answer['text']}\n\n")
            assert document["attempt"] == entry["attempt"]
    assert [(pair["left"], pair["right"]) for pair in planned["answers"]] == [
        (f"terse/-/fake#{run}", f"chatty/-/fake#{run}") for run in (1, 2)
    ]


def test_a_pairs_file_has_a_call_for_each_pair_and_order(asked: Shell) -> None:
    (file,) = asked.last.glob("*/questions/3.json")
    document = json.loads(file.read_text())
    orders = {(call["labels"]["A"], call["labels"]["B"]) for call in document["calls"]}
    assert orders == {
        pair
        for run in (1, 2)
        for pair in [
            (f"terse/-/fake#{run}", f"chatty/-/fake#{run}"),
            (f"chatty/-/fake#{run}", f"terse/-/fake#{run}"),
        ]
    }
    assert {call["prompt"] for call in document["calls"]} <= {one["prompt"] for one in sent(asked)}


def test_the_tables_hold_every_answer_pair_and_vote(asked: Shell) -> None:
    answers = asked.rows(
        "SELECT attempt_id, outcome, choice FROM attempt_answers WHERE choice IS NOT NULL ORDER BY ALL"
    )
    assert answers == [
        {"attempt_id": f"{harness}/-/fake#{run}", "outcome": "pass", "choice": choice}
        for harness, choice in (("chatty", "yes"), ("terse", "no"))
        for run in (1, 2)
    ]
    assert (
        asked.rows("SELECT left_value, right_value, left_wins, right_wins, split FROM question_pairs")
        == [{"left_value": "terse", "right_value": "chatty", "left_wins": 0, "right_wins": 2, "split": False}] * 2
    )
    votes = asked.rows("SELECT shown_first, winner, reason FROM votes ORDER BY ALL")
    assert votes == [
        {"shown_first": first, "winner": "chatty", "reason": "It says Ahoy."}
        for first in ("left", "left", "right", "right")
    ]
    assert asked.rows("SELECT count(*) AS n FROM usage WHERE spender = 'question'") == [{"n": 4}]


def test_an_attempt_shows_its_answers_and_the_summary_links_what_was_sent(asked: Shell) -> None:
    shown = asked.run("show", "chatty/-/fake#2").stdout
    assert "    yes (Seen in the diff.)\n" in shown
    assert "    against terse/-/fake#2\n      chatty (It says Ahoy.)\n" in shown
    summary = (asked.last / "summary.md").read_text()
    for link in ("asks-greets/terse/-/fake/1/questions/1.json", "asks-greets/questions/3.json"):
        assert f"]({link})" in summary
        assert (asked.last / link).is_file()


def test_each_attempt_is_asked_after_it_is_on_disk(asked: Shell) -> None:
    seen: set[str] = set()
    for line in asked.journal():
        if line["type"] == "attempt":
            seen.add(line["attempt"])
        elif line["type"] == "answer":
            assert line["attempt"] in seen
        elif line["type"] == "pair":
            assert {line["left"], line["right"]} <= seen


# --- blindness ----------------------------------------------------------------------------------------

NAMED = """
from reeval import Question, environment, equals, evaluate, questions, skill

house = environment("house-start", skills=[skill.inline("manners", description="greets", content="Say Ahoy.")])

@evaluate("greets", environment=house)
@questions(Question("Which says Ahoy?", across="harness", state={"output": True, "transcript": "full", "files": True,
                    "checks": True, "observations": True}))
async def greets(c):
    await c.send("Write greet.py.")
    c.observe("who", f"{c.cell.key} is done")
    await c.exec("pwd; echo I am " + c.cell.harness)
    c.check(1, equals(1))
"""


def test_nothing_that_is_sent_names_a_side_and_orders_differ_only_in_their_order(shell: Shell) -> None:
    script = '{ exec = "pwd; echo terse has manners" }, { reply = "terse/house-start/fake#1 is done." }'
    config = CONFIG.replace('{ reply = "Done by terse." }', script)
    done = asking(shell, config=config, source=NAMED).run("run")
    assert done.exit_code == 0, done
    requests = sent(shell)
    assert len(requests) == 2
    for request in requests:
        words = request["system"] + request["prompt"]
        for name in ("terse", "chatty", "house-start", "manners", "fake#1", str(shell.temporary)):
            assert name not in words, name
    first, second = (request["prompt"] for request in requests)
    assert first != second
    assert sorted(first.replace('"B: ', '"A: ').splitlines()) == sorted(second.replace('"B: ', '"A: ').splitlines())
    assert len({request["system"] for request in requests}) == 1


def test_a_side_without_a_diff_says_so(shell: Shell) -> None:
    config = CONFIG.replace("""{ write = { "greet.py" = "print('Hello from terse')\\n" } }, """, "")
    done = asking(shell, config=config, source=one_question(PAIR, harness=BOTH)).run("run")
    assert done.exit_code == 0, done
    assert "chatty  won 2 of 2" in done.stdout
    assert all("(the agent changed nothing that is shown here)" in one["prompt"] for one in sent(shell))


def test_attempts_that_failed_have_no_pair(shell: Shell) -> None:
    config = CONFIG.replace("Done by terse.", "I gave up.")
    done = asking(shell, config=config, source=one_question(PAIR, harness=BOTH)).run("run")
    assert done.exit_code == 1, done
    assert "no pair: a pair needs two attempts that passed" in done.stdout
    assert sent(shell) == []


def test_attempts_that_did_not_end_by_themselves_are_not_asked_about(shell: Shell) -> None:
    source = one_question('"What does it say?"', body="    raise RuntimeError('broken')")
    done = asking(shell, source=source).run("run")
    assert (done.exit_code, sent(shell)) == (3, []), done
    assert "not asked of any attempt" in done.stdout


# --- what a model may answer --------------------------------------------------------------------------

WRONG = [
    (CHOICE, '{"choice": "perhaps", "reason": "x"}'),
    (CHOICE, '{"choice": "Yes", "reason": "x"}'),
    (CHOICE, '{"choice": "", "reason": "x"}'),
    (CHOICE, '{"reason": "x"}'),
    ('"What does it say?"', '{"answer": "  "}'),
    ('"What does it say?"', '""'),
    ('"What does it say?"', '{"answer": 3}'),
    ('"What does it say?"', "1 / 0"),
]


@pytest.mark.parametrize(("question", "expression"), WRONG)
def test_a_wrong_answer_is_a_warning_and_outcomes_stand(shell: Shell, question: str, expression: str) -> None:
    done = asking(shell, answering(expression), source=one_question(question)).run("run")
    assert done.exit_code == 0, done
    assert "warning: evals/asks.eval.py::greets: question 1 about terse/-/fake#1 was not answered:" in done.stdout
    (planned,) = shell.record()["evals"]
    ((answer,),) = [entry["answers"] for entry in planned["attempts"]]
    assert answer["error"]
    assert "choice" not in answer
    assert "answer" not in answer
    assert (shell.last / answer["input"]["file"]).is_file()
    assert planned["questions"][0]["errors"] == 1
    assert "1 error: no answer" in done.stdout


@pytest.mark.parametrize("expression", ['{"winner": "C", "reason": "x"}', '{"winner": "a", "reason": "x"}', "1 / 0"])
def test_a_wrong_vote_is_an_error_of_its_order(shell: Shell, expression: str) -> None:
    done = asking(shell, answering(expression), source=one_question(PAIR, harness=BOTH)).run("run")
    assert done.exit_code == 0, done
    ((pair,),) = [one["answers"] for one in shell.record()["evals"]]
    assert [bool(vote.get("error")) for vote in pair["votes"]] == [True, True]
    assert "terse   won 0 of 0" in done.stdout


def test_two_orders_that_pick_the_first_are_a_split(shell: Shell) -> None:
    model = answering('{"winner": "A", "reason": "It comes first."}')
    done = asking(shell, model, source=one_question(PAIR, harness=BOTH)).run("run")
    assert "split 1 of 1 pair" in done.stdout
    assert "terse   won 1 of 2" in done.stdout
    assert "chatty  won 1 of 2" in done.stdout
    assert shell.rows("SELECT split FROM question_pairs") == [{"split": True}]


def test_many_errors_are_told_a_few_times_and_then_counted(shell: Shell) -> None:
    source = one_question('"What does it say?"').replace('harness=["terse"]', 'harness=["terse"], runs=8')
    done = asking(shell, answering("1 / 0"), source=source).run("run")
    assert done.stdout.count("was not answered") == 5
    assert "3 more questions were not answered" in done.stdout


def test_a_long_answer_is_bounded(shell: Shell) -> None:
    model = answering('{"answer": "long " * 10_000}')
    done = asking(shell, model, source=one_question('"What does it say?"')).run("run")
    assert max(map(len, done.stdout.splitlines())) < 600
    (answer,) = [line for line in shell.journal() if line["type"] == "answer"]
    assert len(answer["answer"]) == 4000


# --- what a model is sent -----------------------------------------------------------------------------


def test_secrets_are_masked_in_what_is_sent_and_kept(shell: Shell) -> None:
    config = CONFIG + '[defaults.env]\nTOKEN = { from = "HOST_TOKEN" }\n'
    source = one_question('"What does it say?"')
    config = config.replace("Hello from terse", "Hello from hunter2hunter2")
    done = asking(shell, config=config, source=source).run("run", HOST_TOKEN="hunter2hunter2")
    assert done.exit_code == 0, done
    (request,) = sent(shell)
    assert "hunter2" not in request["prompt"]
    assert "***" in request["prompt"]
    for file in shell.last.rglob("*"):
        assert file.is_dir() or b"hunter2" not in file.read_bytes(), file


def test_a_transcript_of_3_megabytes_is_bounded(shell: Shell) -> None:
    config = CONFIG.replace("{ reply", """{ exec = "head -c 3000000 /dev/zero | tr '\\\\0' x" }, { reply""", 1)
    source = one_question("""Question("What does it say?", state={"transcript": "full"})""")
    done = asking(shell, config=config, source=source).run("run")
    assert done.exit_code == 0, done
    (request,) = sent(shell)
    assert 10_000 < len(request["prompt"]) < 210_000
    assert "left out" in request["prompt"]


def test_commands_of_the_body_are_shown_where_a_question_asks_for_checks(shell: Shell) -> None:
    source = one_question(
        """Question("What does it say?", state={"checks": True, "transcript": False})""",
        body='    await c.exec("python3 greet.py")',
    )
    assert asking(shell, source=source).run("run").exit_code == 0
    (request,) = sent(shell)
    assert "$ python3 greet.py\nexit code 0\nstdout:\nHello from terse" in request["prompt"]


PNG = "b'\\x89PNG\\r\\n\\x1a\\n' + bytes(20)"


def test_attached_images_are_sent_and_other_files_are_not(shell: Shell) -> None:
    source = one_question(
        """Question("What does it say?", artifacts=True)""",
        body=f'    c.attach("page.png", {PNG})\n    c.attach("notes.txt", "text")',
    )
    done = asking(shell, source=source).run("run")
    assert done.exit_code == 0, done
    (request,) = sent(shell)
    assert request["pictures"] == ["page.png"]
    (answer,) = [line for line in shell.journal() if line["type"] == "answer"]
    document = json.loads((shell.last / answer["input"]["file"]).read_text())
    (picture,) = document["pictures"]
    assert (shell.last / picture["file"]).read_bytes().startswith(b"\x89PNG")


# --- the plan -----------------------------------------------------------------------------------------


def test_across_harness_on_one_harness_is_exit_2(shell: Shell) -> None:
    done = asking(shell, source=one_question(PAIR)).run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "question 1 is across='harness', but this eval has one harness" in done.stderr
    assert shell.nothing_written()


def test_a_profile_that_leaves_one_harness_drops_the_pairwise_question_with_a_note(shell: Shell) -> None:
    config = CONFIG + '[profile.quick]\nlimit = { harness = ["terse"], runs = 1 }\n'
    asking(shell, config=config)
    shown = shell.run("run", "--dry-run", "--profile", "quick").stdout
    assert "question 1/2" in shown
    assert "question 3 is dropped: profile quick leaves one harness" in shown
    done = shell.run("run", "--profile", "quick")
    assert done.exit_code == 0, done
    assert "Which says Ahoy?" not in done.stdout
    assert len(sent(shell)) == 2


def test_a_missing_key_is_exit_2_before_anything_starts(shell: Shell) -> None:
    source = one_question('Question("What does it say?", model="anthropic/claude-sonnet-5")')
    done = asking(shell, source=source).run("run", ANTHROPIC_API_KEY="")
    assert (done.exit_code, done.stdout) == (2, ""), done
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert shell.nothing_written()


# --- interruption and resume --------------------------------------------------------------------------

SLOW = """
import asyncio, os, pathlib

async def answer(request):
    with open(os.environ["TRACES"], "a") as out:
        out.write("asked\\n")
    gate = pathlib.Path(os.environ["TRACES"]).with_name("gate")
    if len(pathlib.Path(os.environ["TRACES"]).read_text().splitlines()) > 1 and not gate.exists():
        await asyncio.sleep(1000)
    return {"answer": "It says Hello."}
"""


def test_ctrl_c_while_questions_are_asked_keeps_what_was_answered_and_resume_asks_the_rest(shell: Shell) -> None:
    source = one_question('"What does it say?"').replace('harness=["terse"]', 'harness=["terse"], runs=3')
    one_at_a_time = 'question = { model = "asked", max_concurrent = 1 }'
    asking(shell, SLOW, CONFIG.replace('question = "asked"', one_at_a_time), source)
    process = shell.start("run", process_group=0)
    wait_for(lambda: len(shell.traced()) == 2, "the second question is asked", process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b""), out
    assert len(shell.attempts()) == 3
    answers = [entry.get("answers", []) for entry in shell.record()["evals"][0]["attempts"]]
    assert sorted(map(len, answers)) == [0, 0, 1]
    assert shell.record()["state"] == "interrupted"

    shell.traces.with_name("gate").touch()
    done = shell.run("run", "--resume")
    assert done.exit_code == 0, done
    answers = [entry["answers"] for entry in shell.record()["evals"][0]["attempts"]]
    assert [len(one) for one in answers] == [1, 1, 1]
    assert len(shell.attempts()) == 3
    assert len(shell.traced()) == 4


def test_resume_asks_errors_and_pairs_again_and_nothing_else(shell: Shell) -> None:
    asking(shell, MODEL.replace("    wanted =", "    if 'winner' in request.schema['properties']: 1 / 0\n    wanted ="))
    assert shell.run("run").exit_code == 0
    before = len(shell.traced())
    shell.write("model.py", MODEL)
    done = shell.run("run", "--resume")
    assert done.exit_code == 0, done
    assert len(shell.traced()) - before == 4
    assert "chatty  won 4 of 4" in done.stdout
    assert "yes 2 · no 2" in done.stdout
    assert "errors" not in shell.record()["evals"][0]["questions"][2]


def test_a_question_that_changed_is_asked_again_and_its_old_answers_do_not_count(shell: Shell) -> None:
    asking(shell, source=one_question('"What does it say?"'))
    shell.run("run")
    asking(shell, source=one_question('"What does it print?"'))
    done = shell.run("run", "--resume")
    assert done.exit_code == 0, done
    (question,) = shell.record()["evals"][0]["questions"]
    assert (question["text"], question["asked"]) == ("What does it print?", 1)


def test_fail_fast_still_asks_about_what_ended(shell: Shell) -> None:
    config = CONFIG.replace("Done by terse.", "I gave up.").replace("[defaults]", "max_concurrent = 1\n[defaults]")
    source = one_question('"What does it say?"').replace('harness=["terse"]', 'harness=["terse"], runs=3')
    done = asking(shell, config=config, source=source).run("run", "-x")
    assert done.exit_code == 1, done
    assert len(sent(shell)) == 1
    assert "terse/-/fake#1  It says Hello." in done.stdout


def test_events_tell_every_answer(shell: Shell) -> None:
    done = asking(shell).run("run", "--json")
    told = [event["record"]["type"] for event in done.events if event["event"] == "question_answered"]
    assert sorted(told) == ["answer"] * 8 + ["pair"] * 2


@pytest.mark.parametrize(("setting", "left"), [("all", 9), ("none", 0), ("failed", 2)])
def test_history_artifacts_keeps_or_drops_what_was_sent(shell: Shell, setting: str, left: int) -> None:
    source = EVAL.replace(
        '    c.check(turn.message, includes("Done"))',
        '    c.check(turn.message, includes("Done"))\n    assert (c.cell.harness, c.run) != ("terse", 2)',
    )
    asking(shell, config=CONFIG + f'[history]\nartifacts = "{setting}"\n', source=source)
    assert shell.run("run").exit_code == 1
    assert len(list(shell.last.rglob("questions/*.json"))) == left
    assert len(shell.record()["evals"][0]["attempts"]) == 4

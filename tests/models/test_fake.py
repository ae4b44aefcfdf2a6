"""What a scripted model answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reeval.backends import ModelReply
from reeval.errors import InfrastructureError, Phase
from reeval.models.fake import KIND, FakeModelOptions
from reeval.models.kinds import KINDS
from reeval.models.pool import ModelPool
from reeval.plan.toml.options import options_form
from reeval.schema.plan import PlannedModel
from reeval.usage import Usage
from tests.models.bench import JUDGE, ask

pytestmark = pytest.mark.anyio

TEXT = {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


CHOICE = schema(choice={"type": "string", "enum": ["yes", "no"]}, reason=TEXT)
ANSWER = schema(answer=TEXT)
PAIR = schema(winner={"type": "string", "enum": ["A", "B", "tie"]}, reason=TEXT)
WORDS = FakeModelOptions().reply


async def answers(root: Path, options: dict[str, Any], *schemas: dict[str, Any]) -> list[ModelReply]:
    planned = PlannedModel(name="fake", provider="fake", kind="fake", model="", options=options)
    async with ModelPool({"fake": planned}, KINDS, {}, root) as pool:
        return [await pool.answer("fake", ask(each)) for each in schemas]


async def one(root: Path, options: dict[str, Any], asked: dict[str, Any]) -> Any:
    (reply,) = await answers(root, options, asked)
    return reply.data


async def error(root: Path, options: dict[str, Any], asked: dict[str, Any] = JUDGE) -> InfrastructureError:
    with pytest.raises(InfrastructureError) as caught:
        await answers(root, options, asked)
    assert caught.value.phase is Phase.MODEL
    return caught.value


@pytest.mark.parametrize(
    ("options", "asked", "data"),
    [
        ({}, JUDGE, {"score": 1.0, "reason": WORDS}),
        ({"score": 0.25, "reply": "Half of half."}, JUDGE, {"score": 0.25, "reason": "Half of half."}),
        ({}, CHOICE, {"choice": "yes", "reason": WORDS}),
        ({"choice": "no"}, CHOICE, {"choice": "no", "reason": WORDS}),
        ({"choice": "no"}, PAIR, {"winner": "A", "reason": WORDS}),
        ({"choice": "tie"}, PAIR, {"winner": "tie", "reason": WORDS}),
        ({"reply": "A greeter."}, ANSWER, {"answer": "A greeter."}),
    ],
)
async def test_fixed_options_fit_every_question(
    tmp_path: Path, options: dict[str, Any], asked: dict[str, Any], data: dict[str, Any]
) -> None:
    assert await one(tmp_path, options, asked) == data


async def test_a_script_is_played_in_turn_and_its_last_answer_repeats(tmp_path: Path) -> None:
    script = [0.5, "B", {"answer": "All of it."}, "A short one."]
    replies = await answers(tmp_path, {"script": script}, JUDGE, PAIR, ANSWER, ANSWER, ANSWER)
    assert [reply.data for reply in replies] == [
        {"score": 0.5, "reason": WORDS},
        {"winner": "B", "reason": WORDS},
        {"answer": "All of it."},
        {"answer": "A short one."},
        {"answer": "A short one."},
    ]


@pytest.mark.parametrize(
    ("answer", "asked", "said"),
    [
        (1.2, JUDGE, "1.2 is greater than the maximum"),
        ({"reason": "none"}, JUDGE, "'score' is a required property"),
        ("Yes", CHOICE, "'Yes' is not one of ['yes', 'no']"),
    ],
)
async def test_a_scripted_answer_of_the_wrong_shape_is_an_error(
    tmp_path: Path, answer: Any, asked: dict[str, Any], said: str
) -> None:
    assert said in str(await error(tmp_path, {"script": [answer]}, asked))


async def test_a_malformed_answer_does_not_take_the_next_one_of_the_script(tmp_path: Path) -> None:
    planned = PlannedModel(name="fake", provider="fake", kind="fake", model="", options={"script": [1.2, 0.5]})
    async with ModelPool({"fake": planned}, KINDS, {}, tmp_path) as pool:
        with pytest.raises(InfrastructureError, match=r"1\.2 is greater"):
            await pool.answer("fake", ask())
        assert (await pool.answer("fake", ask())).data["score"] == 0.5


async def test_usage_is_what_the_table_says(tmp_path: Path) -> None:
    (reply,) = await answers(tmp_path, {"usage": {"input": 10, "output": 2, "cost": 0.5}}, JUDGE)
    assert reply.usage == Usage(input=10, output=2, cost=0.5)


async def test_fail_with_ends_every_question(tmp_path: Path) -> None:
    assert str(await error(tmp_path, {"fail_with": "the line is dead"})) == "model 'fake': the line is dead"


FUNCTIONS = """\
from dataclasses import dataclass

@dataclass
class Seen:
    text: str

def plain(request):
    return 0.5 if "Hello" in Seen(request.prompt).text else 0.0

async def waiting(request):
    return {"score": 0.25, "reason": request.system}

def raising(request):
    raise KeyError("no such rubric")

def nothing(request):
    return object()

NUMBER = 3
"""


@pytest.mark.parametrize("place", ["judges/mine.py", "judges.mine"])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("plain", {"score": 0.5, "reason": WORDS}),
        ("waiting", {"score": 0.25, "reason": "Does it greet?"}),
    ],
)
async def test_a_function_of_the_project_answers(
    tmp_path: Path, place: str, name: str, data: dict[str, Any], fresh_modules: None
) -> None:
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "mine.py").write_text(FUNCTIONS)
    assert await one(tmp_path, {"function": f"{place}:{name}"}, JUDGE) == data


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("mine.py:raising", "its function mine.py:raising raised KeyError: 'no such rubric'; correct the function"),
        ("mine.py:nothing", "is not of type 'object'"),
        ("mine.py:NUMBER", "there is no function 'NUMBER' in it"),
        ("mine.py:absent", "there is no function 'absent' in it"),
        ("other.py:plain", "importing it raised FileNotFoundError"),
        ("no_such_package.judges:plain", "importing it raised ModuleNotFoundError"),
        ("broken.py:plain", "importing it raised ZeroDivisionError"),
    ],
)
async def test_a_function_that_cannot_answer_is_an_error(tmp_path: Path, function: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    assert said in str(await error(tmp_path, {"function": function}))


@pytest.mark.parametrize(
    "options",
    [
        {"delay": -1},
        {"delay": float("inf")},
        {"function": "mine.py"},
        {"function": ":name"},
        {"function": "mine.py:answer", "script": (1.0,)},
    ],
)
def test_options_that_cannot_be_played_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^a (delay|function|script)"):
        FakeModelOptions(**options)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_the_options_of_every_kind_have_a_form(kind: Any) -> None:
    assert options_form(kind.options)["type"] == "function-after"


def test_script_entries_of_a_table_keep_their_shape() -> None:
    table = {"script": [1, 0.5, "yes", {"score": 1}], "usage": {"input": 3}}
    assert msgspec.convert(table, KIND.options).script == (1, 0.5, "yes", {"score": 1})


def test_a_plain_function_that_never_returns_keeps_no_process_from_ending(tmp_path: Path) -> None:
    (tmp_path / "answers.py").write_text("import time\n\n\ndef never(request):\n    time.sleep(3600)\n")
    script = f"""
import anyio
from pathlib import Path
from reeval.models.kinds import KINDS
from reeval.models.pool import ModelPool
from reeval.backends import ModelRequest
from reeval.schema.plan import PlannedModel

planned = PlannedModel(name="fake", provider="fake", kind="fake", model="", options={{"function": "answers.py:never"}})

async def main():
    async with ModelPool({{"fake": planned}}, KINDS, {{}}, Path({str(tmp_path)!r})) as pool:
        with anyio.move_on_after(0.5):
            await pool.answer("fake", ModelRequest(system="", prompt="", schema={{"type": "object"}}))

anyio.run(main)
print("ended")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "ended\n", done.stderr

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.harnesses.model import ANSWER, KIND, SYSTEM
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Text, Turn
from reeval.usage import Usage
from tests.harnesses.rooms import PlainRoom

pytestmark = pytest.mark.anyio


class AskingRoom(PlainRoom):
    """A room whose model gives fixed answers."""

    def __init__(self, top: Path, *replies: ModelReply | InfrastructureError) -> None:
        super().__init__(top)
        self.asked: list[tuple[str, ModelRequest]] = []
        self._replies = list(replies)

    async def ask(self, model: str, request: ModelRequest) -> ModelReply:
        self.asked.append((model, request))
        reply = self._replies[len(self.asked) - 1]
        if isinstance(reply, InfrastructureError):
            raise reply
        jsonschema.validate(dict(reply.data), dict(request.schema))
        return reply


def said(message: str, sql: str, **more: Any) -> ModelReply:
    return ModelReply(data={"message": message, "sql": sql}, **{"usage": Usage(), **more})


def planned(**options: Any) -> PlannedHarness:
    return PlannedHarness(id="bare", kind="model", model="openai/gpt-x", options=options)


async def turns(room: AskingRoom, *prompts: str, **options: Any) -> list[Turn]:
    async with KIND.open(planned(**options), Path()).session(room) as session:  # type: ignore[arg-type]
        return [await session.send(prompt) for prompt in prompts]


async def test_a_turn_is_one_call_whose_answer_is_a_message_and_a_query(tmp_path: Path) -> None:
    usage = Usage(input=10, output=5, cost=0.01)
    room = AskingRoom(tmp_path, said("Counts them.", " SELECT 1\n", usage=usage, model="gpt-x-1"))
    (turn,) = await turns(room, "How many?", max_tokens=99)
    assert room.asked == [
        ("openai/gpt-x", ModelRequest(system=SYSTEM, prompt="How many?", schema=ANSWER, max_tokens=99))
    ]
    assert turn == Turn(
        prompt="How many?",
        message="Counts them.",
        sql="SELECT 1",
        events=(Text(text="Counts them."),),
        usage=usage,
        model="gpt-x-1",
    )
    assert room.started == 0


async def test_no_query_and_unknown_usage_stay_unknown(tmp_path: Path) -> None:
    (turn,) = await turns(AskingRoom(tmp_path, said("There is no such table.", "")), "How many?")
    assert turn.sql is None
    assert turn.unreported == (Channel.COST, Channel.MODEL, Channel.USAGE)


async def test_a_second_turn_tells_what_was_said_before(tmp_path: Path) -> None:
    room = AskingRoom(tmp_path, said("a", "SELECT 1"), said("b", "SELECT 2"))
    await turns(room, "one", "two", system="Be brief.")
    assert room.asked[1][1].system == "Be brief."
    assert room.asked[1][1].prompt == (
        "<earlier>\none\n</earlier>\n\n<answer>\na\nSELECT 1\n</answer>\n\ntwo"
    )  # fmt: skip


async def test_a_model_that_cannot_be_had_is_no_failure_of_an_agent(tmp_path: Path) -> None:
    room = AskingRoom(tmp_path, InfrastructureError(Phase.MODEL, "model 'openai/gpt-x' refused the key (401)"))
    with pytest.raises(InfrastructureError, match="refused the key") as caught:
        await turns(room, "hi")
    assert caught.value.phase is Phase.MODEL


def test_its_model_is_one_of_the_plan() -> None:
    assert KIND.models(planned()) == ("openai/gpt-x",)
    with pytest.raises(ConfigError, match="the harness 'bare' needs a model, such as model = 'anthropic/"):
        KIND.models(PlannedHarness(id="bare", kind="model"))
    with pytest.raises(ConfigError, match="a max_tokens of 1 or more, not 0"):
        KIND.open(planned(max_tokens=0), Path())

"""A judge is asked about labelled examples: each once, in their order, as in a run."""

from __future__ import annotations

import anyio
import pytest

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import InfrastructureError, Phase
from reeval.grade.calibration.examples import Example
from reeval.run.asking.calibrating import AT_ONCE, Heartbeat, judge_examples
from reeval.run.judging.measure import Measurement
from reeval.schema.spec import Judge
from reeval.secrets import Masker
from reeval.usage import Usage

JUDGE = Judge(name="clear", rubric="Is it clear?", anchors={0.0: "no", 1.0: "yes"})


def examples(count: int) -> list[Example]:
    return [Example(line=line, material={"answer": f"number {line};"}, label=True) for line in range(1, count + 1)]


def number_in(request: ModelRequest) -> int:
    return int(request.prompt.partition("number ")[2].partition(";")[0])


def asked(ask, many: list[Example], **more) -> list[Measurement]:
    async def all_of_them() -> list[Measurement]:
        masker, heartbeat = more.pop("masker", Masker()), more.pop("heartbeat", Heartbeat(tell=print))
        return await judge_examples(ask, JUDGE, many, masker, heartbeat, **more)

    return anyio.run(all_of_them)


def test_answers_stand_in_the_order_of_the_examples_whatever_comes_first() -> None:
    running, most = 0, 0

    async def ask(request: ModelRequest) -> ModelReply:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.02 if number_in(request) % 7 == 0 else 0.001)
        running -= 1
        return ModelReply(data={"score": number_in(request) / 1000, "reason": ""}, usage=Usage())

    found = asked(ask, examples(150))
    assert [one.score for one in found] == [number / 1000 for number in range(1, 151)]
    assert 1 < most <= AT_ONCE


def test_an_error_is_the_answer_of_its_example_alone() -> None:
    async def ask(request: ModelRequest) -> ModelReply:
        if number_in(request) == 2:
            raise InfrastructureError(Phase.MODEL, "it burns")
        return ModelReply(data={"score": 1, "reason": "fine"}, usage=Usage())

    assert [(one.score, one.error) for one in asked(ask, examples(3))] == [(1, None), (None, "it burns"), (1, None)]


def test_each_example_is_asked_as_often_as_there_are_votes() -> None:
    scores = iter([0.2, 0.9, 0.4])

    async def ask(_request: ModelRequest) -> ModelReply:
        return ModelReply(data={"score": next(scores), "reason": ""}, usage=Usage())

    (found,) = asked(ask, examples(1), votes=3)
    assert (found.score, found.spread) == (0.4, pytest.approx(0.7))


def test_what_is_sent_is_masked_and_has_the_rubric_with_its_anchors_as_instructions() -> None:
    requests: list[ModelRequest] = []

    async def ask(request: ModelRequest) -> ModelReply:
        requests.append(request)
        return ModelReply(data={"score": 1, "reason": ""}, usage=Usage())

    many = [Example(line=1, material="the key is sk-123456", label=True)]
    asked(ask, many, masker=Masker(["sk-123456"]))
    (request,) = requests
    assert "the key is ***" in request.prompt
    assert "Is it clear?" in request.system
    assert "- 1: yes" in request.system


def test_it_is_told_how_far_the_asking_is() -> None:
    heard: list[int] = []

    async def ask(_request: ModelRequest) -> ModelReply:
        await anyio.sleep(0.02)
        return ModelReply(data={"score": 1, "reason": ""}, usage=Usage())

    asked(ask, examples(AT_ONCE * 4), heartbeat=Heartbeat(tell=heard.append, every=0.005))
    assert heard == sorted(heard)
    assert len(heard) > 0
    assert heard[-1] <= AT_ONCE * 4


def test_no_example_is_no_answer() -> None:
    async def ask(_request: ModelRequest) -> ModelReply:
        raise AssertionError("nobody is to be asked")

    assert asked(ask, []) == []

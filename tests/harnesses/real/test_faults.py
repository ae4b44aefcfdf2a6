"""What goes wrong with the model of a real program is told apart, and no program tries longer than it is allowed to."""

from __future__ import annotations

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.schema.transcript import Notice
from tests.harnesses.real.kit import SUBJECTS, Conversation, Fault, Subject, conversation, spent
from tests.servers.agents import AgentServer, closed_port

pytestmark = pytest.mark.anyio

PROMPT = "DO write a.txt 1\nDO say Done."


def soon_over(fault: Fault) -> pytest.MarkDecorator:
    """Run the test with each agent that does not go on trying for long."""
    agents = [one for one in SUBJECTS.values() if fault not in one.slow]
    return pytest.mark.parametrize("subject", agents, ids=lambda one: one.kind, indirect=True)


async def refused(subject: Subject, base_url: str) -> InfrastructureError:
    """Send a prompt that has to end with an infrastructure error of the model."""
    async with conversation(subject, Conversation(base_url=base_url)) as talk:
        with anyio.fail_after(60), pytest.raises(InfrastructureError) as caught:
            await talk.session.send(PROMPT)
    assert caught.value.phase == Phase.MODEL
    return caught.value


async def test_a_key_that_is_not_accepted(subject: Subject, server: AgentServer) -> None:
    error = await refused(subject, server.url(f"no-key.{subject.kind}"))
    assert not error.retryable
    assert len(server.requests(f"no-key.{subject.kind}")) <= 3


@soon_over("limited-1")
async def test_a_rate_limit_that_passes(subject: Subject, server: AgentServer) -> None:
    run = f"limited-1.{subject.kind}"
    async with conversation(subject, Conversation(base_url=server.url(run), options={"retries": 2})) as talk:
        turn = await talk.session.send(PROMPT)
    assert turn.message == "Done."
    assert turn.usage is not None
    assert turn.usage.input == spent(2).input
    assert any(isinstance(event, Notice) and event.kind == "retry" for event in turn.events) == subject.tells_retries


@soon_over("limited")
async def test_a_rate_limit_that_lasts(subject: Subject, server: AgentServer) -> None:
    run = f"limited.{subject.kind}"
    error = await refused(subject, server.url(run))
    assert error.retryable
    assert "429" in error.reason or "rate" in error.reason.lower()
    assert len(server.requests(run)) <= subject.most_tries


@soon_over("busy")
async def test_a_model_that_is_overloaded(subject: Subject, server: AgentServer) -> None:
    assert (await refused(subject, server.url(f"busy.{subject.kind}"))).retryable


@soon_over("refused")
async def test_a_model_that_is_not_there(subject: Subject) -> None:
    assert (await refused(subject, f"http://127.0.0.1:{closed_port()}")).retryable


async def test_a_context_that_overflows_is_the_agents_own_failure(subject: Subject, server: AgentServer) -> None:
    async with conversation(subject, Conversation(base_url=server.url(f"overflow.{subject.kind}"))) as talk:
        turn = await talk.session.send(PROMPT)
    assert turn.status == "failed"
    assert turn.error is not None
    assert turn.error.startswith("the context overflowed: ")


@soon_over("empty")
async def test_an_empty_answer_is_an_empty_message(subject: Subject, server: AgentServer) -> None:
    async with conversation(subject, Conversation(base_url=server.url(f"empty.{subject.kind}"))) as talk:
        turn = await talk.session.send(PROMPT)
    assert turn.message == ""

"""The real programs do what they are told, and the transcript says so."""

from __future__ import annotations

import msgspec
import pytest

from reeval.harnesses.agents.named import agent_named
from reeval.schema.transcript import Changes, Channel, FileEdit, ToolCall, Turn
from tests.harnesses.real.kit import KINDS, SUBJECTS, WANTED, Conversation, Subject, conversation, spent
from tests.servers.agents import AgentServer

pytestmark = pytest.mark.anyio

FIRST = """Greet, please.
DO write greet.py print("Hello")
DO run python3 greet.py
DO run echo oops >&2; exit 3
DO mcp demo lookup {"thing": "ahoy"}
DO say It greets.
"""
SECOND = """- and once more
DO run echo again >> greet.py; cat greet.py
DO say It greets again.
"""


def calls_of(turn: Turn, name: str) -> list[ToolCall]:
    return [call for call in turn.tool_calls if call.name == name]


async def test_two_turns(subject: Subject, server: AgentServer) -> None:
    run = f"ok.{subject.kind}"
    kind = KINDS[subject.kind]
    unreported = kind.unreported({})
    mcp = "stdio" in kind.mcp({})
    first_prompt = FIRST if mcp else FIRST.replace('DO mcp demo lookup {"thing": "ahoy"}\n', "")
    async with conversation(subject, Conversation(base_url=server.url(run), mcp=mcp)) as talk:
        before = await talk.sandbox.snapshot()
        first = await talk.session.send(first_prompt)
        changes = await talk.sandbox.changes(before, await talk.sandbox.snapshot())
        second = await talk.session.send(SECOND) if kind.resumes else None
        greets = await talk.sandbox.read("greet.py")

    assert (first.status, first.error, first.message) == ("completed", None, "It greets.")
    assert [(file.path, file.status) for file in changes.files] == [("greet.py", "added")]
    ran, failed = calls_of(first, "shell")[-2:]
    assert ran.input["command"] == "python3 greet.py"
    assert (ran.ok, ran.output.strip()) == (True if subject.exit_codes else None, "Hello")
    assert "oops" in failed.output
    if subject.exit_codes:
        assert (ran.exit_code, failed.exit_code, failed.ok) == (0, 3, False)
    assert all((call.started is not None) == (call.duration is not None) == subject.times for call in first.tool_calls)
    if mcp:
        (asked,) = calls_of(first, "mcp__demo__lookup")
        assert (asked.input, asked.output, asked.ok) == ({"thing": "ahoy"}, "ahoy-s3cret", True)
    if subject.edits:
        assert calls_of(first, "edit")
        assert FileEdit(path="greet.py", kind=subject.edits) in first.events
    used = spent(5 if mcp else 4)
    assert first.usage is not None
    assert first.usage.input == used.input
    assert first.usage.output == used.output
    assert first.usage.cache_read == used.cache_read
    assert first.usage.reasoning in {used.reasoning, 0, None}
    assert Channel.USAGE not in first.unreported
    assert (first.usage.cost is None) == (Channel.COST in first.unreported)
    assert first.model == (None if Channel.MODEL in unreported else subject.model)
    assert first.agent == f"{subject.kind} {subject.version}"

    if second is not None:
        assert (second.status, second.error, second.message) == ("completed", None, "It greets again.")
        assert first.session == second.session
        assert first.session
        assert greets == b'print("Hello")\nagain\n'
        assert second.usage is not None
        assert (second.usage.input, second.usage.output) == (spent(2).input, spent(2).output)
        assert "It greets." in str(server.requests(run)[-1].body)
    if subject.effort is not None:
        assert any("high" in str(asked.body) for asked in server.requests(run))
    assert msgspec.json.encode(first)
    assert first.changes == Changes()


async def test_a_prompt_of_any_length_and_shape_arrives(subject: Subject, server: AgentServer) -> None:
    run = f"ok.{subject.kind}.long"
    filler = "word " * 40_000 if subject.long_prompts else "word"
    async with conversation(subject, Conversation(base_url=server.url(run))) as talk:
        turn = await talk.session.send(f"--help\n$HOME 'quoted' \\ ü\n{filler}\nDO say Read.")
    assert turn.message == "Read."
    sent = str(server.requests(run)[-1].body)
    assert "--help" in sent
    assert "ü" in sent


async def test_rules_and_skills_are_read(subject: Subject, server: AgentServer) -> None:
    run, agent = f"ok.{subject.kind}.reads", agent_named(subject.kind)
    skill = b"---\nname: salute\ndescription: How the SKILLWORD is said.\n---\nSay Ahoy.\n"
    async with conversation(subject, Conversation(base_url=server.url(run))) as talk:
        await talk.sandbox.write(agent.layout.rules, b"Always say RULEWORD.\n")
        await talk.sandbox.write(f"{agent.layout.skills}/salute/SKILL.md", skill)
        await talk.session.send("DO say Read.")
    sent = str([asked.body for asked in server.requests(run)])
    assert ("RULEWORD" in sent) == ("rules" in agent.reads)
    assert ("SKILLWORD" in sent) == ("skills" in agent.reads)


def test_the_table_names_kinds_that_there_are() -> None:
    assert SUBJECTS.keys() <= set(KINDS)


def test_the_agents_that_must_be_there_have_tests() -> None:
    assert set(WANTED) <= SUBJECTS.keys(), "REEVAL_AGENTS"

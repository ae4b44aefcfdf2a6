from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.harnesses.http import KIND
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Notice, Text, ToolCall, Turn
from reeval.usage import Usage
from tests.harnesses.rooms import PlainRoom
from tests.servers.web_agent import HANG, WebAgent, answer, events, response, stream, web_agent

pytestmark = pytest.mark.anyio


def planned(agent: WebAgent, **options: Any) -> PlannedHarness:
    return PlannedHarness(id="analyst", kind="http", model="m-1", options={"url": agent.url, **options})


async def turns(room: PlainRoom, agent: WebAgent, *prompts: str, **options: Any) -> list[Turn]:
    async with KIND.open(planned(agent, **options), Path()).session(room) as session:
        return [await session.send(prompt) for prompt in prompts]


async def trouble(room: PlainRoom, *responses: bytes, **options: Any) -> InfrastructureError:
    async with web_agent(*responses) as agent:
        with pytest.raises(InfrastructureError) as caught:
            await turns(room, agent, "hi", **options)
    return caught.value


async def test_a_turn_posts_the_prompt_and_reads_the_answer(room: PlainRoom) -> None:
    given = answer(
        message="There are 3.",
        sql="SELECT count(*) FROM orders",
        model="m-1-2026",
        usage={"input": 10, "output": 5, "cost": 0.01},
        events=[{"type": "tool", "name": "mcp__db__query", "ok": True}],
    )
    async with web_agent(given) as agent:
        (turn,) = await turns(room, agent, "How many? \ud800", body={"space": "sales"})
    assert agent.requests == [
        {"prompt": "How many? ?", "session": agent.requests[0]["session"], "turn": 1, "model": "m-1", "space": "sales"}
    ]
    assert (turn.message, turn.sql, turn.status) == ("There are 3.", "SELECT count(*) FROM orders", "completed")
    assert (turn.model, turn.usage) == ("m-1-2026", Usage(input=10, output=5, cost=0.01))
    assert turn.events == (ToolCall(name="mcp__db__query", ok=True), Text(text="There are 3."))
    assert turn.unreported == ()
    assert room.started == 0


async def test_turns_share_a_session_which_the_agent_may_name(room: PlainRoom) -> None:
    async with web_agent(answer(message="a", session="its-own"), answer(message="b")) as agent:
        found = await turns(room, agent, "one", "two")
        again = await turns(room, agent, "one")
    assert [request["turn"] for request in agent.requests] == [1, 2, 1]
    assert agent.requests[1]["session"] == "its-own"
    assert agent.requests[0]["session"] == agent.requests[2]["session"]
    assert [turn.session for turn in (*found, *again)] == ["its-own", "its-own", agent.requests[0]["session"]]


END = b"0\r\n\r\n"
"""Of a chunked body."""
STREAM = events(
    {"type": "tool", "name": "query", "ok": True},
    {"type": "message", "text": "Füñf."},
    {"type": "sql", "query": "SELECT 1"},
    {"type": "sql", "query": "SELECT 5"},
    {"type": "usage", "input": 1, "output": 2},
    {"type": "done"},
)


@pytest.mark.parametrize("parts", [(), (1, 2, 7, 50, 51), range(1, len(STREAM))])
async def test_a_stream_is_read_wherever_it_is_cut(room: PlainRoom, parts: Any) -> None:
    async with web_agent(stream(STREAM, parts)) as agent:
        (turn,) = await turns(room, agent, "hi")
    assert (turn.message, turn.sql, turn.usage) == ("Füñf.", "SELECT 5", Usage(input=1, output=2))


@pytest.mark.parametrize(
    "body",
    [
        b': hello\r\n\r\nevent: message\r\ndata: {"text": "x"}\r\n\r\ndata: {"type": "done"}\r\n\r\n',
        b'data: {"type": "message",\ndata:  "text": "x"}\n\nid: 7\nretry: 10\ndata: [DONE]\n\n',
        b'data: {"type": "message", "text": "x"}\n\ndata: {"type": "done"}',
    ],
)
async def test_every_form_of_server_sent_events_is_read(room: PlainRoom, body: bytes) -> None:
    async with web_agent(stream(body)) as agent:
        (turn,) = await turns(room, agent, "hi")
    assert (turn.message, turn.events) == ("x", (Text(text="x"),))


async def test_lines_of_events_are_a_stream_too(room: PlainRoom) -> None:
    lines = b'{"type": "message", "text": "x"}\n{"type": "done"}\n'
    async with web_agent(response(200, lines, "application/x-ndjson")) as agent:
        (turn,) = await turns(room, agent, "hi")
    assert turn.message == "x"


async def test_a_stream_ends_with_done_though_the_connection_stays_open(room: PlainRoom) -> None:
    async with web_agent(stream(STREAM).removesuffix(END) + HANG) as agent:
        (turn,) = await turns(room, agent, "hi")
    assert turn.sql == "SELECT 5"


async def test_an_agent_that_gives_up_is_a_failed_turn(room: PlainRoom) -> None:
    async with web_agent(answer(error="I cannot"), stream(events({"type": "error", "message": "no"}))) as agent:
        found = await turns(room, agent, "hi", "again")
    assert [(turn.status, turn.error) for turn in found] == [("failed", "I cannot"), ("failed", "no")]


async def test_a_turn_that_takes_too_long_is_a_failed_turn(room: PlainRoom) -> None:
    began = time.monotonic()
    async with web_agent(HANG, stream(events({"type": "message", "text": "so far"})).removesuffix(END) + HANG) as agent:
        found = await turns(room, agent, "hi", "again", turn_timeout=0.3)
    assert [turn.error for turn in found] == ["no end within 0.3 s (turn_timeout)"] * 2
    assert time.monotonic() - began < 10


async def test_cancelling_ends_a_turn(room: PlainRoom) -> None:
    async with web_agent(HANG) as agent:
        with anyio.move_on_after(0.2) as scope:
            await turns(room, agent, "hi")
    assert scope.cancelled_caught


async def test_secrets_of_headers_come_from_the_agents_variables(tmp_path: Path) -> None:
    room = PlainRoom(tmp_path, env={"KEY": "s3cret"})
    async with web_agent(answer(message="x")) as agent:
        await turns(room, agent, "hi", headers={"Authorization": "Bearer ${KEY}"})
    assert agent.headers[0]["authorization"] == "Bearer s3cret"


async def test_a_header_without_its_variable_says_where_it_goes(room: PlainRoom) -> None:
    failure = await trouble(room, answer(), headers={"X-Key": "${KEY}"})
    assert failure.phase is Phase.HARNESS
    assert "the header 'X-Key' names KEY, which is no variable of the agent; give it in env" in failure.reason


@pytest.mark.parametrize("value", ["schlüssel", "s3cret\n", "a\0b", "\udcff"])
async def test_a_header_that_cannot_be_sent_is_not_quoted(tmp_path: Path, value: str) -> None:
    room = PlainRoom(tmp_path, env={"KEY": value})
    failure = await trouble(room, answer(), headers={"X-Key": "Bearer ${KEY}"})
    assert failure.phase is Phase.HARNESS
    assert failure.reason == (
        "the header 'X-Key' holds characters that no header has; correct it, or set the variable that it names again"
    )


WAIT = "retry-after: 0"

TROUBLE = [
    (response(401, b"who?"), Phase.HARNESS, 'the agent refused the key (401: "who?"); correct the headers'),
    (response(403, b""), Phase.HARNESS, "the agent refused the key (403); correct the headers"),
    (response(404, b"no"), Phase.HARNESS, 'the agent was not found (404: "no"); correct the url'),
    (response(302, b"", "text/html", "location: http://127.0.0.1:1/x"), Phase.HARNESS, "with a redirect to"),
    (response(422, b'{"detail": "prompt?"}'), Phase.HARNESS, "the agent refused the request (422: "),
    (response(429, b"slow down", "text/plain", WAIT), Phase.MODEL, "too many requests after 3 tries (429: "),
    (response(429, b"", "text/plain", "retry-after: 3600"), Phase.MODEL, "the agent has too many requests (429)"),
    (response(500, b"boom"), Phase.HARNESS, 'the agent failed (500: "boom"); look into its log'),
    (response(503, b"later", "text/plain", WAIT), Phase.HARNESS, 'the agent failed after 3 tries (503: "later")'),
    (response(200, b""), Phase.HARNESS, "the agent answered with nothing"),
    (response(204, b""), Phase.HARNESS, "the agent answered with nothing"),
    (response(200, b"<html>Hello</html>", "text/html"), Phase.HARNESS, 'not JSON: "<html>Hello</html>"'),
    (response(200, b'{"message": "cut'), Phase.HARNESS, "not JSON"),
    (response(200, b"[1, 2]"), Phase.HARNESS, "JSON of another shape"),
    (response(200, b'{"message": 5}'), Phase.HARNESS, "(Expected `str`, got `int` - at `$.message`)"),
    (response(200, b'{"message": "x"}', length=99), Phase.HARNESS, "the agent broke the connection"),
    (response(200, b'{"message": "' + b"x" * (17 << 20) + b'"}'), Phase.HARNESS, "more than 16 MB"),
    (b"", Phase.HARNESS, "the agent broke the connection"),
    (b"not http at all\r\n\r\n", Phase.HARNESS, "the agent broke the connection"),
    (stream(events({"type": "message", "text": "half"})), Phase.HARNESS, "stream ended without a 'done' event"),
    (stream(STREAM)[:-200], Phase.HARNESS, "the agent broke the connection"),
    (
        stream(events({"type": "error", "message": "no quota", "kind": "provider"}, {"type": "done"})),
        Phase.MODEL,
        "no quota",
    ),
    (answer(error={"message": "no quota", "kind": "provider"}), Phase.MODEL, "no quota"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "phase", "said"), TROUBLE, ids=lambda it: it[:40] if isinstance(it, str) else "")
async def test_what_is_no_answer_is_told_with_whose_fault_it_is(
    room: PlainRoom, given: bytes, phase: Phase, said: str
) -> None:
    failure = await trouble(room, given)
    assert said in failure.reason
    assert failure.phase is phase
    assert len(failure.reason) < 1000


async def test_an_agent_that_is_not_there_is_told(room: PlainRoom) -> None:
    async with web_agent() as agent:
        pass
    with pytest.raises(
        InfrastructureError, match=r"the agent could not be reached .*; check that it runs, and the url"
    ):
        await turns(room, agent, "hi", retries=0)


async def test_a_server_that_is_busy_for_a_moment_is_asked_again(room: PlainRoom) -> None:
    busy = response(503, b"", "text/plain", WAIT)
    async with web_agent(busy, busy, answer(message="now")) as agent:
        (turn,) = await turns(room, agent, "hi")
    assert turn.message == "now"
    assert len(agent.requests) == 3


async def test_a_prompt_is_not_sent_again_once_the_agent_may_have_acted(room: PlainRoom) -> None:
    async with web_agent(response(200, b"{", length=9), response(500, b"")) as agent:
        for _ in range(2):
            with pytest.raises(InfrastructureError):
                await turns(room, agent, "hi")
    assert len(agent.requests) == 2


async def test_odd_events_are_notes_and_5_mb_are_read(room: PlainRoom) -> None:
    big = json.dumps({"type": "message", "text": "x" * 5_000_000}).encode()
    body = b"data: what?\n\ndata: " + big + b"\n\n" + events({"type": "new thing"}, {"type": "done"})
    async with web_agent(stream(body), answer(message="y" * 5_000_000)) as agent:
        found = await turns(room, agent, "hi", "again")
    notes = [event.message for event in found[0].events if isinstance(event, Notice)]
    assert [note[:20] for note in notes] == ["not JSON: what?", 'no known type: {"typ', "1 lines of more than"]
    assert Channel.TOOLS in found[0].unreported
    assert len(found[1].message) < 2_000_100


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "localhost:80"}, "a url such as 'http://localhost:8000/ask', not 'localhost:80'"),
        ({"url": "http://h/", "retries": -1}, "retries from 0 to 10, not -1"),
        ({"url": "http://h/", "turn_timeout": 0.0}, "a turn_timeout of more than 0 seconds, not 0.0"),
        ({"url": "http://h/", "body": {"prompt": "x"}}, "a body without 'prompt', which each turn sets"),
        ({}, "missing required field `url`"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KIND.open(PlannedHarness(id="a", kind="http", options=options), Path())
    assert said in str(caught.value)

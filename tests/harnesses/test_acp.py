"""Any agent that speaks the Agent Client Protocol: a scripted one, as a real process."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.harnesses.acp import KIND
from reeval.protocols import Session
from reeval.schema.environment import McpServer
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, FileEdit, Notice, Reasoning, Text, ToolCall, Turn
from tests.harnesses.rooms import PlainRoom

pytestmark = pytest.mark.anyio

AGENT = Path(__file__).parents[1] / "servers" / "acp_agent.py"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Room(PlainRoom):
    mcp: Mapping[str, McpServer] = {}


def planned(own: Mapping[str, Any] | None = None, **more: Any) -> PlannedHarness:
    command = [sys.executable, str(AGENT), json.dumps(own or {})]
    options = {"command": command, **{key: it for key, it in more.items() if key not in {"model", "effort"}}}
    chosen = {key: it for key, it in more.items() if key in {"model", "effort"}}
    return PlannedHarness(id="x", kind="acp", options=options, **chosen)


@asynccontextmanager
async def talking(harness: PlannedHarness, room: Room, top: Path) -> AsyncIterator[Session]:
    with anyio.fail_after(30):
        async with KIND.open(harness, top).session(room) as session:
            yield session


def gone(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


async def said(session: Session, *steps: list[Any]) -> Turn:
    return await session.send(json.dumps(steps))


async def test_one_process_and_one_session_hold_all_turns(tmp_path: Path) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        first = await said(session, ["heard"])
        second = await said(session, ["heard"])
    *heard, process = json.loads(first.message)
    assert [method for method, _ in heard] == ["initialize", "session/new"]
    assert heard[1][1]["cwd"] == str(tmp_path / "workspace")
    assert json.loads(second.message)[-1] == process
    assert (first.agent, first.session, second.session) == ("scripted 1.0", "s1", "s1")
    assert gone(process)


async def test_pieces_become_messages_and_thoughts(tmp_path: Path) -> None:
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(session, ["say", "Let"], ["say", " me."], ["tell", thought], ["say", "Do"], ["say", "ne."])
        empty = await said(session)
    assert turn.events == (Text(text="Let me."), Reasoning(text="hm"), Text(text="Done."))
    assert (turn.status, turn.message) == ("completed", "Done.")
    assert (empty.events, empty.message) == ((), "")
    assert {Channel.USAGE, Channel.COST, Channel.MODEL, Channel.MCP} <= set(turn.unreported)


def call(id: str, **told: Any) -> list[Any]:
    return ["tell", {"sessionUpdate": told.pop("update", "tool_call_update"), "toolCallId": id, **told}]


def tools(turn: Turn) -> list[tuple[Any, ...]]:
    return [(one.name, one.native, one.input, one.output, one.ok, one.exit_code) for one in turn.tool_calls]


def block(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


async def test_updates_of_a_call_add_up_to_one_call(tmp_path: Path) -> None:
    shell = {"command": "exit 3"}
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(
            session,
            call("1", update="tool_call", title="bash", kind="execute", status="pending", rawInput={}),
            call("1", status="in_progress", title="exit 3", rawInput=shell, content=[block("oo")]),
            call("1", status="completed", content=[block("oops")], rawOutput={"metadata": {"exit": 3}}),
            call("2", update="tool_call", title="true", kind="execute", status="in_progress", content=[block("where")]),
            call("2", status="completed", content=[]),
            call("3", update="tool_call", title="Reading a.txt", kind="read", status="failed", content=[block("no")]),
            call("4", update="tool_call", title="Asking around", kind="other", status="in_progress"),
        )
    assert tools(turn) == [
        ("shell", "bash", shell, "oops", False, 3),
        ("shell", None, {"command": "true"}, "", None, None),
        ("read", None, {"title": "Reading a.txt"}, "no", False, None),
        ("other", None, {"title": "Asking around"}, "", None, None),
    ]


async def test_calls_have_their_times_in_their_turn(tmp_path: Path) -> None:
    steps = (
        call("1", update="tool_call", title="sleep", kind="execute", status="in_progress"),
        ["pause", 0.2],
        call("2", title="ls", kind="execute", status="completed"),
        call("1", status="completed"),
    )
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        for _ in range(2):
            began = time.monotonic()
            inner, outer = (await said(session, *steps)).tool_calls
            took = time.monotonic() - began
            (begin, length), (inner_begin, inner_length) = times_of(outer), times_of(inner)
            assert 0 <= begin <= inner_begin - 0.19
            assert inner_begin + inner_length <= begin + length + 0.001
            assert begin + length <= took
            await anyio.sleep(0.5)


def times_of(call: ToolCall) -> tuple[float, float]:
    assert call.started is not None
    assert call.duration is not None
    return call.started, call.duration


async def test_edits_are_told_with_their_paths(tmp_path: Path) -> None:
    place = f"{tmp_path}/workspace"
    new = {"type": "diff", "path": f"{place}/new.txt", "oldText": "", "newText": "x"}
    old = {"type": "diff", "path": f"{place}/sub/old.txt", "oldText": "a", "newText": "b"}
    gone = [{"path": f"{place}/gone.txt"}]
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(
            session,
            call("1", kind="edit", title="Write", status="completed", content=[new, old]),
            call("2", kind="delete", title="Delete", status="completed", locations=gone),
            call("3", kind="edit", title="Edit", status="failed", content=[old]),
        )
    assert [event for event in turn.events if isinstance(event, FileEdit)] == [
        FileEdit(path="new.txt", kind="create"),
        FileEdit(path="sub/old.txt", kind="modify"),
        FileEdit(path="gone.txt", kind="delete"),
    ]


async def test_an_mcp_servers_tool_is_known_by_its_name(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.mcp = {
        "demo": McpServer(kind="stdio", command=("python3", "-m", "demo"), env={"A": "1"}),
        "far": McpServer(kind="http", url="http://127.0.0.1:9/mcp", headers={"B": "2"}),
    }
    told = {"title": "demo_look_up", "kind": "other", "status": "completed", "rawInput": {"q": 1}}
    async with talking(planned(), room, tmp_path) as session:
        turn = await said(session, call("1", **told), ["heard"])
    assert tools(turn)[0] == ("mcp__demo__look_up", "demo_look_up", {"q": 1}, "", True, None)
    assert json.loads(turn.message)[1][1]["mcpServers"] == [
        {"name": "demo", "command": "python3", "args": ["-m", "demo"], "env": [{"name": "A", "value": "1"}]},
        {
            "type": "http",
            "name": "far",
            "url": "http://127.0.0.1:9/mcp",
            "headers": [{"name": "B", "value": "2"}],
        },
    ]


ALLOW = {"optionId": "for-ever", "kind": "allow_always"}
ONCE = {"optionId": "now", "kind": "allow_once"}
NEVER = {"optionId": "no", "kind": "reject_once"}


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ([NEVER, ALLOW, ONCE], {"outcome": "selected", "optionId": "now"}),
        ([NEVER, ALLOW], {"outcome": "selected", "optionId": "for-ever"}),
        ([NEVER], {"outcome": "cancelled"}),
    ],
    ids=["once", "always", "neither"],
)
async def test_permission_is_given(tmp_path: Path, options: list[Any], outcome: Any) -> None:
    params = {"toolCall": {"toolCallId": "1", "title": "ls", "kind": "execute"}, "options": options}
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(
            session, ["ask", "session/request_permission", params], call("1", status="completed", rawOutput="a.txt")
        )
    assert json.loads(turn.message) == {"outcome": outcome}
    # The request was the first that was told of this call.
    assert tools(turn) == [("shell", None, {"command": "ls"}, "a.txt", None, None)]


async def test_what_is_unknown_is_refused_left_out_or_noted(tmp_path: Path) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(
            session,
            ["ask", "brand/new", {}],
            ["tell", {"sessionUpdate": "brand_new", "x": [1]}],
            ["tell", {"sessionUpdate": "tool_call", "toolCallId": 3, "content": 7, "locations": "x"}],
            ["print", "Warning: half a line"],
            ["print", "\n[]\n{\n\n"],
            ["say", "Done."],
        )
    (answer, _) = [event.text for event in turn.events if isinstance(event, Text)]
    assert json.loads(answer)["code"] == -32601
    assert turn.message == "Done."
    notes = [event.message for event in turn.events if isinstance(event, Notice)]
    assert notes == ["no JSON object: Warning: half a line", "no JSON object: []", "no JSON object: {"]


async def test_a_message_of_any_size_is_kept_within_bounds(tmp_path: Path) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(
            session,
            ["say-long", 20_000_000],
            call("1", title="t", kind="other", status="completed", content=[block("y" * 3_000_000)]),
        )
    assert len(turn.message) < 2_100_000
    assert len(turn.tool_calls[0].output) < 210_000


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("refusal", "the agent refused to go on (refusal)"),
        ("max_tokens", "the answer was cut: it has as many tokens as the model may give (max_tokens)"),
        ("max_turn_requests", "the agent called its model as often as it may in a turn (max_turn_requests)"),
        ("brand_new", "the agent ended its turn with 'brand_new'"),
    ],
)
async def test_an_end_without_success_is_a_failed_turn(tmp_path: Path, reason: str, error: str) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        turn = await said(session, ["say", "Well."], ["stop", reason])
    assert (turn.status, turn.error, turn.message) == ("failed", error, "Well.")


async def test_errors_of_the_model_are_told_apart(tmp_path: Path) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        with pytest.raises(InfrastructureError, match="429 Rate limit") as limited:
            await said(session, ["error", -32603, "429 Rate limit reached"])
        overflow = await said(session, ["error", 400, "The input token count (9) exceeds the maximum"])
        with pytest.raises(InfrastructureError, match="is not logged in") as login:
            await said(session, ["error", -32000, "Authentication required"])
        assert (await said(session, ["say", "Still here."])).message == "Still here."
    assert (limited.value.phase, limited.value.retryable) == (Phase.MODEL, True)
    assert (overflow.status, (overflow.error or "")[:24]) == ("failed", "the context overflowed: ")
    assert login.value.phase == Phase.HARNESS


async def test_an_agent_that_dies_is_no_failed_turn(tmp_path: Path) -> None:
    async with talking(planned(), Room(tmp_path), tmp_path) as session:
        with pytest.raises(InfrastructureError, match="exit code 7: out of luck") as died:
            await said(session, ["say", "Well."], ["print", '{"half": "a l'], ["die", 7])
        with pytest.raises(InfrastructureError, match="session/prompt") as again:
            await said(session, ["say", "x"])
    assert (died.value.phase, again.value.phase) == (Phase.HARNESS, Phase.HARNESS)


async def test_a_turn_that_takes_too_long_is_cancelled_and_the_next_one_goes_on(tmp_path: Path) -> None:
    async with talking(planned(turn_timeout=0.5), Room(tmp_path), tmp_path) as session:
        late = await said(session, ["say", "Wait."], ["wait"])
        next_one = await said(session, ["say", "Here."])
    assert (late.status, late.error, late.message) == ("failed", "no end within 0.5 s (turn_timeout)", "Wait.")
    assert next_one.message == "Here."


async def test_an_agent_that_does_not_let_itself_be_cancelled_is_ended(tmp_path: Path) -> None:
    async with talking(planned(turn_timeout=0.5), Room(tmp_path), tmp_path) as session:
        late = await said(session, ["say", "Wait."], ["sleep"])
        with pytest.raises(InfrastructureError, match="killed by SIGKILL"):
            await said(session, ["say", "x"])
    assert (late.status, late.error) == ("failed", "no end within 0.5 s (turn_timeout)")


async def test_a_cancelled_attempt_leaves_no_process(tmp_path: Path) -> None:
    process = 0
    with anyio.move_on_after(20) as scope:
        async with talking(planned(), Room(tmp_path), tmp_path) as session:
            process = json.loads((await said(session, ["heard"])).message)[-1]
            scope.cancel()
            await said(session, ["sleep"])
    assert scope.cancelled_caught
    assert gone(process)


OPTIONS = [
    {"id": "m", "category": "model", "type": "select", "currentValue": "a", "options": []},
    {"id": "t", "category": "thought_level", "type": "select", "currentValue": "low", "options": []},
]


async def chosen(tmp_path: Path, new: Any, **more: Any) -> list[Any]:
    harness = planned({"session/new": {"sessionId": "s1", **new}}, **more)
    async with talking(harness, Room(tmp_path), tmp_path) as session:
        heard: list[Any] = json.loads((await said(session, ["heard"])).message)[2:-1]
    return heard


async def test_model_effort_and_mode_are_chosen_where_the_agent_offers_it(tmp_path: Path) -> None:
    heard = await chosen(tmp_path, {"configOptions": OPTIONS}, model="b", effort="high", mode="yolo")
    assert heard == [
        ["session/set_mode", {"sessionId": "s1", "modeId": "yolo"}],
        ["session/set_config_option", {"sessionId": "s1", "configId": "m", "value": "b"}],
        ["session/set_config_option", {"sessionId": "s1", "configId": "t", "value": "high"}],
    ]


async def test_older_agents_offer_models_in_their_own_list(tmp_path: Path) -> None:
    heard = await chosen(tmp_path, {"models": {"availableModels": []}}, model="b")
    assert heard == [["session/set_model", {"sessionId": "s1", "modelId": "b"}]]


@pytest.mark.parametrize(
    ("own", "more", "message"),
    [
        ({}, {"model": "b"}, "the agent offers no choice of model; drop model"),
        ({"session/new": {"sessionId": "s1", "models": {}}}, {"effort": "x"}, "the agent offers no choice of effort"),
        ({"initialize": {"protocolVersion": 2}}, {}, "the agent speaks version 2 of the protocol, not 1"),
        (
            {
                "initialize": {"protocolVersion": 1, "authMethods": [{"id": "api-key"}, {"id": "browser"}]},
                "session/new": {"error": {"code": -32000, "message": "Authentication required"}},
            },
            {},
            "set auth, which may be api-key, browser",
        ),
        (
            {"session/set_mode": {"error": {"code": -32602, "message": "Invalid params", "data": {"why": "no yolo"}}}},
            {"mode": "yolo"},
            'the agent answered session/set_mode with an error: Invalid params {"why":"no yolo"}',
        ),
    ],
)
async def test_a_session_that_cannot_be_as_wished_does_not_start(
    tmp_path: Path, own: Any, more: Any, message: str
) -> None:
    with pytest.raises(InfrastructureError) as caught:
        async with talking(planned(own, **more), Room(tmp_path), tmp_path):
            pytest.fail("it started")
    assert message in caught.value.reason
    assert caught.value.reason.startswith("[harness.x]: ")
    assert caught.value.phase == Phase.HARNESS


async def test_logging_in_is_asked_for_by_name(tmp_path: Path) -> None:
    async with talking(planned(auth="api-key"), Room(tmp_path), tmp_path) as session:
        heard = json.loads((await said(session, ["heard"])).message)
    assert heard[1] == ["authenticate", {"methodId": "api-key"}]


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    harness = PlannedHarness(id="x", kind="acp", options={"command": "no-such-agent --acp"})
    with pytest.raises(InfrastructureError, match=r"\[harness.x\].*no-such-agent.*correct 'command'"):
        async with talking(harness, Room(tmp_path), tmp_path):
            pytest.fail("it started")


async def test_variables_and_files_reach_the_agent(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("hi")
    command = f"test $A$B = 12 && test $(cat ~/n.txt) = hi && exec {shlex.join([sys.executable, str(AGENT)])}"
    options = {"command": command, "env": {"B": "2"}, "files": {"~/n.txt": "note.txt"}}
    (tmp_path / "room").mkdir()
    room = Room(tmp_path / "room", env={"A": "1"})
    async with talking(PlannedHarness(id="x", kind="acp", options=options), room, tmp_path) as session:
        assert (await said(session, ["say", "Here."])).message == "Here."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"command": []}, "a command with a program"),
        ({"command": "x", "turn_timeout": 0}, "a turn_timeout of more than 0 seconds"),
        ({"command": "x", "version": "1.0"}, "a version only with install"),
        ({"command": "x", "layout": "gemni"}, "'gemini'"),
        ({"command": "x", "install": "word"}, "install"),
    ],
)
def test_options_that_cannot_be_used_are_refused(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        KIND.open(PlannedHarness(id="x", kind="acp", options=options), tmp_path)

"""A conversation with an agent's program, whatever that does: the real thing is a shell script here."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase, UsageError
from reeval.harnesses.agents.agent import AgentFile, Call, Ending, Invocation
from reeval.harnesses.codex import AGENT, Translator
from reeval.schema.environment import McpServer
from reeval.schema.transcript import Notice
from reeval.usage import Usage
from tests.harnesses.agents.scripted import (
    DONE,
    STARTED,
    ScriptedRoom,
    printing,
    program,
    said,
    scripted,
    talking,
)

pytestmark = pytest.mark.anyio

FAILED = {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}}


async def test_a_finished_turn(tmp_path: Path) -> None:
    async with talking(tmp_path, printing(STARTED, said("one"), said("two"), DONE)) as session:
        turn = await session.send("go")
    assert (turn.status, turn.message, turn.session, turn.agent) == ("completed", "two", "t1", "codex 9.8.7")
    assert turn.usage == Usage(input=6, output=3, cache_read=4)


async def test_it_reads_the_prompt_and_goes_on_by_its_id(tmp_path: Path) -> None:
    script = f'echo "$@" >> "$HOME/args"; cat >> "$HOME/prompts"; {printing(STARTED, DONE)}'
    async with talking(tmp_path, script) as session:
        for prompt in ("--help 'one'\n", "two\n"):
            await session.send(prompt)
    home = tmp_path / "room" / "home"
    assert (home / "prompts").read_text() == "--help 'one'\ntwo\n"
    first, second = (home / "args").read_text().splitlines()
    assert first.startswith("exec --json")
    assert second.startswith("exec resume --json")
    assert second.endswith("t1 -")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (printing(STARTED, "Warning: not JSON", said("ok"), DONE), "ok"),
        (printing(STARTED, said("ok"), DONE, then='printf \'{"type": "ite\''), "ok"),
        (printing(STARTED, {"type": "new.thing"}, {**said("ok"), "new": {"a": 1}}, DONE), "ok"),
        (printing(STARTED, said("ok"), DONE, then="exit 1"), "ok"),
        (printing(STARTED, said("ok"), DONE, then="kill -9 $$"), "ok"),
        (printing(STARTED, DONE), ""),
    ],
    ids=["not JSON", "half a line", "unknown events", "exit 1 after the end", "killed after the end", "no message"],
)
async def test_what_is_odd_does_not_make_a_finished_turn_less(tmp_path: Path, script: str, message: str) -> None:
    async with talking(tmp_path, script) as session:
        turn = await session.send("go")
    assert (turn.status, turn.message, turn.error) == ("completed", message, None)


async def test_what_is_not_json_is_a_note(tmp_path: Path) -> None:
    async with talking(tmp_path, printing("Warning", STARTED, DONE, then="printf half")) as session:
        turn = await session.send("go")
    assert [event.message for event in turn.events if isinstance(event, Notice)] == [
        "no JSON object: Warning",
        "no JSON object: half",
    ]


async def test_an_event_of_20_mb_is_kept_but_for_its_middle(tmp_path: Path) -> None:
    item = {"id": "i", "type": "command_execution", "command": "cat big", "exit_code": 0, "status": "completed"}
    big = tmp_path / "big.json"
    big.write_text(
        json.dumps({"type": "item.completed", "item": {**item, "aggregated_output": "x" * 20_000_000}}) + "\n"
    )
    async with talking(tmp_path, printing(STARTED, then=f"cat {big}; {printing(said('ok'), DONE)}")) as session:
        turn = await session.send("go")
    (call,) = turn.tool_calls
    assert (turn.message, call.exit_code, call.input) == ("ok", 0, {"command": "cat big"})
    assert 100_000 < len(call.output) < 300_000
    assert "characters left out" in call.output


@pytest.mark.parametrize(
    ("script", "phase", "words"),
    [
        (printing(STARTED, FAILED, then="exit 0"), Phase.MODEL, "codex: unexpected status 401"),
        (printing(STARTED, FAILED, then="exit 1"), Phase.MODEL, "codex: unexpected status 401"),
        (printing(STARTED, said("hm"), then="echo boom >&2; exit 3"), Phase.HARNESS, "exit code 3: boom"),
        (printing(STARTED, said("hm")), Phase.HARNESS, "without saying how its turn ended: exit code 0"),
        (printing(STARTED, then="kill -SEGV $$"), Phase.HARNESS, "killed by SIGSEGV"),
        ("exec /no/such/interpreter", Phase.HARNESS, "exit code 127"),
    ],
    ids=["error and exit 0", "error and exit 1", "died", "ended early", "crashed", "not there"],
)
async def test_an_end_that_is_not_the_agents_is_an_error(tmp_path: Path, script: str, phase: Phase, words: str) -> None:
    async with talking(tmp_path, script) as session:
        with pytest.raises(InfrastructureError) as caught:
            await session.send("go")
    assert caught.value.phase == phase
    assert words in caught.value.reason


async def test_a_call_without_an_end_is_kept(tmp_path: Path) -> None:
    item = {"id": "i", "type": "command_execution", "command": "/bin/bash -lc 'sleep 9'"}
    async with talking(tmp_path, printing(STARTED, {"type": "item.started", "item": item}, DONE)) as session:
        turn = await session.send("go")
    (call,) = turn.tool_calls
    assert (call.name, call.input, call.ok, call.duration) == ("shell", {"command": "sleep 9"}, None, None)


async def test_an_overflow_is_a_failed_turn(tmp_path: Path) -> None:
    event = {"type": "turn.failed", "error": {"message": "Codex ran out of room in the model's context window."}}
    async with talking(tmp_path, printing(STARTED, event, then="exit 1")) as session:
        turn = await session.send("go")
    assert (turn.status, turn.error) == ("failed", f"the context overflowed: {event['error']['message']}")  # type: ignore[index]


@pytest.mark.parametrize("script", ["trap '' TERM INT; while :; do sleep 1; done", "sleep 1000"])
async def test_a_program_that_ignores_signals_is_ended_at_the_limit_of_a_turn(tmp_path: Path, script: str) -> None:
    began = time.monotonic()
    async with talking(tmp_path, printing(STARTED, said("so far"), then=script), turn_timeout=1.5) as session:
        turn = await session.send("go")
    assert (turn.status, turn.message, turn.error) == ("failed", "so far", "no end within 1.5 s (turn_timeout)")
    assert time.monotonic() - began < 20


async def test_a_program_that_goes_on_after_its_end_is_ended(tmp_path: Path) -> None:
    script = printing(STARTED, said("ok"), DONE, then="trap '' TERM; while :; do sleep 1; done")
    with anyio.fail_after(20):
        async with talking(tmp_path, script) as session:
            turn = await session.send("go")
    assert turn.status == "completed"


async def test_a_limit_while_the_model_is_not_to_be_had_is_the_models(tmp_path: Path) -> None:
    retry = {"type": "error", "message": "Reconnecting... 1/3 (status 503)"}
    async with talking(tmp_path, printing(STARTED, retry, then="sleep 1000"), turn_timeout=1.5) as session:
        with pytest.raises(InfrastructureError, match=r"no end within 1.5 s .*; last: Reconnecting... 1/3") as caught:
            await session.send("go")
    assert caught.value.phase == Phase.MODEL


async def test_waiting_for_a_network_for_ever_is_an_unreachable_model(tmp_path: Path) -> None:
    waits = {"type": "error", "message": "Reconnecting... waiting for network (Connection failed)"}
    with anyio.fail_after(20):
        async with talking(tmp_path, printing(STARTED, waits, waits, waits, then="sleep 1000")) as session:
            with pytest.raises(InfrastructureError, match="waiting for network") as caught:
                await session.send("go")
    assert (caught.value.phase, caught.value.retryable) == (Phase.MODEL, True)


async def test_only_the_first_turn_may_be_tried_again(tmp_path: Path) -> None:
    busy = {"type": "turn.failed", "error": {"message": "unexpected status 503 Service Unavailable"}}
    script = f'if [ -e "$HOME/x" ]; then {printing(STARTED, busy)}\nelse touch "$HOME/x"; {printing(STARTED, DONE)}\nfi'
    async with talking(tmp_path, script) as session:
        await session.send("one")
        with pytest.raises(InfrastructureError) as caught:
            await session.send("two")
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("message", "retryable"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", True),
        ("unexpected status 503 Service Unavailable", True),
        ("Selected model is at capacity. Please try a different model.", True),
        ("stream disconnected before completion", True),
        ("Quota exceeded. Check your plan and billing details. (429)", False),
        ("unexpected status 401 Unauthorized", False),
        ("The model `nope` does not exist", False),
    ],
)
async def test_what_may_pass_is_tried_again(tmp_path: Path, message: str, retryable: bool) -> None:
    event = {"type": "turn.failed", "error": {"message": message}}
    async with talking(tmp_path, printing(STARTED, event)) as session:
        with pytest.raises(InfrastructureError) as caught:
            await session.send("go")
    assert caught.value.retryable is retryable


async def start(top: Path, agent_program: str, *, env: dict[str, str] | None = None, **options: Any) -> str:
    """Start a conversation that has to be refused, and return why."""
    harness = scripted(agent_program, **options)
    with pytest.raises(InfrastructureError) as caught:
        async with harness.session(ScriptedRoom(top / "room", env=env)):
            pass
    assert caught.value.phase == Phase.HARNESS
    return caught.value.reason


async def test_a_missing_program_is_named_with_the_next_step(tmp_path: Path) -> None:
    assert await start(tmp_path, "no-such-codex") == (
        "[harness.x]: there is no program 'no-such-codex' in the sandbox; write install = true to have @openai/codex "
        "installed, or program = its absolute path in there"
    )


async def test_another_version_is_named_with_the_next_step(tmp_path: Path) -> None:
    path = program(tmp_path, "")
    assert await start(tmp_path, path, version="9.9.9") == (
        f"[harness.x]: {path} is version 9.8.7, not the 9.9.9 that is asked for; change version, or write "
        "install = true in place of program"
    )
    silent = program(tmp_path / "b", "", always="exit 1")
    assert f"{silent} tells no version, not the 9.9.9" in await start(tmp_path / "b", silent, version="9.9.9")


async def test_an_agent_without_a_key_is_not_started(tmp_path: Path) -> None:
    path = program(tmp_path, "touch started")
    assert await start(tmp_path, path, env={}) == (
        "[harness.x]: codex is not logged in: the agent has no variable OPENAI_API_KEY; declare it, such as "
        'env = {OPENAI_API_KEY = {from = "OPENAI_API_KEY"}} in [defaults], and export it'
    )
    assert "the agent has no variable MINE" in await start(tmp_path / "b", path, env={}, key="MINE")


async def test_the_key_is_handed_over_by_the_name_that_the_program_knows(tmp_path: Path) -> None:
    harness = scripted(program(tmp_path, f'echo "$OPENAI_API_KEY" > "$HOME/key"; {printing(DONE)}'), key="MINE")
    room = ScriptedRoom(tmp_path / "room", env={"MINE": "sk-mine"})
    async with harness.session(room) as session:
        await session.send("go")
    assert room.file("~/key") == "sk-mine\n"


async def test_a_version_is_asked_for_once(tmp_path: Path) -> None:
    counted = f'if [ "$1" = --version ]; then echo x >> {tmp_path}/asked; fi'
    harness = scripted(program(tmp_path, printing(DONE), always=counted))
    for number in range(3):
        async with harness.session(ScriptedRoom(tmp_path / str(number))) as session:
            assert (await session.send("go")).agent == "codex 9.8.7"
    assert (tmp_path / "asked").read_text() == "x\n"


async def test_an_agent_that_cannot_resume_gets_one_prompt(tmp_path: Path) -> None:
    async with talking(tmp_path, printing(STARTED, DONE), replace(AGENT, resumes=False)) as session:
        await session.send("one")
        with pytest.raises(UsageError, match="codex cannot go on with a conversation; send it everything in one"):
            await session.send("two")


class ResultTranslator(Translator):
    """Reads what the program left in a file."""

    def end(self, ending: Ending) -> Any:
        yield from self.lines([ending.result or b"", json.dumps(DONE).encode()])


def invoke(call: Call) -> Invocation:
    settings = AgentFile(path="~/.tool/settings.json", data=b'{"a": {"b": 1}}', merge="json")
    return Invocation(args=(call.prompt,), files=(settings,), result="~/out")


async def test_files_are_laid_over_those_of_the_environment_and_a_result_is_read(tmp_path: Path) -> None:
    script = f'cp "$HOME/.tool/settings.json" "$HOME/seen"; echo \'{json.dumps(said("from a file"))}\' > "$HOME/out"'
    agent = replace(AGENT, invoke=invoke, translator=ResultTranslator)
    harness, room = scripted(program(tmp_path, script), agent), ScriptedRoom(tmp_path / "room")
    await (await room.sandbox()).write("~/.tool/settings.json", b'{"a": {"b": 0, "c": 2}, "d": 3}')
    async with harness.session(room) as session:
        turn = await session.send("go")
        with pytest.raises(InfrastructureError, match="has 140000 bytes, more than an argument can"):
            await session.send("x" * 140_000)
    assert turn.message == "from a file"
    assert json.loads(room.file("~/seen")) == {"a": {"b": 1, "c": 2}, "d": 3}


async def test_a_config_file_of_the_environment_that_is_broken_is_told(tmp_path: Path) -> None:
    harness = scripted(program(tmp_path, printing(DONE)), replace(AGENT, invoke=invoke))
    room = ScriptedRoom(tmp_path / "room")
    await (await room.sandbox()).write("~/.tool/settings.json", b"{no json")
    async with harness.session(room) as session:
        with pytest.raises(InfrastructureError, match=r"'~/.tool/settings.json' of the environment is no JSON"):
            await session.send("go")


async def test_servers_are_added_to_the_config_once(tmp_path: Path) -> None:
    server = McpServer(kind="stdio", command=("serve", 'a "b"'), env={"TOKEN": "t\n1"})
    room = ScriptedRoom(tmp_path / "room", mcp={"demo": server, "far off": McpServer(kind="http", url="http://h/mcp")})
    await (await room.sandbox()).write("~/.codex/config.toml", b'model = "x"\n')
    async with scripted(program(tmp_path, printing(DONE))).session(room) as session:
        await session.send("one")
        await session.send("two")
    assert room.file("~/.codex/config.toml") == (
        'model = "x"\n\n'
        '[mcp_servers."demo"]\ncommand = "serve"\nargs = ["a \\"b\\""]\nenv = {"TOKEN" = "t\\n1"}\n\n'
        '[mcp_servers."far off"]\nurl = "http://h/mcp"\n'
    )

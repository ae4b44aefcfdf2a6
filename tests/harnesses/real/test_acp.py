"""Real agents over the Agent Client Protocol: one process for all turns."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.acp import KIND
from reeval.protocols import SandboxRequest
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, FileEdit
from tests.harnesses.real.kit import LOOKUP, ROOT, SERVER, Room, Talk, need
from tests.harnesses.real.test_conversations import FIRST, SECOND, calls_of
from tests.servers.agents import AgentServer

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, kw_only=True)
class Speaker:
    """A real agent that speaks the protocol."""

    install: str
    command: tuple[str, ...]
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tells_codes: bool = False


def opencode(base_url: str) -> dict[str, Any]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{base_url}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted"}, "other": {"name": "other"}},
    }
    config = {"provider": {"own": provider}, "model": "own/other", "small_model": "own/other"}
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps({**config, "permission": {"*": "ask"}}),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet},
        "npm_config_registry": "http://127.0.0.1:9/",
    }


def gemini(base_url: str) -> dict[str, Any]:
    return {"GOOGLE_GEMINI_BASE_URL": base_url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


SETTINGS = {
    "general": {"enableAutoUpdate": False, "maxAttempts": 1, "retryFetchErrors": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "tools": {"shell": {"enableInteractiveShell": False}},
}
SPEAKERS = {
    "opencode": Speaker(install="opencode", command=("opencode", "acp"), model="own/scripted", tells_codes=True),
    "gemini": Speaker(
        install="gemini",
        command=("gemini", "--experimental-acp"),
        model="gemini-2.5-pro",
        options={"mode": "yolo", "layout": "gemini"},
    ),
}


@pytest.fixture(params=SPEAKERS.values(), ids=SPEAKERS.keys())
def speaker(request: pytest.FixtureRequest) -> Speaker:
    need(request.param.install)
    return request.param


@asynccontextmanager
async def talking(speaker: Speaker, base_url: str, *, turn_timeout: float = 90.0) -> AsyncIterator[Talk]:
    """Start a sandbox, in it the agent, and with it a conversation."""
    env = opencode(base_url) if speaker.install == "opencode" else gemini(base_url)
    options = {
        "command": list(speaker.command),
        "install": speaker.install,
        "env": env,
        "turn_timeout": turn_timeout,
        **speaker.options,
    }
    planned, local = PlannedHarness(id="x", kind="acp", model=speaker.model, options=options), LocalSandboxKind()
    request = SandboxRequest(
        key=Room.key,
        run_id="run",
        sandbox=local.plan("local", {}, KIND, ROOT),
        root=ROOT,
        programs=KIND.programs(planned),
    )
    async with local.open(request) as sandbox:
        await sandbox.write("~/lookup.py", LOOKUP)
        await sandbox.write("~/.gemini/settings.json", json.dumps(SETTINGS).encode())
        async with KIND.open(planned, ROOT).session(Room(sandbox, {"demo": SERVER}, {})) as session:
            yield Talk(session, sandbox)


async def test_two_turns(speaker: Speaker, server: AgentServer) -> None:
    run = f"ok.acp.{speaker.install}"
    with anyio.fail_after(150):
        async with talking(speaker, server.url(run)) as talk:
            first = await talk.session.send(FIRST)
            second = await talk.session.send(SECOND)
            greets = await talk.sandbox.read("greet.py")
    assert (first.status, first.error, first.message) == ("completed", None, "It greets.")
    ran, failed = calls_of(first, "shell")[-2:]
    assert (ran.input["command"], failed.input["command"]) == ("python3 greet.py", "echo oops >&2; exit 3")
    if speaker.tells_codes:
        assert [(one.ok, one.exit_code, one.output.strip()) for one in (ran, failed)] == [
            (True, 0, "Hello"),
            (False, 3, "oops"),
        ]
    assert FileEdit(path="greet.py", kind="create") in first.events
    assert "s3cret" in str(server.requests(run))  # what the MCP server answered came to the model
    assert second.message == "It greets again."
    assert greets == b'print("Hello")\nagain\n'
    assert first.session == second.session
    assert Channel.USAGE in first.unreported
    assert first.agent


async def test_a_key_that_is_not_accepted(speaker: Speaker, server: AgentServer) -> None:
    with anyio.fail_after(90):
        async with talking(speaker, server.url(f"no-key.acp.{speaker.install}")) as talk:
            with pytest.raises(InfrastructureError, match="invalid x-api-key") as caught:
                await talk.session.send("DO say Done.")
    assert (caught.value.phase, caught.value.retryable) == (Phase.MODEL, False)


async def test_a_context_that_overflows_is_the_agents_own_failure(speaker: Speaker, server: AgentServer) -> None:
    with anyio.fail_after(90):
        async with talking(speaker, server.url(f"overflow.acp.{speaker.install}")) as talk:
            turn = await talk.session.send("DO say Done.")
    assert turn.status == "failed"
    assert turn.error is not None
    assert turn.error.startswith("the context overflowed: ")


async def test_a_hang_is_cut_by_its_own_limit(speaker: Speaker, server: AgentServer) -> None:
    with anyio.fail_after(90):
        async with talking(speaker, server.url(f"hang.acp.{speaker.install}"), turn_timeout=3.0) as talk:
            turn = await talk.session.send("DO say Done.")
    assert (turn.status, turn.error) == ("failed", "no end within 3 s (turn_timeout)")

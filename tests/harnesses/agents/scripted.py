"""A program that behaves as a coding agent may: a shell script in place of Codex, in a plain directory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.codex import AGENT
from reeval.protocols import Session
from reeval.schema.environment import McpServer
from reeval.schema.plan import PlannedHarness
from tests.harnesses.rooms import PlainRoom

__all__ = ["DONE", "STARTED", "ScriptedRoom", "printing", "program", "scripted", "talking"]

STARTED = {"type": "thread.started", "thread_id": "t1"}
DONE = {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}}
VERSION = 'if [ "$1" = --version ]; then echo codex-cli 9.8.7; exit 0; fi\n'


class ScriptedRoom(PlainRoom):
    """A room with MCP servers and a key."""

    def __init__(
        self, top: Path, *, env: Mapping[str, str] | None = None, mcp: Mapping[str, McpServer] | None = None
    ) -> None:
        top.mkdir(parents=True, exist_ok=True)
        super().__init__(top, env={"OPENAI_API_KEY": "sk-of-the-host"} if env is None else env)
        self.mcp = mcp or {}


def said(text: str) -> dict[str, Any]:
    """An event with a message."""
    return {"type": "item.completed", "item": {"id": text, "type": "agent_message", "text": text}}


def printing(*events: Any, then: str = "") -> str:
    """Return a script that prints events, or texts as they are, and goes on with ``then``."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "cat <<'END-OF-EVENTS'\n" + "".join(f"{line}\n" for line in lines) + f"END-OF-EVENTS\n{then}"


def program(top: Path, script: str, *, always: str = "") -> str:
    """Make the program and return its path; ``always`` runs also when it is asked for its version."""
    path = top / "agent"
    top.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{always}\n{VERSION}{script}\n")
    path.chmod(0o755)
    return str(path)


def scripted(path: str, agent: Agent = AGENT, **options: Any) -> Any:
    """Return the harness of a program."""
    planned = PlannedHarness(id="x", kind=agent.name, model="m-1", options={"program": path, **options})
    return agent_kind(agent).open(planned, Path())


@asynccontextmanager
async def talking(top: Path, script: str, agent: Agent = AGENT, **options: Any) -> AsyncIterator[Session]:
    """Start a conversation with a script."""
    harness = scripted(program(top, script), replace(agent, exit_grace=0.5), **options)
    async with harness.session(ScriptedRoom(top / "room")) as session:
        yield session

"""Which MCP servers could an agent be given, and in which files? For a scripted one that stands in for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from reeval.harnesses.agents.agent import Call
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.placing import place
from reeval.protocols import Room

__all__ = ["place_servers", "servers_taken"]


def servers_taken(name: str) -> frozenset[Literal["stdio", "http"]]:
    """Return the kinds of servers that the agent of a layout can be given."""
    return agent_named(name).mcp


async def place_servers(name: str, model: str | None, room: Room) -> Mapping[str, str]:
    """Write the room's servers where the agent of a layout would read them, and return the variables it would have.

    Some agents read them from a variable. Raises ``InfrastructureError``.
    """
    agent, sandbox = agent_named(name), await room.sandbox()
    home = (await sandbox.exec('printf %s "$HOME"')).stdout
    call = Call(
        prompt="",
        session=None,
        key=None,
        model=model or "none",
        effort=None,
        options=agent.options(),
        home=home,
        workspace=sandbox.workspace,
        env=room.env,
        mcp=room.mcp,
    )
    invocation = agent.invoke(call)
    await place(invocation.files, sandbox, {})
    return invocation.env

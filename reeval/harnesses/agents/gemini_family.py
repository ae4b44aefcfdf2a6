"""What do Gemini CLI and Qwen Code, which was made of it, have in common?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reeval.harnesses.agents.streams.failures import failure
from reeval.harnesses.program.stream import Failed
from reeval.schema.environment import McpServer

__all__ = ["QUIET", "api_failure", "mcp_servers"]

QUIET: Mapping[str, Any] = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    # No terminal for commands: not every sandbox has one, and nobody looks at it.
    "tools": {"shell": {"enableInteractiveShell": False}},
}
"""Settings that every turn has."""


def mcp_servers(servers: Mapping[str, McpServer]) -> dict[str, Any]:
    """Return the settings that give MCP servers."""
    return {"mcpServers": {name: _server(server) for name, server in servers.items()}} if servers else {}


def _server(server: McpServer) -> dict[str, Any]:
    if server.kind == "http":
        return {"httpUrl": server.url, "headers": dict(server.headers), "trust": True}
    return {"command": server.command[0], "args": list(server.command[1:]), "env": dict(server.env), "trust": True}


def api_failure(message: str) -> Failed:
    """Return the failure that an error of the model's API is."""
    # Advice for people is appended, of which a word such as "quota" says nothing about this error.
    told = message.partition("]\n")[0].removeprefix("[API Error: ").removesuffix("]")
    # An answer without text is what the model said; nothing failed on the way.
    return failure(told, agent="empty response" in told)

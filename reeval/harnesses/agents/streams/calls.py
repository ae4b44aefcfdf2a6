"""Which call does an end belong to? Tool calls from their begin to their end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from time import monotonic_ns
from typing import Any

from reeval.schema.transcript import ToolCall

__all__ = ["Calls", "mcp_name", "mcp_tool"]

_MOST_OPEN = 10_000
_PLAIN = re.compile(r"[^A-Za-z0-9_-]")


class Calls:
    """The calls of one turn that have begun and not ended, by the agent's own ids."""

    def __init__(self) -> None:
        self._origin = monotonic_ns()
        self._begun: dict[str, tuple[str, str | None, Any, int]] = {}
        """Name, native name and input of a call, and nanoseconds since the turn began."""

    def __contains__(self, id: str) -> bool:
        return id in self._begun

    def elapsed(self) -> float:
        """Return the seconds since the turn began."""
        return (monotonic_ns() - self._origin) / 1_000_000_000

    def begin(self, id: str, name: str, native: str, input: Any = None) -> None:
        """A call begins; ``name`` is the canonical one."""
        if len(self._begun) < _MOST_OPEN:
            self._begun[id] = name, None if native == name else native, input, monotonic_ns() - self._origin

    def end(
        self, id: str, output: str, *, ok: bool | None, exit_code: int | None = None, name: str = "unknown"
    ) -> ToolCall:
        """Return the call with its end; one whose begin was not seen is called ``name``."""
        if id not in self._begun:
            return ToolCall(name=name, output=output, ok=ok, exit_code=exit_code)
        name, native, input, since = self._begun.pop(id)
        return ToolCall(
            name=name,
            native=native,
            input=input,
            output=output,
            ok=ok,
            exit_code=exit_code,
            # To whole microseconds; ``round`` takes longer than all the rest of a call.
            started=since // 1000 / 1_000_000,
            duration=(monotonic_ns() - self._origin - since) // 1000 / 1_000_000,
        )

    def rest(self) -> Iterator[ToolCall]:
        """Yield the calls that have not ended, and forget them."""
        begun, self._begun = self._begun, {}
        for name, native, input, since in begun.values():
            yield ToolCall(name=name, native=native, input=input, started=since // 1000 / 1_000_000)


def mcp_name(server: str, tool: str) -> str:
    """Return the canonical name of an MCP server's tool."""
    return f"mcp__{server}__{tool}"


def mcp_tool(native: str, prefix: str, servers: Sequence[str]) -> str | None:
    """Return the canonical name of ``PREFIX + SERVER_TOOL``, for agents that join the two by ``_``; None: no such."""
    for server in sorted(servers, key=len, reverse=True):
        start = f"{prefix}{_PLAIN.sub('_', server)}_"
        if native.startswith(start) and len(native) > len(start):
            return mcp_name(server, native[len(start) :])
    return None

"""What does an agent ask of its client, and what is it given? Permission for everything, and the sandbox's files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from reeval.errors import InfrastructureError
from reeval.harnesses.agents.streams.reading import amount, at, listed, text_at
from reeval.protocols import Sandbox

__all__ = ["Server"]

_ALLOWED = ("allow_once", "allow_always")
"""Once comes first: an answer for ever may change the mode that an agent works in."""
_MOST_READ = 64 << 20
"""Bytes of a file."""


class Server:
    """Answers what agents ask; what it does not know is refused, as the protocol wants it."""

    def __init__(self, sandbox: Sandbox, told: Callable[[Any], None]) -> None:
        self._sandbox = sandbox
        self._told = told

    async def answer(self, method: str, params: Any) -> Any:
        """Return the result of one request; raise the protocol library's ``RequestError`` for what cannot be."""
        from acp import RequestError

        try:
            match method:
                case "session/request_permission":
                    return self._permission(params)
                case "fs/read_text_file":
                    return {"content": await self._read(params)}
                case "fs/write_text_file":
                    path = await self._path(text_at(params, "path"))
                    await self._sandbox.write(path, text_at(params, "content").encode("utf-8", "replace"))
                    return {}
        except FileNotFoundError:
            raise RequestError.resource_not_found(text_at(params, "path")) from None
        except (OSError, ValueError, InfrastructureError) as error:
            raise RequestError.internal_error({"details": str(error)}) from None
        raise RequestError.method_not_found(method)

    def _permission(self, params: Any) -> Any:
        # It may be the first that is told of a call.
        if isinstance(call := at(params, "toolCall"), dict):
            self._told({**call, "sessionUpdate": "tool_call_update"})
        options = listed(params, "options")
        for kind in _ALLOWED:
            for option in options:
                if at(option, "kind") == kind:
                    return {"outcome": {"outcome": "selected", "optionId": text_at(option, "optionId")}}
        return {"outcome": {"outcome": "cancelled"}}

    async def _read(self, params: Any) -> str:
        data = await self._sandbox.read(await self._path(text_at(params, "path")), _MOST_READ)
        text, start, limit = data.decode("utf-8", "replace"), amount(params, "line"), amount(params, "limit")
        if start is None and limit is None:
            return text
        first = max((start or 1) - 1, 0)
        return "".join(text.splitlines(keepends=True)[first : None if limit is None else first + limit])

    async def _path(self, path: str) -> str:
        """Return an agent's absolute path as the sandbox takes it; ``ValueError`` for one in neither of its places."""
        normal = posixpath.normpath(path)
        if normal.startswith(f"{self._sandbox.workspace}/"):
            return posixpath.relpath(normal, self._sandbox.workspace)
        home = (await self._sandbox.exec('printf %s "$HOME"')).stdout
        if home and normal.startswith(f"{home}/"):
            return f"~/{posixpath.relpath(normal, home)}"
        raise ValueError(f"{path!r} is neither in the workspace nor in the home")

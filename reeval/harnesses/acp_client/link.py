"""How are requests sent to an agent's process, and its own ones served? JSON-RPC, by the protocol's own library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from anyio import to_thread

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.acp_client.serving import answer
from reeval.harnesses.acp_client.wire import ProcessTransport
from reeval.harnesses.agents.streams.reading import at
from reeval.harnesses.bounds import NOTE_LIMIT, cut
from reeval.harnesses.program.endings import described, not_started
from reeval.protocols import Process

if TYPE_CHECKING:
    from acp.connection import Connection

__all__ = ["Link", "RefusedError", "linked"]

_EXIT_WAIT = 2.0
"""Seconds to wait for the exit code of a process that says no more."""


class RefusedError(Exception):
    """The agent answered a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Link:
    """A process that speaks the protocol."""

    def __init__(self, process: Process, connection: Connection, owner: str) -> None:
        self._process = process
        self._connection = connection
        self._owner = owner

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result; raise ``RefusedError``, or ``InfrastructureError`` when it died."""
        from acp import RequestError

        try:
            return await self._connection.send_request(method, params)
        except RequestError as error:
            raise RefusedError(error.code, cut(_told(error), NOTE_LIMIT)) from None
        except ConnectionError:
            raise await self._died(method) from None

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification; one that nobody reads any more is no error: the next request tells."""
        try:
            await self._connection.send_notification(method, params)
        except ConnectionError:
            return

    async def kill(self) -> None:
        """End the process; what was asked of it fails."""
        await self._process.kill()

    async def _died(self, method: str) -> InfrastructureError:
        code: int | None = None
        with anyio.move_on_after(_EXIT_WAIT):
            code = await self._process.wait()
        said = self._process.stderr_text()
        how = f"it closed its output: {said.strip()[-NOTE_LIMIT:]}" if code is None else described(code, said)
        if not_started(code):
            return InfrastructureError(
                Phase.HARNESS, f"{self._owner}: the program could not be started ({how}); correct 'command'"
            )
        return InfrastructureError(Phase.HARNESS, f"{self._owner}: the agent ended before it answered {method}: {how}")


@asynccontextmanager
async def linked(
    process: Process, owner: str, updated: Callable[[Any], None], odd: Callable[[str], None]
) -> AsyncIterator[Link]:
    """Speak to a process until the block ends; ``updated`` takes session updates, ``odd`` what cannot be read."""
    connection_class = await to_thread.run_sync(_connection_class)

    async def handle(method: str, params: Any, is_notification: bool) -> Any:
        if not is_notification:
            return answer(method, params, updated)
        if method == "session/update":
            updated(at(params, "update"))
        return None

    connection = connection_class(handle, ProcessTransport(process, odd))
    try:
        yield Link(process, connection, owner)
    finally:
        with anyio.CancelScope(shield=True):
            await connection.close()


def _connection_class() -> type[Connection]:
    """Import the library: half a second of classes, which must not stop the event loop."""
    from acp.connection import Connection

    return Connection


def _told(error: Any) -> str:
    data = error.data
    if not data:
        return str(error)
    shown = data if isinstance(data, str) else msgspec.json.encode(data).decode("utf-8", "replace")
    return f"{error} {shown}"

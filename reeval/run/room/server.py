"""How does a body keep a process running in the background, and reach it?"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import SystemRandom

import anyio

from reeval.authoring import Command
from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Process, Sandbox
from reeval.run.room.clock import Clock
from reeval.run.stage.text import Excerpt

__all__ = ["BackgroundServer", "free_port", "open_server"]

LOG = 64 * 1024
"""Bytes of a server's output that are kept."""
FIRST_PORT = 10_240
EPHEMERAL = 32_768
"""Where Linux begins to hand out ports to clients, when it does not say."""
TRIES = 200


class BackgroundServer:
    """Implements ``authoring.Server``."""

    def __init__(self, process: Process, port: int) -> None:
        self._process = process
        self._output = Excerpt(LOG)
        self.port = port
        """The port it was told to listen on."""

    @property
    def url(self) -> str:
        """``http://127.0.0.1:<port>``."""
        return f"http://127.0.0.1:{self.port}"

    async def log(self) -> str:
        """Return what it has printed so far."""
        return self.printed()

    def printed(self) -> str:
        """Return what it has printed so far, bounded: standard output, then standard error."""
        return self._output.text() + self._process.stderr_text()

    async def pump(self) -> None:
        """Read its output until it ends: a process that nobody reads stops at a full pipe."""
        async for chunk in self._process.stdout():
            self._output.add(chunk.decode("utf-8", "replace"))


@asynccontextmanager
async def open_server(
    sandbox: Sandbox, command: Command, port: int, env: Mapping[str, str], clock: Clock
) -> AsyncIterator[BackgroundServer]:
    """Start ``command`` with ``PORT`` set; leaving the block ends it."""
    async with sandbox.start(command, env={**env, "PORT": str(port)}) as process:
        server = BackgroundServer(process, port)
        clock.stop()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.pump)
            yield server
            tasks.cancel_scope.cancel()


def free_port() -> int:
    """Return a port that nobody listens on now, below those that the system gives to clients.

    A port from the system's own range could be taken by any client between this check and the server's start.
    """
    pick = SystemRandom()
    for _ in range(TRIES):
        port = pick.randrange(FIRST_PORT, _first_ephemeral())
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise InfrastructureError(Phase.SANDBOX, f"no free port was found in {TRIES} tries; give c.serve a port")


def _first_ephemeral() -> int:
    try:
        first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return EPHEMERAL
    return first if first > FIRST_PORT + TRIES else EPHEMERAL

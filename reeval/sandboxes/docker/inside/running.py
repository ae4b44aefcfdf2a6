"""How is one process of a container read with bounded memory, waited for and ended?"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.streams import STDOUT, Frames, Stream
from reeval.sandboxes.processes.following import GRACE, Started

if TYPE_CHECKING:
    from reeval.sandboxes.docker.container import Container

__all__ = ["RunningProcess"]

FIRST_LOOK, MOST_BETWEEN = 0.1, 1.0
"""Seconds of silence after which the engine is asked whether it still runs, and between two such looks."""
LAST_WAIT = 5.0
"""Seconds to wait for a killed process."""
SIGNALS = range(129, 129 + 64)
"""What the engine says of a process that a signal ended."""
REFUSED = b"OCI runtime exec failed"
"""What the engine writes as the output of a process that it could not start."""
NOT_STARTED = {126, 127}
"""And what it says of its end. A process may do both: which one did it is known by whether it ran."""


class RunningProcess(Started):
    """A process and its stream; implements ``protocols.Process``. To be closed when done with."""

    def __init__(self, container: Container, id: str, stream: Stream, *, mark: str, limit: int) -> None:
        super().__init__(limit)
        self._container = container
        self._id = id
        self._stream = stream
        self._mark = mark
        self._frames = Frames()
        self._raw_code: int | None = None
        self._deadline: float | None = None
        self._between = FIRST_LOOK
        self._over = False
        self._ran = False
        self._checked = False
        """Whether it is known if it met the limit of memory, or that does not matter: it was killed."""
        self._head = b""
        """How its stream began."""
        self._feeder: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it is known to have ended."""
        return self._raw_code is not None

    def feed(self, data: bytes) -> None:
        """Write its whole input while it runs, then end it."""
        # A task, as what it reads may be long and what it writes meanwhile must be read.
        self._feeder = asyncio.get_running_loop().create_task(self._feed(data))

    async def send(self, data: bytes) -> None:
        """Write to its standard input; ``OSError`` when it reads no more."""
        await self._stream.send(data)

    async def read(self) -> bytes | None:
        """Wait for something to happen and return the new output, perhaps empty; None at the end."""
        if self._over:
            return None
        data = None
        with anyio.move_on_after(self._patience()):
            data = await self._stream.receive()
        if data is None:
            await self._look()
            return b""
        if not data:
            self._over = True
            return None
        self._between = FIRST_LOOK
        return self._sorted(data)

    async def wait(self) -> int:
        """Return its exit code, minus the signal's number when a signal ended it.

        Raises ``InfrastructureError`` when it failed because the sandbox is out of memory.
        """
        pause = 0.002
        while self._raw_code is None:
            await self._ask()
            if self._raw_code is None:
                await anyio.sleep(pause)
                pause = min(pause * 2, MOST_BETWEEN)
        code = self._raw_code
        if not self._ran and code in NOT_STARTED and REFUSED in self._head:
            said = self._head[self._head.index(REFUSED) :].decode("utf-8", "replace").strip()
            raise InfrastructureError(
                Phase.SANDBOX, f"the engine could not start a process in the sandbox: {said[:500]}"
            )
        if not self._checked:
            self._checked = True
            await self._container.check_memory(code)
        return 128 - code if code in SIGNALS else code

    async def kill(self) -> None:
        """End it with everything it started."""
        self._checked = True
        with anyio.CancelScope(shield=True), suppress(InfrastructureError):
            if not await self._container.channel.order(f"end_marked {self._mark}", LAST_WAIT) and not (
                await self._container.channel.order("kill -9 -1", LAST_WAIT)
            ):
                await self._container.kill()
            with anyio.move_on_after(LAST_WAIT):
                await self.wait()

    def close(self) -> None:
        """Let go of it: what its background children still print is dropped by the engine."""
        if self._feeder is not None:
            self._feeder.cancel()
        self._stream.close()

    async def _feed(self, data: bytes) -> None:
        with suppress(OSError):  # It need not read all of its input.
            await self._stream.send(data)
            self._stream.end_input()

    def _patience(self) -> float:
        if self._deadline is not None:
            return max(0.0, self._deadline - time.monotonic())
        return self._between

    async def _look(self) -> None:
        """Nothing came for a while: does it still run?"""
        if self._deadline is not None:
            self._over = time.monotonic() >= self._deadline
            return
        self._between = min(self._between * 1.5, MOST_BETWEEN)
        await self._ask()
        if self._raw_code is not None:
            self._deadline = time.monotonic() + GRACE

    async def _ask(self) -> None:
        if self._raw_code is None:
            ended = await self._container.ended(self._id)
            if ended is not None:
                self._raw_code, self._ran = ended

    def _sorted(self, data: bytes) -> bytes:
        self._head = self._head or data[:500]
        output = b""
        for kind, body in self._frames.feed(data):
            if kind == STDOUT:
                output += body
            else:
                self.stderr.add(body)
        return output

"""How is a started command followed to its end, and what is kept of it?"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from reeval.authoring import Command
from reeval.sandboxes.processes.arguments import command_text
from reeval.sandboxes.processes.output import BoundedOutput
from reeval.schema.transcript import CommandResult

__all__ = ["Started", "finished", "held"]

T = TypeVar("T", bound="Started")


class Started(Protocol):
    """A started process, of the host or of a container."""

    @property
    def ended(self) -> bool:
        """Whether it is known to have ended."""
        ...

    @property
    def stderr(self) -> BoundedOutput:
        """What it wrote to standard error so far."""
        ...

    async def read(self) -> bytes | None:
        """Return what it printed next; None at the end."""
        ...

    async def wait(self) -> int:
        """Return its exit code."""
        ...

    async def kill(self) -> None:
        """End it with everything it started."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


@asynccontextmanager
async def held(running: T) -> AsyncIterator[T]:
    """Give a started process; leaving the block ends it, if it still runs, with everything it started."""
    try:
        yield running
    finally:
        try:
            if not running.ended:
                await running.kill()
        finally:
            running.close()


async def finished(running: Started, command: Command, *, limit: int, began: float) -> CommandResult:
    """Read a process to its end and return what came of it; ``limit``: bytes of output that are kept.

    ``began`` is ``time.perf_counter()`` of when it was asked for. Whatever ends this early ends the process too.
    """
    output = BoundedOutput(limit)
    try:
        while (chunk := await running.read()) is not None:
            output.add(chunk)
        code = await running.wait()
    except BaseException:
        await running.kill()
        raise
    finally:
        running.close()
    return CommandResult(
        command=command_text(command),
        exit_code=code,
        stdout=output.text(),
        stderr=running.stderr.text(),
        duration=round(time.perf_counter() - began, 6),
        truncated=output.truncated or running.stderr.truncated,
    )

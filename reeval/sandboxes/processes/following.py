"""How is a started command followed to its end, and what is kept of it?"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from reeval.authoring import Command
from reeval.sandboxes.processes.arguments import command_text
from reeval.sandboxes.processes.output import BoundedOutput
from reeval.schema.transcript import CommandResult

__all__ = ["GRACE", "Started", "finished", "held"]

GRACE = 0.2
"""Seconds after its end in which a process's output may still come: a background child can hold it open."""

T = TypeVar("T", bound="Started")


class Started(ABC):
    """A started process, of the host or of a container: what does not depend on which."""

    def __init__(self, limit: int) -> None:
        """``limit``: bytes of standard error to keep."""
        self.stderr = BoundedOutput(limit)
        """What it wrote to standard error so far."""

    def stderr_text(self) -> str:
        """Return what it wrote to standard error so far, bounded."""
        return self.stderr.text()

    async def stdout(self) -> AsyncIterator[bytes]:
        """Yield its output as it comes; ends soon after the process, also when a child of it holds the pipe."""
        while (chunk := await self.read()) is not None:
            if chunk:
                yield chunk

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether it is known to have ended."""

    @abstractmethod
    async def read(self) -> bytes | None:
        """Wait for something to happen and return the new output, perhaps empty; None at the end.

        Standard error is read along, so that a process cannot block on it while its output is waited for.
        """

    @abstractmethod
    async def wait(self) -> int:
        """Return its exit code, minus the signal's number when a signal ended it."""

    @abstractmethod
    async def kill(self) -> None:
        """End it with everything it started."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it: what its background children still print is dropped."""


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

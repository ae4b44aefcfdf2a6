"""How is a command run in a container?"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from reeval.authoring import Command
from reeval.errors import UsageError
from reeval.sandboxes.docker.inside.memory import MemoryWatch
from reeval.sandboxes.docker.inside.running import RunningProcess
from reeval.sandboxes.processes.kin import MARK
from reeval.sandboxes.processes.whole import command_text, finished
from reeval.schema.transcript import CommandResult

if TYPE_CHECKING:
    from reeval.sandboxes.docker.container import Container

__all__ = ["Commands"]

LONGEST = 128 * 1024 - 1
"""Bytes that Linux takes as one argument of a program."""


class Commands:
    """Runs commands in one container."""

    def __init__(self, container: Container, *, workdir: str, limit: int, memory: int | None = None) -> None:
        """``limit``: bytes of output that are kept; ``memory``: bytes that the container may use."""
        self._container = container
        self._workdir = workdir
        self._limit = limit
        self._count = 0
        self._memory = MemoryWatch(container, limited=memory is not None)

    @property
    def untouched(self) -> bool:
        """Whether nothing was run yet."""
        return self._count == 0

    async def exec(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        """Run a command to its end; what it started and left running lives on."""
        began = time.perf_counter()
        running = await self._begun(command, env, stdin)
        return await finished(running, command, limit=self._limit, began=began)

    @asynccontextmanager
    async def start(
        self,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | Literal["open"] | None = None,
    ) -> AsyncIterator[RunningProcess]:
        """Start a process; leaving the block ends it, if it still runs, with everything it started."""
        running = await self._begun(command, env, stdin)
        try:
            yield running
        finally:
            try:
                if not running.ended:
                    await running.kill()
            finally:
                running.close()

    async def _begun(
        self, command: Command, env: Mapping[str, str] | None, stdin: bytes | Literal["open"] | None
    ) -> RunningProcess:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        _check(argv, command)
        if not isinstance(command, str):
            # Through a shell, so that a program that is not there ends with 127.
            argv = ["/bin/sh", "-c", 'exec "$@"', "sh", *argv]
        self._count += 1
        mark = f"{self._container.name}.{self._count}."
        variables = {**(env or {}), MARK: mark}
        id, stream = await self._container.exec(argv, env=variables, workdir=self._workdir, stdin=bool(stdin))
        running = RunningProcess(self._container, id, stream, mark=mark, limit=self._limit, memory=self._memory)
        if isinstance(stdin, bytes) and stdin:
            running.feed(stdin)
        return running


def _check(argv: list[str], command: Command) -> None:
    if not argv:
        raise UsageError("an empty command cannot be run; write a shell string or a list that is not empty")
    if any("\0" in part for part in argv):
        raise UsageError(f"the command {command_text(command)[:200]!r} cannot be run: embedded null byte")
    if max(len(part.encode("utf-8", "surrogatepass")) for part in argv) > LONGEST:
        size = len(command_text(command))
        raise UsageError(f"a command of {size:,} characters is too long for this system; write a file and run that")

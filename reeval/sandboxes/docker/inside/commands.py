"""How is a command run in a container?"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from reeval.authoring import Command
from reeval.sandboxes.docker.inside.running import RunningProcess
from reeval.sandboxes.processes.arguments import PLAIN, arguments_of, refusal, too_long
from reeval.sandboxes.processes.following import finished, held
from reeval.sandboxes.processes.kin import MARK
from reeval.schema.transcript import CommandResult

if TYPE_CHECKING:
    from reeval.sandboxes.docker.container import Container

__all__ = ["Commands"]

LONGEST = 128 * 1024 - 1
"""Bytes that Linux takes as one argument of a program."""


class Commands:
    """Runs commands in one container."""

    def __init__(self, container: Container, *, workdir: str, limit: int) -> None:
        """``limit``: bytes of output that are kept."""
        self._container = container
        self._workdir = workdir
        self._limit = limit
        self._count = 0

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
        async with held(await self._begun(command, env, stdin)) as running:
            yield running

    async def _begun(
        self, command: Command, env: Mapping[str, str] | None, stdin: bytes | Literal["open"] | None
    ) -> RunningProcess:
        arguments = arguments_of(command)
        _check(arguments, command)
        if not isinstance(command, str):
            arguments = ["/bin/sh", "-c", PLAIN, "sh", *arguments]
        self._count += 1
        mark = f"{self._container.name}.{self._count}."
        variables = {**(env or {}), MARK: mark}
        id, stream = await self._container.exec(arguments, env=variables, workdir=self._workdir, stdin=bool(stdin))
        running = RunningProcess(self._container, id, stream, mark=mark, limit=self._limit)
        if isinstance(stdin, bytes) and stdin:
            running.feed(stdin)
        return running


def _check(arguments: list[str], command: Command) -> None:
    if any("\0" in part for part in arguments):
        raise refusal(command, "embedded null byte")
    if max(len(part.encode("utf-8", "surrogatepass")) for part in arguments) > LONGEST:
        raise too_long(command)

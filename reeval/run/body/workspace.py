"""What do a body's calls on the workspace do? Commands, servers and files, in the attempt's sandbox."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from msgspec.structs import replace

from reeval.authoring import Command
from reeval.errors import Phase, UsageError
from reeval.protocols import Sandbox
from reeval.run.room.faults import adapted
from reeval.run.room.room import AttemptRoom
from reeval.run.room.server import BackgroundServer, free_port, open_server
from reeval.schema.transcript import CommandResult

__all__ = ["FileFault", "WorkspaceCalls"]

READ_LIMIT = 64 * 1024 * 1024
"""Bytes of a file that a body may read."""
MOST_RAN = 200
RAN_OUTPUT = 16 * 1024
"""Characters of each output of a command that are kept beside the result which the body got."""
SERVER_START = 30.0
"""Seconds that starting a server's process may take."""
HIGHEST_PORT = 65_535


class FileFault(Exception):  # noqa: N818 - what the agent did not do is no error of the program
    """A file that the body reads is not as it must be: ``claim`` is what does not hold, such as ``a.txt exists``."""

    def __init__(self, claim: str, problem: str) -> None:
        super().__init__(problem)
        self.claim = claim


class WorkspaceCalls:
    """Starts the sandbox with the first call."""

    def __init__(self, room: AttemptRoom) -> None:
        self._room = room
        self.ran: deque[CommandResult] = deque(maxlen=MOST_RAN)
        """The last commands of ``exec``, long outputs cut, for a model that is shown them."""

    async def exec(
        self, command: Command, retries: int, interval: float, env: Mapping[str, str] | None
    ) -> CommandResult:
        """Run a command, again while it fails, at most ``retries`` times more."""
        _check_command("exec", command)
        _check_retries(retries, interval)
        sandbox = await self._room.sandbox()
        variables = {**self._room.checks_env, **(env or {})}
        tries = 1
        with adapted(Phase.SANDBOX, "the command did not run"):
            result = await sandbox.exec(command, env=variables)
            while not result.ok and tries <= retries:
                await anyio.sleep(interval)
                tries += 1
                result = await sandbox.exec(command, env=variables)
        result = replace(result, tries=tries, allowed=retries + 1) if retries else result
        self.ran.append(_short(result))
        return result

    @asynccontextmanager
    async def serve(self, command: Command, port: int | None) -> AsyncIterator[BackgroundServer]:
        """Run a process in the background until the block ends."""
        _check_command("serve", command)
        if port is not None and (isinstance(port, bool) or not 0 < port <= HIGHEST_PORT):
            raise UsageError(f"c.serve takes a port from 1 to {HIGHEST_PORT}, got {port!r}")
        sandbox = await self._room.sandbox()
        chosen, env = port or free_port(), self._room.checks_env
        server = self._room.serve(lambda clock: open_server(sandbox, command, chosen, env, clock), SERVER_START)
        try:
            yield await server.value()
        finally:
            with anyio.CancelScope(shield=True):
                await server.close()

    async def read_bytes(self, path: str) -> bytes:
        """Read a file; raise ``FileFault`` when the agent did not leave one that can be read."""
        sandbox = await self._room.sandbox()
        try:
            data = await sandbox.read(path, READ_LIMIT + 1)
        except (FileNotFoundError, NotADirectoryError):
            raise FileFault(f"{path} exists", f"expected a file at {path!r}\ngot nothing there") from None
        except IsADirectoryError:
            raise FileFault(f"{path} exists", f"expected a file at {path!r}\ngot a directory") from None
        except PermissionError:
            raise FileFault(f"{path} can be read", f"expected to read {path!r}\ngot no permission") from None
        if len(data) > READ_LIMIT:
            problem = f"expected a file of at most {READ_LIMIT:,} bytes at {path!r}\ngot a bigger one"
            raise FileFault(f"{path} can be read", problem)
        return data

    async def read_text(self, path: str) -> str:
        """Read a file as UTF-8."""
        data = await self.read_bytes(path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            problem = f"expected UTF-8 text in {path!r}\ngot byte 0x{data[error.start]:02x} at offset {error.start:,}"
            raise FileFault(f"{path} is text", problem) from None

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Write a file."""
        if not isinstance(content, str | bytes):
            raise UsageError(f"c.write_file takes text or bytes for {path!r}, got {type(content).__name__}")
        if self._room.agent_acts:
            raise UsageError("c.write_file while the agent acts would be taken for its change; await c.send first")
        sandbox = await self._room.sandbox()
        await sandbox.write(path, content.encode() if isinstance(content, str) else content)

    async def exists(self, path: str) -> bool:
        """Say whether there is a file or directory."""
        sandbox: Sandbox = await self._room.sandbox()
        return await sandbox.exists(path)


def _short(result: CommandResult) -> CommandResult:
    if len(result.stdout) <= RAN_OUTPUT and len(result.stderr) <= RAN_OUTPUT:
        return result
    return replace(result, stdout=_middle(result.stdout), stderr=_middle(result.stderr), truncated=True)


def _middle(text: str) -> str:
    half = RAN_OUTPUT // 2
    return text if len(text) <= RAN_OUTPUT else f"{text[:half]}\n[…]\n{text[-half:]}"


def _check_command(call: str, command: Any) -> None:
    words: Sequence[Any] = [command] if isinstance(command, str) else command
    fine = isinstance(command, str | list | tuple) and all(isinstance(word, str) for word in words)
    if not fine or not words or not words[0].strip():
        raise UsageError(f"c.{call} takes a shell string or a list of words that is not empty, got {command!r:.200}")
    if any("\0" in word for word in words):
        raise UsageError(f"c.{call} got a command with a NUL character, which no program can be given")


def _check_retries(retries: Any, interval: Any) -> None:
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise UsageError(f"c.exec takes retries as a whole number from 0, got {retries!r}")
    if isinstance(interval, bool) or not isinstance(interval, int | float) or not 0 <= interval < math.inf:
        raise UsageError(f"c.exec takes interval as seconds from 0, got {interval!r}")

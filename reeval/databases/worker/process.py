"""How is one process of queries asked, and ended? One request at a time; whoever stops waiting ends the process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import anyio
import anyio.abc

from reeval.backends import QueryError
from reeval.databases.worker.wire import HEAD, Opening, Reply, Request, packed, unpacked
from reeval.secrets import Masker

__all__ = ["WorkerProcess"]

_GRACE = 2.0
"""Seconds that a process has to end what a server does for it."""
_LONGEST = 1500
"""Characters of a database's own words."""


class WorkerProcess:
    """A process with one connection."""

    def __init__(self, process: anyio.abc.Process, errors: Any, masker: Masker) -> None:
        self._process = process
        self._errors = errors
        self._masker = masker
        self._rest = b""
        self._last_words = ""
        self.is_alive = True
        """Whether it can be asked."""

    @classmethod
    async def start(cls, environ: Mapping[str, str], masker: Masker) -> Self:
        """Start one."""
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        process = await anyio.open_process(
            # -P: a file of the project named like a module of Python's must not be that module here
            [sys.executable, "-P", "-m", "reeval.databases.worker.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=dict(environ),
            start_new_session=True,  # Ctrl-C is for the run to act on
        )
        return cls(process, errors, masker)

    async def ask(self, message: Opening | Request, seconds: float, late: str) -> Any:
        """Return the value of the reply; raise ``QueryError``. After a timeout or a cancellation it is ended.

        ``late`` is what to say when there was no reply in time.
        """
        reply: Reply | None = None
        try:
            with anyio.move_on_after(seconds) as waiting:
                reply = await self._reply(message)
        except BaseException:
            await self._drop()
            raise
        if waiting.cancelled_caught:
            await self._drop()
            raise QueryError(late)
        if reply is None:
            await self._drop()
            raise QueryError(f"the database's process ended while it ran the query ({self._ending()})")
        if reply.broken:
            await self._drop()
        if reply.refused is not None:
            raise QueryError(self._shown(reply.refused), lost=reply.lost)
        return reply.value

    async def stop(self) -> None:
        """End it: first by ending its input, so that it can end what a server does for it."""
        self.is_alive = False
        with anyio.move_on_after(_GRACE), suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            assert self._process.stdin is not None
            await self._process.stdin.aclose()
            await self._process.wait()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.aclose()
        self._errors.seek(0)
        self._last_words = self._errors.read().decode("utf-8", "replace").strip()
        self._errors.close()

    async def _drop(self) -> None:
        if self.is_alive:
            with anyio.CancelScope(shield=True):
                await self.stop()

    async def _reply(self, message: Opening | Request) -> Reply | None:
        """Return the reply, None when the process ends before it."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send(packed(message))
            (length,) = HEAD.unpack(await self._read(HEAD.size))
            reply: Reply = unpacked(await self._read(length))
        except (anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            return None
        return reply

    async def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        parts, have = [self._rest], len(self._rest)
        while have < size:
            part = await self._process.stdout.receive()
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def _ending(self) -> str:
        line = self._last_words.rpartition("\n")[2]
        return self._shown(f"exit code {self._process.returncode}{f': {line}' if line else ''}")

    def _shown(self, text: str) -> str:
        text = self._masker.text(text).strip()
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

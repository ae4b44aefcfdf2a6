"""How do messages get to an agent's process and back? As lines of JSON, in bounded memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import msgspec

from reeval.harnesses.program.lines import Lines
from reeval.harnesses.program.stream import decode_line
from reeval.protocols import Process

__all__ = ["ProcessTransport"]

_LINE_LIMIT = 64 << 20
"""Bytes of a message; a longer one is left out."""
_SHOWN = 1000


class ProcessTransport:
    """Implements the protocol library's transport over a process of the sandbox."""

    def __init__(self, process: Process, odd: Callable[[str], None]) -> None:
        self._process = process
        self._odd = odd
        self._messages = self._read()
        self._sending = anyio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message; ``ConnectionError`` when nobody reads it."""
        async with self._sending:
            try:
                await self._process.send(msgspec.json.encode(message) + b"\n")
            except OSError as error:
                raise ConnectionError(error.strerror or str(error)) from error

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the process says no more."""
        return await anext(self._messages, None)

    async def close(self) -> None:
        """Let go: the process is ended by who started it."""

    async def _read(self) -> AsyncIterator[dict[str, Any]]:
        lines = Lines(_LINE_LIMIT)
        async for chunk in self._process.stdout():
            for line in lines.feed(chunk):
                if (message := self._message(line)) is not None:
                    yield message
            if lines.dropped:
                self._odd(f"{lines.dropped} messages of more than {_LINE_LIMIT} bytes were left out")
                lines.dropped = 0

    def _message(self, line: bytes) -> dict[str, Any] | None:
        if not line.strip():
            return None
        found = decode_line(line)
        if isinstance(found, dict):
            return found
        self._odd(f"no JSON object: {line[:_SHOWN].decode('utf-8', 'replace')}")
        return None

"""How do the bytes of a call travel? Over asyncio itself, a request in one piece.

Through anyio, as httpcore2 does it by itself, a call costs three quarters more.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2

__all__ = ["Network"]

_MOST_HELD = 256 * 1024
"""Bytes that wait to be read; the sender of more waits."""


class Network(httpcore2.AsyncNetworkBackend):
    """Connects. A read or a write knows no time limit: whoever calls bounds the whole call."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers."""
        assert local_address is None
        assert not socket_options
        with _connecting():
            async with asyncio.timeout(timeout):
                loop = asyncio.get_running_loop()
                _, line = await loop.create_connection(_Line, host, port, happy_eyeballs_delay=0.25)
        return _Stream(line)


class _Line(asyncio.Protocol):
    """What came in and was not read."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.held = bytearray()
        self.ended = False
        self.error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.held += data
        self._wake()
        if len(self.held) > _MOST_HELD:
            self._paused = True
            self.transport.pause_reading()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended, self.error = True, exc
        self._wake()

    async def read(self, most: int) -> bytes:
        """Return what there is, as soon as there is something; nothing at the end."""
        if not self.held and not self.ended:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        data = bytes(self.held[:most])
        del self.held[:most]
        if not data and self.error is not None:
            raise httpcore2.ReadError(self.error)
        if self._paused and not self.ended:
            self._paused = False
            self.transport.resume_reading()
        return data

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class _Stream(httpcore2.AsyncNetworkStream):
    """One connection. What is written leaves with the next read, in one piece."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self._unsent: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109, ARG002
        if self._unsent:
            self._line.transport.write(b"".join(self._unsent))
            self._unsent.clear()
        return await self._line.read(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109, ARG002
        self._unsent.append(buffer)

    async def aclose(self) -> None:
        """Leave at once: whoever closes has read what there is to read, or does not want it."""
        self._line.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        line, loop = self._line, asyncio.get_running_loop()
        try:
            with _connecting():
                async with asyncio.timeout(timeout):
                    transport = await loop.start_tls(line.transport, line, ssl_context, server_hostname=server_hostname)
        except BaseException:
            line.transport.abort()
            raise
        if transport is None:  # the server left in the middle of it
            raise httpcore2.ConnectError("the connection was lost")
        line.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # without a call there is nothing to read but the end
            return self._line.ended or bool(self._line.held)
        return self._line.transport.get_extra_info(info)


@contextmanager
def _connecting() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout(error) from error
    except (OSError, UnicodeError) as error:  # ssl.SSLError is the first; a name that no host has, the second
        raise httpcore2.ConnectError(error) from error

"""How is a stream of the engine read and written, without a thread that waits for it?

The connection of a call is taken over, as raw bytes in both directions. What comes is in frames: which output it
belongs to, and how long it is.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import anyio

__all__ = ["STDOUT", "Frames", "Stream"]

STDOUT = 1
"""The output that is not standard error."""
CHUNK = 256 * 1024
_HEAD = struct.Struct(">BxxxL")
_WAIT = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Stream:
    """A connection that was taken over."""

    def __init__(self, response: Any) -> None:
        """Take the connection of a ``requests`` response."""
        self._response = response
        buffered = response.raw._fp.fp  # noqa: SLF001 - there is no public way to the connection
        raw = buffered.raw
        self._socket: socket.socket = getattr(raw, "_sock", raw)
        self._socket.setblocking(False)  # noqa: FBT003 - the library's own call
        self._early = b""
        with suppress(OSError):
            self._early = bytes(buffered.peek())
        self.open = True

    async def receive(self) -> bytes:
        """Return what comes next; empty at the end."""
        if self._early:
            early, self._early = self._early, b""
            return early
        while self.open:
            try:
                return self._socket.recv(CHUNK)
            except _WAIT:
                with suppress(anyio.ClosedResourceError):
                    await anyio.wait_readable(self._socket)
            except OSError:
                return b""
        return b""

    async def send(self, data: bytes) -> None:
        """Write all of it; ``OSError`` when the other end is gone."""
        left = memoryview(data)
        while left:
            if not self.open:
                raise BrokenPipeError("its standard input is closed")
            try:
                left = left[self._socket.send(left) :]
            except _WAIT:
                try:
                    await anyio.wait_writable(self._socket)
                except anyio.ClosedResourceError:
                    raise BrokenPipeError("its standard input is closed") from None

    def end_input(self) -> None:
        """Say that nothing more will be written."""
        with suppress(OSError):
            if isinstance(self._socket, ssl.SSLSocket):
                self._socket.unwrap()  # Sends the notice of the end; what still comes can be read all the same.
            else:
                self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End both directions."""
        if self.open:
            self.open = False
            with suppress(RuntimeError):  # Outside of an event loop nobody waits for it.
                anyio.notify_closing(self._socket)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._response.close()
            self._socket.close()


class Frames:
    """Takes a stream's bytes apart."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Take bytes and yield what they complete: the output's number and its content, in order.

        A long frame is given piece by piece, so that no more than a chunk is ever held.
        """
        self._buffer += data
        start = 0
        while len(self._buffer) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._buffer, start)
            body = bytes(self._buffer[start + _HEAD.size : start + _HEAD.size + length])
            start += _HEAD.size + len(body)
            if body:
                yield kind, body
            if len(body) < length:
                # The rest gets a head of its own, in front of what is still to come.
                del self._buffer[:start]
                self._buffer += _HEAD.pack(kind, length - len(body))
                return
        del self._buffer[:start]

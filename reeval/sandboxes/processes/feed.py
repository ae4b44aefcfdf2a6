"""What does a process read: what was written for it before it started, or what it is sent while it runs?"""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import IO, Self

import anyio

__all__ = ["Feed", "input_of"]

_PIPE = 65_536
"""Bytes that a pipe holds."""


class Feed:
    """The writing end of a running process's standard input."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def opened(cls) -> tuple[int, Self]:
        """Return the end that the process reads, which the caller closes, and the feed."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        return reader, cls(writer)

    async def send(self, data: bytes) -> None:
        """Write all of it; ``OSError`` when nobody reads any more."""
        left = memoryview(data)
        while left:
            if self._descriptor is None:
                raise BrokenPipeError("its standard input is closed")
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)

    def close(self) -> None:
        """Let the process read to the end of its input."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def input_of(data: bytes | None) -> int | IO[bytes]:
    """Return what the process reads: written already, so that nobody has to feed it. A file if no pipe can hold it."""
    if not data:
        return subprocess.DEVNULL
    if len(data) <= _PIPE:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            written = os.write(writer, data)
        except BlockingIOError:
            written = 0
        os.close(writer)
        if written == len(data):
            return reader
        os.close(reader)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file

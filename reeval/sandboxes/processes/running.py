"""How is one process of the host started, read with bounded memory, waited for and ended?"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

import anyio
from anyio import to_thread

from reeval.sandboxes.processes.drain import drain
from reeval.sandboxes.processes.feed import Feed, input_of
from reeval.sandboxes.processes.following import GRACE, Started
from reeval.sandboxes.processes.kin import children_of, end_marked

__all__ = ["Running", "spawn"]

CHUNK = 65_536
LATE = 4 * CHUNK
"""Bytes that two pipes can hold: what comes after them was written by a background child."""
POLL = 0.02
"""Seconds between two looks for the end of a process, where the kernel cannot tell it."""
LAST_WAIT = 5.0
"""Seconds to wait for a killed process. One that hangs in the kernel must not hang the run."""
READY = selectors.EVENT_READ


class Running(Started):
    """A process and its two pipes; implements ``protocols.Process``. To be closed when done with."""

    def __init__(
        self, popen: subprocess.Popen[bytes], feed: Feed | None, pipes: tuple[int, int], mark: str, limit: int
    ) -> None:
        super().__init__(limit)
        self.only_waits = False
        """Whether it does nothing but wait for its child in a sandbox, as ``nsenter`` does."""
        stdout, stderr = pipes
        self._popen = popen
        self._feed = feed
        self._mark = mark
        self._began = time.monotonic()
        self._ended: float | None = None
        self._late = 0
        """Bytes read after its end."""
        self._killed = False
        self._pipes = {stdout: True, stderr: False}
        """File descriptor → whether it is standard output."""
        self._handle = _handle_of(popen.pid)
        self._selector = selectors.DefaultSelector()
        for descriptor in (stdout, stderr, *([] if self._handle is None else [self._handle])):
            self._selector.register(descriptor, READY)

    @property
    def pid(self) -> int:
        """Its number on the host."""
        return self._popen.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._popen.poll() is not None

    async def read(self) -> bytes | None:
        """Wait for something to happen and return the new output, perhaps empty; None at the end.

        Standard error is read along, so that a process cannot block on it while its output is waited for.
        """
        if self._over():
            return None
        await self._something()
        output = b""
        for key, _ in self._selector.select(0):
            if key.fd == self._handle:
                self._look()
            else:
                output += self._read_pipe(key.fd)
        if self._handle is None:
            self._look()
        return output

    async def send(self, data: bytes) -> None:
        """Write to its standard input; ``OSError`` when it reads no more."""
        assert self._feed is not None, 'it was started with stdin="open"'
        await self._feed.send(data)

    async def wait(self) -> int:
        """Return its exit code, minus the signal's number when a signal ended it."""
        while self._popen.poll() is None:
            handle = _handle_of(self._popen.pid)
            if handle is None:
                await anyio.sleep(POLL)
                continue
            try:
                await anyio.wait_readable(handle)
            finally:
                os.close(handle)
        return self._popen.returncode

    async def kill(self) -> None:
        """End it with everything it started."""
        with anyio.CancelScope(shield=True):
            if self.only_waits and self._popen.poll() is None:
                await self._end_child()
            if self._popen.poll() is None or sys.platform != "linux":
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._popen.pid, signal.SIGKILL)
            await to_thread.run_sync(self._end_kin)
            with anyio.move_on_after(LAST_WAIT):
                await self.wait()
            self._killed = True

    def close(self) -> None:
        """Let go of it: what its background children still print is read and dropped."""
        self._selector.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._feed is not None:
            self._feed.close()
        for pipe in self._pipes:
            os.close(pipe) if self._killed else drain(pipe)
        self._pipes = {}

    async def _end_child(self) -> None:
        """End what it waits for, so that it takes the child's end and ends itself.

        Ended together, the child would be left to the machine's first process, and a sandbox has not ended before that
        one has looked for it: seconds later in some containers, never in others.
        """
        for child in children_of(self._popen.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        with anyio.move_on_after(GRACE):
            await self.wait()

    def _end_kin(self) -> None:
        end_marked(self._mark, since=(self._popen.pid, self._began))

    def _over(self) -> bool:
        if not self._pipes:
            return True
        if self._ended is None or time.monotonic() - self._ended < GRACE:
            return False
        # What it wrote itself may still be unread, when this process was busy for longer than the grace.
        return self._late >= LATE or not self._selector.select(0)

    async def _something(self) -> None:
        if self._ended is not None:
            limit = GRACE
        elif self._handle is None:
            limit = POLL
        else:
            await anyio.wait_readable(self._selector)
            return
        with anyio.move_on_after(limit):
            await anyio.wait_readable(self._selector)

    def _look(self) -> None:
        if self._ended is None and self._popen.poll() is not None:
            self._ended = time.monotonic()
            if self._handle is not None:
                self._selector.unregister(self._handle)

    def _read_pipe(self, pipe: int) -> bytes:
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(pipe)
            del self._pipes[pipe]
            os.close(pipe)
            return b""
        if self._ended is not None:
            self._late += len(data)
        if self._pipes[pipe]:
            return data
        self.stderr.add(data)
        return b""


def spawn(
    arguments: Sequence[str | bytes],
    *,
    env: Mapping[str, str],
    directory: str,
    stdin: bytes | Literal["open"] | None,
    mark: str,
    limit: int,
) -> Running:
    """Start a process in a session of its own; raise ``OSError`` or ``ValueError`` when it cannot be.

    ``limit``: bytes of standard error to keep.
    """
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    source, feed = Feed.opened() if stdin == "open" else (input_of(stdin), None)
    try:
        popen = subprocess.Popen(
            arguments, env=env, cwd=directory, stdin=source, stdout=out_end, stderr=err_end, start_new_session=True
        )
    except BaseException:
        os.close(out)
        os.close(err)
        if feed is not None:
            feed.close()
        raise
    finally:
        os.close(out_end)
        os.close(err_end)
        if not isinstance(source, int):
            source.close()
        elif source >= 0:
            os.close(source)
    os.set_blocking(out, False)
    os.set_blocking(err, False)
    return Running(popen, feed, (out, err), mark, limit)


def _handle_of(pid: int) -> int | None:
    """Return a file descriptor that becomes readable when the process ends; None where there is no such thing."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None

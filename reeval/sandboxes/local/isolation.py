"""How is one isolated sandbox started, and how does everything in it end?"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.local.bubblewrap import child_pid, entering

__all__ = ["Isolation", "isolate"]

LAST_WAIT = 5.0
"""Seconds to wait for the end of a killed sandbox."""
MOST_SAID = 4096


class Isolation:
    """The namespaces of a started sandbox, held by its first process."""

    def __init__(self, popen: subprocess.Popen[bytes], pid: int, lifeline: int, *, network: bool) -> None:
        self._popen = popen
        self._pid = pid
        self._lifeline = lifeline
        """The first process reads it; closed, also by the end of this process, it ends the sandbox."""
        self.entry = entering(pid, network=network)
        """What to put before a command to run it inside."""

    @property
    def alive(self) -> bool:
        """Whether the first process still runs."""
        return self._popen.poll() is None

    async def end(self) -> None:
        """Kill every process inside. When this returns the kernel has ended them all."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(LAST_WAIT):
            os.close(self._lifeline)
            if self.alive:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
            await _ended(self._popen)


async def isolate(command: list[str], *, network: bool) -> Isolation:
    """Start a sandbox from ``bubblewrap.arguments`` and return when it is ready; raise ``InfrastructureError``."""
    popen, said, info, lifeline = _start(command)
    try:
        text = await _first_line(said)
        if text == b"ready\n":
            return Isolation(popen, child_pid(_read_all(info)), lifeline, network=network)
    except BaseException:
        _abandon(popen, lifeline)
        raise
    finally:
        os.close(said)
        os.close(info)
    _abandon(popen, lifeline)
    problem = text.decode("utf-8", "replace").strip() or "it ended without a word"
    raise InfrastructureError(Phase.SANDBOX, f"bubblewrap did not start: {problem}", retryable=True)


def _start(command: list[str]) -> tuple[subprocess.Popen[bytes], int, int, int]:
    """Return the process, what it says, what it reports of itself, and its lifeline."""
    (said, says), (info, informs), (life, lifeline) = os.pipe(), os.pipe(), os.pipe()
    program, *rest = command
    try:
        # --die-with-parent holds for the thread that starts it: this one, the event loop's, never a worker.
        popen = subprocess.Popen(
            [program, "--info-fd", str(informs), *rest],
            env={},
            stdin=life,
            stdout=says,
            stderr=says,
            pass_fds=(informs,),
            start_new_session=True,
        )
    except OSError as error:
        for own in (said, info, lifeline):
            os.close(own)
        raise InfrastructureError(Phase.SANDBOX, f"bubblewrap did not start: {error}", retryable=True) from error
    finally:
        for theirs in (says, informs, life):
            os.close(theirs)
    os.set_blocking(said, False)
    return popen, said, info, lifeline


async def _first_line(pipe: int) -> bytes:
    text = b""
    while b"\n" not in text and len(text) < MOST_SAID:
        await anyio.wait_readable(pipe)
        data = os.read(pipe, MOST_SAID)
        if not data:
            break
        text += data
    return text


def _read_all(pipe: int) -> bytes:
    """Read what bubblewrap wrote and closed before it started the first process."""
    data = b""
    while chunk := os.read(pipe, MOST_SAID):
        data += chunk
    return data


def _abandon(popen: subprocess.Popen[bytes], lifeline: int) -> None:
    os.close(lifeline)
    popen.kill()
    popen.wait()


async def _ended(popen: subprocess.Popen[bytes]) -> None:
    while popen.poll() is None:
        handle = os.pidfd_open(popen.pid)
        try:
            await anyio.wait_readable(handle)
        finally:
            os.close(handle)

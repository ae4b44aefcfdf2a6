"""``--detach`` and ``--follow``: how does a run go on in the background, and how is it watched from there?"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reeval.cli.output import print_lines, print_note
from reeval.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory

__all__ = ["OUTPUT", "Began", "detach", "follow"]

OUTPUT = "output.log"
"""In the run's directory: what the run would have printed."""
Began = Callable[[Path], None]
"""Takes the run's directory, once there is one."""

_POLL = 0.2
"""Seconds between two looks at a run."""
_LINGER = 30.0
"""Seconds that a run may still print after it let go of its record."""


def detach() -> Began:
    """Go on in a process that outlives this one and its terminal; this one waits until the run has begun, and leaves.

    The caller is the new process, and calls what is returned once the run has a directory: until then its errors go to
    the terminal and its exit code is the command's.
    """
    if not hasattr(os, "fork"):
        raise UsageError("--detach forks, which this system cannot; leave it out")
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        raise typer.Exit(_await(child, reading))
    os.close(reading)
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return lambda directory: _leave_terminal(directory, writing)


def _await(child: int, reading: int) -> int:
    """Print the id of the run that the child began; return the exit code."""
    try:
        with os.fdopen(reading) as pipe:
            run_id = pipe.read()
    except KeyboardInterrupt:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
        raise
    if not run_id:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print_lines([run_id])
    print_note(f"it runs in the background: reeval show {run_id} --follow")
    return ExitCode.OK


def _leave_terminal(directory: Path, writing: int) -> None:
    """Write to the run's directory from here on, and tell the waiting process that it may leave."""
    sys.stdout.flush()
    sys.stderr.flush()
    output = os.open(directory / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it is the process's own
    os.write(writing, directory.name.encode())
    os.close(writing)


def follow(run: RunDirectory) -> bool:
    """Print what a run in the background prints, until its end; False: it prints elsewhere, or ended before.

    A run that prints elsewhere is waited for.
    """
    if not run.is_alive():
        return False
    path = run.path / OUTPUT
    if not path.is_file():
        while run.is_alive():
            time.sleep(_POLL)
        return False
    pid = run.start().pid
    with path.open(encoding="utf-8", errors="replace") as output:
        while _goes_on(run, pid):
            _copy(output.read())
            time.sleep(_POLL)
        _copy(output.read())
    return True


def _goes_on(run: RunDirectory, pid: int) -> bool:
    if run.is_alive():
        return True
    ended = run.journal.stat().st_mtime
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return time.time() - ended < _LINGER


def _copy(text: str) -> None:
    if text:
        sys.stdout.write(text)  # already escaped for a terminal
        sys.stdout.flush()

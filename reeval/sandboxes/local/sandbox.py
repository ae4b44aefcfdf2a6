"""What can be done in a started local sandbox? Commands, files, snapshots."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from anyio import to_thread

from reeval.authoring import Command
from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Process, Snapshot
from reeval.sandboxes.changes.diff import changes_between
from reeval.sandboxes.changes.objects import ObjectStore
from reeval.sandboxes.changes.snapshot import Tracker, TreeSnapshot
from reeval.sandboxes.directories import AttemptDirectory
from reeval.sandboxes.local.bubblewrap import HOME, PATH, TMP, WORKSPACE
from reeval.sandboxes.local.isolation import Isolation
from reeval.sandboxes.local.options import LocalOptions
from reeval.sandboxes.local.paths import Roots
from reeval.sandboxes.processes.arguments import PLAIN, arguments_of, command_text, refusal, too_long
from reeval.sandboxes.processes.following import finished, held
from reeval.sandboxes.processes.kin import MARK, end_marked, marked
from reeval.sandboxes.processes.running import Running, spawn
from reeval.sandboxes.variables import own_variables
from reeval.schema.transcript import Changes, CommandResult

__all__ = ["LocalSandbox", "Place"]

LIMITED = 'ulimit -u "$0" 2>/dev/null || ulimit -p "$0" 2>/dev/null; exec "$@"'
"""Bash and dash have different letters for the number of processes."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """What one sandbox stands on."""

    key: str
    """The attempt's."""
    directory: AttemptDirectory
    options: LocalOptions
    isolation: Isolation | None
    prepared: Path | None
    """The tree whose copy the workspace was at first."""
    programs: tuple[str, ...] = ()
    """Directories whose ``bin`` is on the ``PATH``, before all others."""


class LocalSandbox:
    """Implements ``protocols.Sandbox``."""

    def __init__(self, place: Place) -> None:
        directory = place.directory
        self._place = place
        self._view = _view(place)
        hosts = (directory.workspace, directory.home, directory.tmp)
        seen = (self._view.workspace, self._view.home, self._view.tmp)
        self._roots = Roots(*seen[:2], dict(zip(seen, hosts, strict=True)))
        store = ObjectStore(Path(directory.state))
        self._tracker = Tracker(directory.workspace, store, prepared=place.prepared is not None)
        self._env = own_variables(place.key, home=self._view.home, path=self._view.path, tmp=self._view.tmp)
        self._count = 0
        self._first: tuple[int, float] | None = None
        """The first process's number, and a moment before it started."""

    def look(self) -> None:
        """Take in what was placed, before anything runs. Blocking."""
        if self._place.prepared is not None:
            self._tracker.snapshot()

    def end(self) -> None:
        """Kill every process of a plain directory, in whatever session. Blocking."""
        if self._first is not None:
            directory = self._place.directory
            end_marked(directory.mark, below=directory.path, since=self._first)

    @property
    def left_running(self) -> bool:
        """Whether ``end`` has something to do, in a plain directory."""
        directory = self._place.directory
        return self._first is not None and bool(marked(directory.mark, below=directory.path, since=self._first))

    @property
    def workspace(self) -> str:
        """The workspace's path, as processes in it see it."""
        return self._view.workspace

    async def exec(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        """Run a command to its end; what it started and left running lives until the attempt ends."""
        began = time.perf_counter()
        running = self._spawn(command, env, stdin)
        result = await finished(running, command, limit=self._place.options.output_limit, began=began)
        self._check()
        return result

    @asynccontextmanager
    async def start(
        self,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | Literal["open"] | None = None,
    ) -> AsyncIterator[Process]:
        """Start a process; leaving the block ends it, if it still runs, with everything it started."""
        async with held(self._spawn(command, env, stdin)) as running:
            yield running

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """Read a file, never one outside of the sandbox's own directories."""
        return await to_thread.run_sync(self._roots.read, path, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file, making its directories."""
        with _disk_errors(path):
            await to_thread.run_sync(self._roots.write, path, data)

    async def exists(self, path: str) -> bool:
        """Say whether there is a file or directory."""
        return await to_thread.run_sync(self._roots.exists, path)

    async def snapshot(self) -> Snapshot:
        """Remember the workspace as it is now."""
        with _disk_errors("the workspace"):
            return await to_thread.run_sync(self._tracker.snapshot)

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """Return what differs between two snapshots."""
        assert isinstance(before, TreeSnapshot), "a snapshot of this sandbox"
        assert isinstance(after, TreeSnapshot), "a snapshot of this sandbox"
        if before is after:
            return Changes()
        with _disk_errors("the workspace"):
            return await to_thread.run_sync(changes_between, before, after, self._place.prepared, self._tracker.store)

    def _spawn(self, command: Command, env: Mapping[str, str] | None, stdin: bytes | Literal["open"] | None) -> Running:
        self._check()
        self._count += 1
        mark = f"{self._place.directory.mark}{self._count}."
        began = time.monotonic()
        try:
            running = spawn(
                self._arguments(command),
                env={**self._env, **(env or {}), MARK: mark},
                directory=self._directory(),
                stdin=stdin,
                mark=mark,
                limit=self._place.options.output_limit,
            )
        except ValueError as error:
            raise refusal(command, error) from error
        except OSError as error:
            raise _not_started(command, error) from error
        running.only_waits = self._place.isolation is not None
        if self._first is None:
            self._first = (running.pid, began)
        return running

    def _arguments(self, command: Command) -> list[str]:
        arguments = arguments_of(command)
        isolation = self._place.isolation
        if isolation is not None and os.geteuid() != 0:
            arguments = ["/bin/sh", "-c", LIMITED, str(self._place.options.processes), *arguments]
        elif not isinstance(command, str):
            arguments = ["/bin/sh", "-c", PLAIN, "sh", *arguments]
        return [*isolation.entry, *arguments] if isolation else arguments

    def _directory(self) -> str:
        if self._place.isolation is not None:
            return "/"
        # An agent can remove the directory it works in; the next command finds an empty one, as it would isolated.
        os.makedirs(self._view.workspace, exist_ok=True)  # noqa: PTH103 - hot
        return self._view.workspace

    def _check(self) -> None:
        if self._place.isolation is not None and not self._place.isolation.alive:
            raise InfrastructureError(Phase.SANDBOX, "the sandbox ended too early: its first process is gone")


@dataclass(frozen=True, slots=True)
class _View:
    """The sandbox as the processes in it see it."""

    workspace: str
    home: str
    tmp: str
    path: str
    """The ``PATH`` of its processes."""


def _view(place: Place) -> _View:
    programs = "".join(f"{directory}/bin:" for directory in place.programs)
    if place.isolation is not None:
        return _View(WORKSPACE, HOME, TMP, f"{programs}{PATH}")
    directory = place.directory
    # A plain directory is for machines without isolation too, where programs are in other places (/opt/homebrew).
    path = f"{programs}{sys.base_prefix}/bin:{os.environ.get('PATH') or os.defpath}"
    return _View(directory.workspace, directory.home, directory.tmp, path)


def _not_started(command: Command, error: OSError) -> Exception:
    if error.errno == errno.E2BIG:
        return too_long(command)
    reason = f"the command {command_text(command)[:200]!r} could not be started: {error.strerror or error}"
    return InfrastructureError(Phase.SANDBOX, reason)


@contextmanager
def _disk_errors(what: str) -> Iterator[None]:
    """Tell a disk that is full or broken from a path that cannot be used."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE}:
            raise
        reason = f"{what}: {error.strerror} (in the system's temporary directory)"
        raise InfrastructureError(Phase.SANDBOX, reason) from error

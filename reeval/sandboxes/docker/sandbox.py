"""What can be done in a started container? Commands, files, snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

from anyio import to_thread

from reeval.authoring import Command
from reeval.protocols import Process, Snapshot
from reeval.sandboxes.changes.diff import changes_between
from reeval.sandboxes.changes.objects import ObjectStore
from reeval.sandboxes.changes.snapshot import TreeSnapshot
from reeval.sandboxes.docker.container import Container
from reeval.sandboxes.docker.images.prepared import HOME, PreparedImage
from reeval.sandboxes.docker.inside.commands import Commands
from reeval.sandboxes.docker.inside.files import Files
from reeval.sandboxes.docker.inside.watching import Watcher
from reeval.sandboxes.docker.options import DockerOptions
from reeval.schema.transcript import Changes, CommandResult

__all__ = ["DockerSandbox"]


class DockerSandbox:
    """Implements ``protocols.Sandbox``."""

    def __init__(self, container: Container, image: PreparedImage, options: DockerOptions, state: str) -> None:
        """``state``: a host directory of the attempt, where versions of files are kept."""
        self._workspace = options.workdir
        self._image = image
        self._store = ObjectStore(Path(state))
        self._commands = Commands(container, workdir=options.workdir, limit=options.output_limit)
        self._files = Files(container, self._commands, workspace=options.workdir, home=HOME)
        self._watcher = Watcher(container.channel, options.workdir, image, self._store)

    async def look(self) -> None:
        """Take in what was placed, before anything runs."""
        await self._watcher.look()

    @property
    def workspace(self) -> str:
        """The workspace's path, as processes in it see it."""
        return self._workspace

    async def exec(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        """Run a command to its end; what it started and left running lives until the attempt ends."""
        return await self._commands.exec(command, env=env, stdin=stdin)

    def start(
        self,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | Literal["open"] | None = None,
    ) -> AbstractAsyncContextManager[Process]:
        """Start a process; leaving the block ends it, if it still runs, with everything it started."""
        return self._commands.start(command, env=env, stdin=stdin)

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """Read a file, never one outside of the sandbox's own directories."""
        return await self._files.read(path, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file, making its directories."""
        await self._files.write(path, data)

    async def exists(self, path: str) -> bool:
        """Say whether there is a file or directory."""
        return await self._files.exists(path)

    async def snapshot(self) -> Snapshot:
        """Remember the workspace as it is now."""
        return await self._watcher.snapshot(untouched=self._commands.untouched and not self._files.written)

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """Return what differs between two snapshots."""
        assert isinstance(before, TreeSnapshot), "a snapshot of this sandbox"
        assert isinstance(after, TreeSnapshot), "a snapshot of this sandbox"
        if before is after:
            return Changes()
        return await to_thread.run_sync(changes_between, before, after, self._image.tree, self._store)

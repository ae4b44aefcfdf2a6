"""How does a local sandbox come up for an attempt, and go down with everything in it?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import CancelScope, to_thread

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import SandboxRequest
from reeval.sandboxes.directories import AttemptDirectory, create, remove
from reeval.sandboxes.local.bubblewrap import arguments, write_etc
from reeval.sandboxes.local.isolation import Isolation, isolate
from reeval.sandboxes.local.options import LocalOptions
from reeval.sandboxes.local.sandbox import LocalSandbox, Place
from reeval.schema.environment import PreparedTree

__all__ = ["copy_into", "opened", "started"]


@asynccontextmanager
async def opened(request: SandboxRequest, options: LocalOptions) -> AsyncIterator[LocalSandbox]:
    """Give a started sandbox; raise ``InfrastructureError`` when it does not start."""
    directory = create(request.run_id, request.root, keep=request.keep)
    try:
        async with started(directory, request, options) as sandbox:
            yield sandbox
    finally:
        if request.keep:
            request.kept(str(directory.path))
        else:
            with CancelScope(shield=True):
                await to_thread.run_sync(remove, directory.path)


@asynccontextmanager
async def started(
    directory: AttemptDirectory, request: SandboxRequest, options: LocalOptions
) -> AsyncIterator[LocalSandbox]:
    """Give a sandbox in an attempt's directory, which stays when everything in it has ended."""
    prepared = await _placed(request.tree, directory)
    isolation = await _isolation(directory, request, options) if request.sandbox.isolated else None
    place = Place(
        key=request.key,
        directory=directory,
        options=options,
        isolation=isolation,
        prepared=prepared,
        programs=request.programs,
    )
    sandbox = LocalSandbox(place)
    try:
        if prepared is not None:
            await to_thread.run_sync(sandbox.look)
        yield sandbox
    finally:
        if isolation is not None:
            await isolation.end()
        elif sandbox.left_running:
            with CancelScope(shield=True):
                await to_thread.run_sync(sandbox.end)


async def _isolation(directory: AttemptDirectory, request: SandboxRequest, options: LocalOptions) -> Isolation:
    network = request.egress is None or request.egress.mode == "allow-all"
    try:
        etc = write_etc(directory.shared, network=network)
    except OSError as error:
        raise InfrastructureError(Phase.SANDBOX, f"{directory.path}: {error.strerror or error}") from error
    seen = (*options.read_only, *request.programs)
    return await isolate(arguments(directory, etc, network=network, read_only=seen), network=network)


async def _placed(tree: PreparedTree | None, directory: AttemptDirectory) -> Path | None:
    """Copy a prepared tree into place and return the host directory that its workspace was copied from."""
    if tree is None:
        return None
    for source, target in ((tree.workspace, directory.workspace), (tree.home, directory.home)):
        if source is not None:
            await to_thread.run_sync(copy_into, source, target)
    return None if tree.workspace is None else Path(tree.workspace)


def copy_into(source: str, target: str) -> None:
    """Copy what is in a directory, with modes and links. The system's own tool is faster than Python by far."""
    _run("cp", "-pPR", f"{source}/.", target)
    if os.geteuid() == 0 and os.stat(source).st_uid != 0:  # noqa: PTH116 - beside os.geteuid
        # A tree from the cache of another user: the agent must be able to write it.
        _run("chown", "-hR", "0:0", target)


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = done.stderr.strip().partition("\n")[0][:500]
        raise InfrastructureError(Phase.SANDBOX, f"the environment could not be copied into the sandbox: {said}")

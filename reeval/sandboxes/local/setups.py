"""What do cached setup steps leave in a local sandbox? They run once for what they depend on, and it is kept."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
from anyio import CancelScope, to_thread

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import SandboxRequest
from reeval.sandboxes.directories import AttemptDirectory, create, remove
from reeval.sandboxes.local.opening import copy_into, started
from reeval.sandboxes.local.options import LocalOptions
from reeval.sandboxes.steps import run_step
from reeval.schema.environment import PreparedTree
from reeval.shelf import CACHE, SETUPS, Held, claim, hold, making, note_size, put

__all__ = ["KeptSetup", "kept_setup"]

_ALGORITHM = "reeval setup 1"
"""Part of every name: a change of what is kept must not reuse what was kept before."""
_AGAIN = 0.05
"""Seconds between two looks at what another process, or another attempt, makes."""
_CHUNK = 1 << 20


class KeptSetup:
    """What the steps left, as the tree that attempts start from; nothing removes it while this object lives."""

    def __init__(self, place: Path, held: Held, skills: tuple[str, ...]) -> None:
        self._held = held
        self.tree = PreparedTree(
            digest=place.name,
            workspace=os.fspath(place / "workspace"),
            home=os.fspath(place / "home"),
            skills=skills,
        )


async def kept_setup(request: SandboxRequest, options: LocalOptions) -> KeptSetup:
    """Return what the request's cached steps leave; they run now if they never did.

    Raises ``InfrastructureError`` for a step that fails, and then nothing is kept.
    """
    place = request.root.resolve() / CACHE / SETUPS / _name(request, options)
    skills = request.tree.skills if request.tree else ()
    while (held := hold(place)) is None:
        claimed = claim(place)
        if claimed is None:
            await anyio.sleep(_AGAIN)
            continue
        try:
            # Another process may have put it there between the look and the claim.
            if (held := hold(place)) is None:
                await _make(place, request, options)
        finally:
            claimed.release()
    return KeptSetup(place, held, skills)


def _name(request: SandboxRequest, options: LocalOptions) -> str:
    """Name what the steps depend on: where they start from, what they run, and the machine they run on."""
    parts = {
        "algorithm": _ALGORITHM,
        "tree": request.tree.digest if request.tree and (request.tree.workspace or request.tree.home) else None,
        "steps": [step.run for step in request.cached],
        "env": dict(request.cached_env),
        "isolated": request.sandbox.isolated,
        "read_only": options.read_only,
        "programs": request.programs,
        "egress": request.egress.mode if request.egress else None,
        "platform": [sys.platform, platform.machine(), sys.base_prefix, sys.version, _system()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _system() -> str:
    """Return what says which release of which system this is: another one has other libraries."""
    with suppress(OSError):
        return Path("/etc/os-release").read_text(errors="replace")
    return platform.release()


async def _make(place: Path, request: SandboxRequest, options: LocalOptions) -> None:
    """Run the steps in a sandbox of their own, and keep its workspace and home when everything in it has ended."""
    first = replace(request, key=f"{request.key} (cached setup)", cached=(), cached_env={}, keep=False)
    directory = create(request.run_id, request.root, keep=False)
    try:
        async with started(directory, first, options) as sandbox:
            for step in request.cached:
                await run_step(sandbox, step, request.cached_env)
        await to_thread.run_sync(_keep, directory, place, request)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(remove, directory.path)


def _keep(directory: AttemptDirectory, place: Path, request: SandboxRequest) -> None:
    if not request.sandbox.isolated:
        _refuse_own_path(directory)
    try:
        with making(place.parent) as building:
            for source, name in ((directory.workspace, "workspace"), (directory.home, "home")):
                (building / name).mkdir()
                copy_into(source, os.fspath(building / name))
            note_size(building)
            put(building, place)
    except OSError as error:
        reason = f"what cached setup steps left cannot be kept in {place.parent}: {error.strerror or error}"
        raise InfrastructureError(Phase.SETUP, f"{reason}; run `reeval clean` or free some space") from error


def _refuse_own_path(directory: AttemptDirectory) -> None:
    """Refuse files that name the plain directory they were made in: in an attempt's own they would lead nowhere.

    In an isolated sandbox, and in a container, every attempt has the same paths.
    """
    needle = os.fsencode(directory.path)
    for top in (directory.workspace, directory.home):
        for above, directories, files in os.walk(top):
            for path in (Path(above, name) for name in (*directories, *files)):
                if _names(path, needle):
                    shown = str(path.relative_to(directory.path))
                    reason = (
                        f"what cached setup steps left cannot be moved to other attempts: {shown!r} holds the path of "
                        "the plain directory where they ran; isolate the sandbox, or leave cache out"
                    )
                    raise InfrastructureError(Phase.SETUP, reason)


def _names(path: Path, needle: bytes) -> bool:
    """Say whether a file, or the target of a link, holds ``needle``."""
    try:
        if path.is_symlink():
            return needle in os.fsencode(path.readlink())
        if not path.is_file():
            return False
        with path.open("rb") as file:
            end = b""
            while chunk := file.read(_CHUNK):
                if needle in end + chunk:
                    return True
                end = chunk[-len(needle) :]
    except OSError:
        return False
    return False

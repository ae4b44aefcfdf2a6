"""What do the attempts of a cell start from? An image with the agent's home, its programs and the environment in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import SandboxRequest
from reeval.sandboxes.changes.snapshot import TreeSnapshot
from reeval.sandboxes.docker.container import Container, ContainerRequest, opened_container
from reeval.sandboxes.docker.engine.client import Engine
from reeval.sandboxes.docker.images.archives import ROOT, Archive, Owner, listing_digest, member
from reeval.sandboxes.docker.images.base import base_image, image_config
from reeval.sandboxes.docker.images.layers import Layers, content_key
from reeval.sandboxes.docker.inside.commands import Commands
from reeval.sandboxes.docker.options import DockerOptions
from reeval.sandboxes.steps import run_step
from reeval.schema.environment import PreparedTree

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["HOME", "PreparedImage", "prepare_image"]

HOME = "/home/agent"
FORM = "1"
"""Of what is put into an image beside an environment's files: with another form nothing earlier is reused."""
USER = Owner(1000, 1000)
TAIL = 4000
"""Characters of a failed command's output that are kept."""
_INSTALL_OUTPUT = 64 * 1024
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(eq=False, kw_only=True)
class PreparedImage:
    """What containers are made from."""

    id: str
    owner: Owner
    env: Mapping[str, str]
    """Variables of the image, with ``PATH``."""
    tree: Path | None = None
    """Host directory that the workspace was copied from; None: it is not known what it holds."""
    baseline: TreeSnapshot | None = None
    """The workspace of a new container, as soon as one of them was looked at."""


Opener = Callable[[PreparedImage], AbstractAsyncContextManager[Container]]
"""Starts a container as an attempt's."""


async def prepare_image(engine: Engine, request: SandboxRequest, options: DockerOptions, open: Opener) -> PreparedImage:
    """Make the image, or find it; raise ``InfrastructureError``."""
    layers = Layers(engine, request.root, request.run_id)
    base = await base_image(engine, options, request.root)
    if options.install:
        base = await _with_installed(layers, base, options.install)
    id, owner = await _with_home(layers, base, options)
    if request.programs:
        id = await _with_programs(layers, id, request.programs)
    if request.tree is not None and (request.tree.workspace or request.tree.home):
        id = await _with_tree(layers, id, owner, request.tree, options.workdir)
    env = await _variables(engine, base, request.programs)
    if request.tree is None or request.tree.workspace is None:
        image = PreparedImage(id=id, owner=owner, env=env, baseline=TreeSnapshot({}))
    else:
        image = PreparedImage(id=id, owner=owner, env=env, tree=Path(request.tree.workspace))
    return await _with_setup(layers, image, request, options, open) if request.cached else image


async def _with_installed(layers: Layers, base: str, commands: Sequence[str]) -> str:
    """Return the image that ``install`` commands make of another: run as root, with a network, one after the other."""

    async def make(tag: str) -> None:
        request = ContainerRequest(
            image=base, user="0:0", env={}, labels=layers.labels("install"), network="bridge", capable=True
        )
        async with opened_container(layers.engine, request) as container:
            run = Commands(container, workdir="/", limit=_INSTALL_OUTPUT)
            for command in commands:
                done = await run.exec(command)
                if not done.ok:
                    reason = f"the install command {command!r} exited with {done.exit_code}"
                    output = f"{done.stdout}\n{done.stderr}".strip()[-TAIL:]
                    raise InfrastructureError(Phase.SANDBOX, reason, detail=output)
            await container.stop()
            await layers.commit(container.id, tag)

    return await layers.made(content_key("install", base, *commands), make)


async def _with_home(layers: Layers, base: str, options: DockerOptions) -> tuple[str, Owner]:
    """Add a home and a workspace that belong to the agent, and its name where the image has none for it."""
    owner = ROOT if options.root else await _owner(layers, base, options.user)

    async def make(tag: str) -> None:
        async with layers.draft(base) as draft:
            names = await layers.engine.call(lambda client: _file(client, draft, "/etc/passwd"))
        archive = Archive()
        archive.directory("tmp", ROOT, 0o1777)
        archive.directory(HOME, owner)
        archive.above(options.workdir)
        archive.directory(options.workdir, owner)
        if not re.search(rb"(?m)^[^:]*:[^:]*:%d:" % owner.uid, names):
            own = f"agent:x:{owner.uid}:{owner.gid}:agent:{HOME}:/bin/sh\n".encode()
            archive.file("etc/passwd", names + (b"" if names.endswith(b"\n") or not names else b"\n") + own)
        await layers.archived(base, tag, archive)

    key = content_key(FORM, "home", base, f"{owner.uid}:{owner.gid}", options.workdir)
    return await layers.made(key, make), owner


async def _with_programs(layers: Layers, parent: str, programs: tuple[str, ...]) -> str:
    async def make(tag: str) -> None:
        archive = Archive()
        for program in programs:
            archive.above(program)
            archive.tree(program, program, ROOT, readable=True)
        await layers.archived(parent, tag, archive)

    return await layers.made(content_key(FORM, "programs", parent, *map(listing_digest, programs)), make)


async def _with_tree(layers: Layers, parent: str, owner: Owner, tree: PreparedTree, workdir: str) -> str:
    async def make(tag: str) -> None:
        archive = Archive()
        for source, target in ((tree.workspace, workdir), (tree.home, HOME)):
            if source is not None:
                archive.tree(source, target, owner)
        await layers.archived(parent, tag, archive)

    return await layers.made(content_key(FORM, "tree", parent, tree.digest), make)


async def _with_setup(
    layers: Layers, image: PreparedImage, request: SandboxRequest, options: DockerOptions, open: Opener
) -> PreparedImage:
    """Return the image that cached steps make of another: run as an attempt's are, with its network."""

    async def make(tag: str) -> None:
        async with open(image) as container:
            commands = Commands(container, workdir=options.workdir, limit=options.output_limit)
            for step in request.cached:
                await run_step(commands, step, request.cached_env)
            await container.stop()
            await layers.commit(container.id, tag)

    steps = (step.run for step in request.cached)
    variables = (f"{name}={value}" for name, value in sorted(request.cached_env.items()))
    network = f"{request.egress.mode} {' '.join(request.egress.hosts)}" if request.egress else ""
    key = content_key("setup", image.id, network, *variables, "\0", *steps)
    # What the steps wrote is not in the prepared tree: the first look at a workspace reads all of it.
    return replace(image, id=await layers.made(key, make), tree=None, baseline=None)


async def _owner(layers: Layers, base: str, user: str | None) -> Owner:
    if user is None:
        return USER
    first, _, second = user.partition(":")
    if first.isdecimal():
        return Owner(int(first), int(second or first))
    async with layers.draft(base) as draft:
        names = await layers.engine.call(lambda client: _file(client, draft, "/etc/passwd"))
    found = re.search(rb"(?m)^%s:[^:]*:(\d+):(\d+):" % re.escape(user.encode()), names)
    if found is None:
        reason = f"the image has no user {user!r} in its /etc/passwd; write a number, such as user = 1000"
        raise InfrastructureError(Phase.SANDBOX, reason)
    return Owner(int(found[1]), int(found[2]))


async def _variables(engine: Engine, base: str, programs: tuple[str, ...]) -> Mapping[str, str]:
    config = await engine.call(lambda _: image_config(engine, base))
    given = (config or {}).get("Config") or {}
    env = dict(pair.split("=", 1) for pair in given.get("Env") or () if "=" in pair)
    env["PATH"] = ":".join([*(f"{program}/bin" for program in programs), env.get("PATH") or _PATH])
    return env


def _file(client: APIClient, container: str, path: str) -> bytes:
    """Return what a small file of a container holds; nothing when it is not there."""
    from docker.errors import NotFound

    try:
        chunks, _ = client.get_archive(container, path)
    except NotFound:
        return b""
    return member(b"".join(chunks))

"""How does a container come up for an attempt, and go down with everything that belongs to it?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio import CancelScope, to_thread

from reeval.protocols import SandboxRequest
from reeval.sandboxes.directories import create, remove
from reeval.sandboxes.docker.container import Container, ContainerRequest, opened_container
from reeval.sandboxes.docker.egress.links import Links
from reeval.sandboxes.docker.egress.network import open_network
from reeval.sandboxes.docker.engine.client import Engine
from reeval.sandboxes.docker.images.prepared import HOME, PreparedImage
from reeval.sandboxes.docker.labels import attempt_labels
from reeval.sandboxes.docker.options import DockerOptions
from reeval.sandboxes.docker.sandbox import DockerSandbox
from reeval.sandboxes.variables import own_variables

__all__ = ["opened", "opened_bare"]


@asynccontextmanager
async def opened(
    engine: Engine, request: SandboxRequest, options: DockerOptions, image: PreparedImage, links: Links
) -> AsyncIterator[DockerSandbox]:
    """Give a started sandbox; raise ``InfrastructureError`` when it does not start."""
    directory = create(request.run_id, request.root, keep=False)
    try:
        async with opened_bare(engine, request, options, image, links) as container:
            sandbox = DockerSandbox(container, image, options, directory.state)
            await sandbox.look()
            yield sandbox
            if request.keep:
                request.kept(f"the container {container.name} (docker exec -it {container.name} sh)")
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(remove, directory.path)


@asynccontextmanager
async def opened_bare(
    engine: Engine, request: SandboxRequest, options: DockerOptions, image: PreparedImage, links: Links
) -> AsyncIterator[Container]:
    """Give the container of a sandbox, in its network."""
    async with open_network(request, links, options.proxy_image or image.id) as network:
        user = "root" if options.root else "agent"
        own = own_variables(request.key, home=HOME, path=image.env["PATH"], tmp="/tmp", user=user)  # noqa: S108 - its own
        described = ContainerRequest(
            image=image.id,
            user=f"{image.owner.uid}:{image.owner.gid}",
            env={**image.env, **own, **network.env},
            labels=attempt_labels(request.root, request.run_id, request.key, keep=request.keep),
            network=network.mode,
            dns=network.dns,
            host=_limits(options),
            capable=options.root,
            keep=request.keep,
        )
        async with opened_container(engine, described) as container:
            yield container


def _limits(options: DockerOptions) -> dict[str, Any]:
    """Return the limits of a container in the engine's words."""
    host: dict[str, Any] = {"PidsLimit": options.processes}
    if options.cpus is not None:
        host["NanoCpus"] = int(options.cpus * 1e9)
    if options.memory is not None:
        # Equal to the memory, as otherwise as much again may be swapped out.
        host |= {"Memory": options.memory, "MemorySwap": options.memory}
    if options.disk is not None:
        host["StorageOpt"] = {"size": str(options.disk)}
    return host

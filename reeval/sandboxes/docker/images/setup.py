"""What do setup steps leave that may be cached? An image, made once and started from ever after."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.container import Container
from reeval.sandboxes.docker.images.layers import Layers, content_key
from reeval.sandboxes.docker.images.prepared import PreparedImage
from reeval.sandboxes.docker.inside.commands import Commands
from reeval.sandboxes.docker.options import DockerOptions
from reeval.sandboxes.steps import run_step

__all__ = ["with_setup"]

Opener = Callable[[PreparedImage], AbstractAsyncContextManager[Container]]
"""Starts a container as an attempt's."""


async def with_setup(
    layers: Layers, image: PreparedImage, request: SandboxRequest, options: DockerOptions, open: Opener
) -> PreparedImage:
    """Return the image that the cached steps make of another; raise ``InfrastructureError`` (phase ``setup``)."""

    async def make(tag: str) -> None:
        async with open(image) as container:
            commands = Commands(container, workdir=options.workdir, limit=options.output_limit, memory=options.memory)
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

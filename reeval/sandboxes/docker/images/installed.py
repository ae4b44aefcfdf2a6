"""What do commands leave that run once, in a container of their own, for everybody who starts from there?"""

from __future__ import annotations

from collections.abc import Sequence

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.container import ContainerRequest, opened_container
from reeval.sandboxes.docker.images.layers import Layers, content_key
from reeval.sandboxes.docker.inside.commands import Commands

__all__ = ["installed"]

TAIL = 4000
"""Characters of a failed command's output that are kept."""
_LIMIT = 64 * 1024


async def installed(layers: Layers, base: str, commands: Sequence[str]) -> str:
    """Return the image that ``install`` commands make of another: run as root, with a network, one after the other."""

    async def make(tag: str) -> None:
        request = ContainerRequest(
            image=base, user="0:0", env={}, labels=layers.labels("install"), network="bridge", capable=True
        )
        async with opened_container(layers.engine, request) as container:
            run = Commands(container, workdir="/", limit=_LIMIT)
            for command in commands:
                done = await run.exec(command)
                if not done.ok:
                    reason = f"the install command {command!r} exited with {done.exit_code}"
                    output = f"{done.stdout}\n{done.stderr}".strip()[-TAIL:]
                    raise InfrastructureError(Phase.SANDBOX, reason, detail=output)
            await container.stop()
            await layers.commit(container.id, tag)

    return await layers.made(content_key("install", base, *commands), make)

"""How does a container begin, and how does it go away whatever it is doing?"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.client import Engine, EngineError, explaining
from reeval.sandboxes.docker.engine.streams import Stream

__all__ = ["LAST_WAIT", "ImageGoneError", "Made", "made_container", "started_container"]

LAST_WAIT = 20.0
"""Seconds to wait for the end of a container: an engine that hangs must not hang the run."""
_LIFELINE = {
    "Cmd": [],
    "WorkingDir": "/",
    "OpenStdin": True,
    # The end of this process, or of the connection to it, is the end of the container.
    "StdinOnce": True,
    "AttachStdin": True,
    "AttachStdout": True,
    "AttachStderr": True,
    "Healthcheck": {"Test": ["NONE"]},
}
_CONFINED = {"LogConfig": {"Type": "none", "Config": {}}, "SecurityOpt": ["no-new-privileges"]}
_log = logging.getLogger(__name__)


class Made(NamedTuple):
    """A container."""

    id: str
    name: str


class ImageGoneError(InfrastructureError):
    """The image that a container shall be made of is not there (any more)."""

    def __init__(self, image: str, said: str) -> None:
        # What reeval made it calls by its id, and makes again.
        step = "run again" if image.startswith("sha256:") else f"docker pull {image}, then run again"
        super().__init__(Phase.SANDBOX, f"the image {image!r} is gone from the container engine; {step}", detail=said)


@asynccontextmanager
async def made_container(
    engine: Engine, config: Mapping[str, Any], use: str, *, keep: bool = False
) -> AsyncIterator[Made]:
    """Give a container that does not run, from a config in the engine's own words, and remove it.

    ``use``: what it is for, in its name and in messages. Raises ``InfrastructureError``, also as ``ImageGoneError``.
    """
    name = f"reeval-{use}-{secrets.token_hex(8)}"
    try:
        id = await engine.call(
            lambda client: str(client.create_container_from_config(config, name)["Id"]),
            undo=lambda made: _remove(engine, made),
        )
    except EngineError as error:
        raise _not_made(config, use, error) from error
    try:
        yield Made(id, name)
    finally:
        if not keep:
            with anyio.CancelScope(shield=True), anyio.move_on_after(LAST_WAIT), suppress(InfrastructureError):
                await engine.call(lambda _: _remove(engine, id))


@asynccontextmanager
async def started_container(
    engine: Engine, config: Mapping[str, Any], use: str, *, without: str, keep: bool = False
) -> AsyncIterator[tuple[Made, Stream]]:
    """Give a container that runs the first program of its config, and the stream of its input and output.

    It has few rights, and ends with the stream. ``without``: what is wrong with an image that has no such program.
    """
    whole = {**_LIFELINE, **config, "HostConfig": {**_CONFINED, **config["HostConfig"]}}
    async with made_container(engine, whole, use, keep=keep) as container:
        with explaining(f"the {use}'s container could not be attached to"):
            params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            stream = await engine.stream(f"/containers/{container.id}/attach", params=params)
        try:
            await _start(engine, container.id, use, config["Entrypoint"][0], without)
            yield container, stream
        finally:
            stream.close()


async def _start(engine: Engine, container: str, use: str, program: str, without: str) -> None:
    try:
        await engine.call(lambda client: client.start(container))
    except EngineError as error:
        if program in error.said:
            raise InfrastructureError(Phase.SANDBOX, without, detail=error.said) from error
        raise error.explained(f"the {use}'s container did not start", starting=True) from error


def _remove(engine: Engine, container: str) -> None:
    """Remove a container, whatever it is doing; one that stays all the same is swept by the next run."""
    for pause in (0.1, 0.5, 2.0):
        try:
            engine.now(lambda client: client.remove_container(container, force=True, v=True))
        except EngineError as error:
            if error.status == 404:
                return
            # It is being removed by another call, or its file system is busy for a moment.
            _log.debug("the container %s is not removed yet: %s", container, error)
            time.sleep(pause)
        else:
            return
    _log.warning("the container %s could not be removed", container)


def _not_made(config: Mapping[str, Any], use: str, error: EngineError) -> InfrastructureError:
    if error.status == 404:
        return ImageGoneError(config["Image"], error.said)
    if "storage-opt" in error.said or "storage opt" in error.said.lower():
        reason = "the engine's storage cannot limit disk (it takes overlay2 on XFS with pquota); drop disk"
        return InfrastructureError(Phase.SANDBOX, reason, detail=error.said)
    return error.explained(f"the {use}'s container could not be made", starting=True)

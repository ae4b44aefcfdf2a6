"""How does one container start, and how does it go away with everything in it?"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.docker.engine.streams import Stream
from reeval.sandboxes.docker.inside.first import FIRST, Channel

__all__ = ["Container", "ContainerRequest", "opened_container"]

LAST_WAIT = 20.0
"""Seconds to wait for the end of a container: an engine that hangs must not hang the run."""
SERVER_ERROR = 500
_GIVE_UP_SOON = ["timeout:1", "attempts:1"]
"""Of a resolver whose servers do not answer."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ContainerRequest:
    """What a container is made of."""

    image: str
    user: str
    """``UID:GID``."""
    env: Mapping[str, str]
    labels: Mapping[str, str]
    network: str
    dns: tuple[str, ...] = ()
    """Servers for names; empty: as the engine sees fit."""
    host: Mapping[str, Any] = field(default_factory=dict)
    """Limits, in the engine's own words."""
    capable: bool = False
    """With the capabilities that the engine gives to root, instead of none."""
    keep: bool = False


class Container:
    """A started container."""

    def __init__(self, engine: Engine, id: str, name: str, channel: Channel) -> None:
        self.engine = engine
        self.id = id
        self.name = name
        self.channel = channel

    async def exec(
        self, command: list[str], *, env: Mapping[str, str], workdir: str, stdin: bool
    ) -> tuple[str, Stream]:
        """Start a process; return its id and the stream of its input and output. Raises ``InfrastructureError``."""
        config = {
            "Cmd": command,
            "Env": [f"{name}={value}" for name, value in env.items()],
            "WorkingDir": workdir,
            "AttachStdin": stdin,
            "AttachStdout": True,
            "AttachStderr": True,
        }
        try:
            made = await self.engine.call(lambda client: _exec_create(client, self.id, config))
            return made, await self.engine.stream(f"/exec/{made}/start", data={"Detach": False, "Tty": False})
        except EngineError as error:
            raise await self.failure(str(error)) from error

    async def ended(self, process: str) -> tuple[int, bool] | None:
        """Return a process's exit code, and whether it surely ran; None while it does.

        An engine that could not start a process ends it all the same, but never gave it a number. (Podman takes the
        number away at the end.)
        """
        try:
            state = await self.engine.call(lambda client: client.exec_inspect(process))
        except EngineError as error:
            raise await self.failure(str(error)) from error
        return None if state["Running"] else (state["ExitCode"], bool(state.get("Pid")))

    async def failure(self, said: str) -> InfrastructureError:
        """Return what is wrong with a container that does not do what it shall: why it ended, if it did."""
        try:
            found = await self.engine.call(lambda client: client.inspect_container(self.id))
        except EngineError:
            return InfrastructureError(Phase.SANDBOX, "the sandbox's container was removed by somebody else")
        state = found["State"]
        if state.get("OOMKilled"):
            return _out_of_memory(found)
        if not state.get("Running"):
            reason = f"the sandbox's container ended too early, with {state.get('ExitCode')}"
            return InfrastructureError(Phase.SANDBOX, reason, detail=said)
        return InfrastructureError(Phase.SANDBOX, f"the container engine refused: {said}"[:2000])

    async def out_of_memory(self) -> InfrastructureError:
        """Return the error of a container in which the kernel killed a process for want of memory."""
        try:
            return _out_of_memory(await self.engine.call(lambda client: client.inspect_container(self.id)))
        except EngineError:
            return _out_of_memory({})

    async def kill(self) -> None:
        """End every process in it, the first one too."""
        with suppress(EngineError):
            await self.engine.call(lambda client: client.kill(self.id))

    async def stop(self) -> None:
        """End it and wait until it has: its files stay."""
        await self.kill()
        with suppress(EngineError):
            await self.engine.call(lambda client: client.wait(self.id, timeout=LAST_WAIT))


@asynccontextmanager
async def opened_container(engine: Engine, request: ContainerRequest) -> AsyncIterator[Container]:
    """Give a started container, and remove it; raise ``InfrastructureError`` when it does not start."""
    name = f"reeval-{secrets.token_hex(8)}"
    word = Channel.word()
    try:
        id = await engine.call(
            lambda client: str(client.create_container_from_config(_config(request, word), name)["Id"]),
            undo=lambda _: _remove(engine, name),
        )
    except EngineError as error:
        raise _not_made(request, error) from error
    try:
        async with _attached(engine, id) as stream:
            await _started(engine, id)
            yield Container(engine, id, name, Channel(stream, word))
    finally:
        if not request.keep:
            with anyio.CancelScope(shield=True), anyio.move_on_after(LAST_WAIT), suppress(InfrastructureError):
                await engine.call(lambda _: _remove(engine, id))


@asynccontextmanager
async def _attached(engine: Engine, id: str) -> AsyncIterator[Stream]:
    params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    try:
        stream = await engine.stream(f"/containers/{id}/attach", params=params)
    except EngineError as error:
        raise InfrastructureError(Phase.SANDBOX, f"the container could not be attached to: {error}") from error
    try:
        yield stream
    finally:
        stream.close()


async def _started(engine: Engine, id: str) -> None:
    try:
        await engine.call(lambda client: client.start(id))
    except EngineError as error:
        said = str(error)
        if "/bin/sh" in said:
            reason = "the image has no /bin/sh, which the sandbox needs; use another image"
            raise InfrastructureError(Phase.SANDBOX, reason, detail=said) from error
        reason = f"the container did not start: {said}"
        raise InfrastructureError(Phase.SANDBOX, reason, retryable=error.status >= SERVER_ERROR) from error


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


def _config(request: ContainerRequest, word: str) -> dict[str, Any]:
    keep = "keep" if request.keep else ""
    privileges: dict[str, Any] = {} if request.capable else {"CapDrop": ["ALL"]}
    return {
        "Image": request.image,
        "Entrypoint": ["/bin/sh", "-c", FIRST, FIRST, word, keep],
        "Cmd": [],
        "User": request.user,
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in request.env.items()],
        "Labels": dict(request.labels),
        "OpenStdin": True,
        # The end of this process, or of the connection to it, is the end of the container.
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "NetworkMode": request.network,
            **({"Dns": list(request.dns), "DnsOptions": _GIVE_UP_SOON} if request.dns else {}),
            "LogConfig": {"Type": "none", "Config": {}},
            "SecurityOpt": ["no-new-privileges"],
            **privileges,
            **request.host,
        },
    }


def _out_of_memory(container: Mapping[str, Any]) -> InfrastructureError:
    limit = container.get("HostConfig", {}).get("Memory")
    said = f"memory = {f'{limit // 1024**2}m'!r} of the sandbox" if limit else "the memory of the engine's machine"
    return InfrastructureError(Phase.SANDBOX, f"out of memory: {said} was used up, and a process was killed; raise it")


def _exec_create(client: Any, container: str, config: Mapping[str, Any]) -> str:
    # The library's own method takes a name of its own for every part of this.
    response = client._post_json(client._url("/containers/{0}/exec", container), data=config)  # noqa: SLF001 - see above
    return str(client._result(response, json=True)["Id"])  # noqa: SLF001 - likewise


def _not_made(request: ContainerRequest, error: EngineError) -> InfrastructureError:
    said = str(error)
    if error.status == 404:
        reason = f"the image {request.image!r} is gone from the container engine; run again"
        return InfrastructureError(Phase.SANDBOX, reason, detail=said)
    if "storage-opt" in said or "storage opt" in said.lower():
        reason = "the engine's storage cannot limit disk (it takes overlay2 on XFS with pquota); drop disk"
        return InfrastructureError(Phase.SANDBOX, reason, detail=said)
    return InfrastructureError(
        Phase.SANDBOX, f"the container could not be made: {said}", retryable=error.status >= SERVER_ERROR
    )

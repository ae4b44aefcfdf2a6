"""What is the container of a sandbox made of, and what does the engine do with it while it runs?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.docker.engine.containers import LAST_WAIT, Made, started_container
from reeval.sandboxes.docker.engine.streams import Stream
from reeval.sandboxes.docker.inside.channel import FIRST, Channel

__all__ = ["Container", "ContainerRequest", "opened_container"]

_NO_SHELL = "the image has no /bin/sh, which the sandbox needs; use another image"
_GIVE_UP_SOON = ["timeout:1", "attempts:1"]
"""Of a resolver whose servers do not answer."""
_COUNTERS = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control"
"""One or the other is there, by the version of control groups."""


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
    """A started container. Every method raises ``InfrastructureError``."""

    def __init__(self, engine: Engine, made: Made, channel: Channel, *, limited: bool) -> None:
        """``limited``: it may use so much memory and no more."""
        self.name = made.name
        self.id = made.id
        self.channel = channel
        self._engine = engine
        self._limited = limited
        self._killed_for_memory = 0
        """Processes that were, as far as it is known."""

    async def exec(
        self, command: list[str], *, env: Mapping[str, str], workdir: str, stdin: bool
    ) -> tuple[str, Stream]:
        """Start a process; return its id and the stream of its input and output."""
        config = {
            "Cmd": command,
            "Env": [f"{name}={value}" for name, value in env.items()],
            "WorkingDir": workdir,
            "AttachStdin": stdin,
            "AttachStdout": True,
            "AttachStderr": True,
        }
        async with self._diagnosed():
            made = await self._engine.call(lambda client: _exec_create(client, self.id, config))
            return made, await self._engine.stream(f"/exec/{made}/start", data={"Detach": False, "Tty": False})

    async def ended(self, process: str) -> tuple[int, bool] | None:
        """Return a process's exit code, and whether it surely ran; None while it does.

        An engine that could not start a process ends it all the same, but never gave it a number. (Podman takes the
        number away at the end.)
        """
        async with self._diagnosed():
            state = await self._engine.call(lambda client: client.exec_inspect(process))
            return None if state["Running"] else (state["ExitCode"], bool(state.get("Pid")))

    async def check_memory(self, exit_code: int) -> None:
        """Raise ``InfrastructureError`` when a process that ended like this met the limit of memory.

        The kernel counts what it kills for that; the engine does not say it of what it started in a running container.
        """
        if exit_code == 0 and not self._limited:
            return
        answer = await self.channel.ask(_COUNTERS)
        counts = [int(found) for found in re.findall(rb"(?m)^oom_kill (\d+)", answer.output)]
        before, self._killed_for_memory = self._killed_for_memory, max(counts, default=0)
        if self._killed_for_memory > before and exit_code:
            raise _out_of_memory(await self._inspected() or {})

    async def kill(self) -> None:
        """End every process in it, the first one too."""
        with suppress(EngineError):
            await self._engine.call(lambda client: client.kill(self.id))

    async def stop(self) -> None:
        """End it and wait until it has: its files stay."""
        await self.kill()
        with suppress(EngineError):
            await self._engine.call(lambda client: client.wait(self.id, timeout=LAST_WAIT))

    @asynccontextmanager
    async def _diagnosed(self) -> AsyncIterator[None]:
        """Tell what is wrong with a container that does not do what it shall: why it ended, if it did."""
        try:
            yield
        except EngineError as error:
            found = await self._inspected()
            if found is None:
                reason = "the sandbox's container was removed by somebody else"
                raise InfrastructureError(Phase.SANDBOX, reason) from error
            state = found["State"]
            if state.get("OOMKilled"):
                raise _out_of_memory(found) from error
            if not state.get("Running"):
                reason = f"the sandbox's container ended too early, with {state.get('ExitCode')}"
                raise InfrastructureError(Phase.SANDBOX, reason, detail=error.said) from error
            raise

    async def _inspected(self) -> Mapping[str, Any] | None:
        """Return what the engine knows of it; None when it is gone."""
        try:
            found: Mapping[str, Any] = await self._engine.call(lambda client: client.inspect_container(self.id))
        except EngineError:
            return None
        return found


@asynccontextmanager
async def opened_container(engine: Engine, request: ContainerRequest) -> AsyncIterator[Container]:
    """Give a started container, and remove it; raise ``InfrastructureError`` when it does not start."""
    word = Channel.word()
    config = _config(request, word)
    async with started_container(engine, config, "sandbox", without=_NO_SHELL, keep=request.keep) as (made, stream):
        yield Container(engine, made, Channel(stream, word), limited="Memory" in request.host)


def _config(request: ContainerRequest, word: str) -> dict[str, Any]:
    keep = "keep" if request.keep else ""
    privileges: dict[str, Any] = {} if request.capable else {"CapDrop": ["ALL"]}
    return {
        "Image": request.image,
        "Entrypoint": ["/bin/sh", "-c", FIRST, FIRST, word, keep],
        "User": request.user,
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in request.env.items()],
        "Labels": dict(request.labels),
        "HostConfig": {
            "NetworkMode": request.network,
            **({"Dns": list(request.dns), "DnsOptions": _GIVE_UP_SOON} if request.dns else {}),
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

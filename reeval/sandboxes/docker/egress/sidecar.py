"""How does a run get its proxy? A container, started for the first attempt that needs it, and ended with the run.

It stands in the network of each such attempt and is the only way out of it. Its orders come by its standard input: when
this process ends, so does the proxy, and the engine removes it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.egress import proxy
from reeval.sandboxes.docker.engine.client import Engine
from reeval.sandboxes.docker.engine.containers import started_container
from reeval.sandboxes.docker.engine.streams import STDOUT, Frames, Stream

__all__ = ["Sidecar", "start_sidecar"]

_ANSWER = 15.0
"""Seconds the proxy may take to start, or to take an order."""
_SAID = 2000
_WITHOUT_PYTHON = (
    "the proxy of allowed hosts needs an image with python3 (3.11 or newer), which the sandbox's image is not; "
    'name one, such as proxy_image = "python:3.13-alpine", in the sandbox table'
)


class Sidecar:
    """The proxy of a run, while it runs."""

    def __init__(self, id: str, stream: Stream) -> None:
        self.id = id
        self.closing = AsyncExitStack()
        self._stream = stream
        self._frames = Frames()
        self._lines: list[bytes] = []
        self._rest = b""
        self._said = b""
        self._lock = anyio.Lock()
        self.broken = False
        """It did not do what it was asked to: another one has to take its place."""
        self._owed = 0
        """Answers that are still to come: that of an order which was given up is not the next one's."""

    async def allow(self, address: str, mode: str, hosts: Sequence[str]) -> None:
        """Hold what comes to one of its addresses to a policy."""
        await self._order({"do": "allow", "address": address, "mode": mode, "hosts": list(hosts)})

    async def forget(self, address: str) -> dict[str, Any]:
        """Let nothing more through at an address; return what was refused there (see ``proxy.Refusals.report``)."""
        return await self._order({"do": "forget", "address": address})

    async def ready(self) -> None:
        """Wait until it serves; raise ``InfrastructureError`` when it does not."""
        with anyio.move_on_after(_ANSWER):
            await self._answer()
            return
        raise self._broken("it did not start in time")

    async def close(self) -> None:
        """End it."""
        await self.closing.aclose()

    async def _order(self, order: Mapping[str, Any]) -> dict[str, Any]:
        # Shielded: an order that is half written, or whose answer nobody takes, would spoil the next one.
        async with self._lock:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_ANSWER):
                try:
                    await self._stream.send(json.dumps(order).encode() + b"\n")
                except OSError as error:
                    raise self._broken("it is gone") from error
                self._owed += 1
                while True:
                    answer = await self._answer()
                    self._owed -= 1
                    if not self._owed:
                        return answer
        raise self._broken("it does not answer")

    async def _answer(self) -> dict[str, Any]:
        while not self._lines:
            data = await self._stream.receive()
            if not data:
                raise self._broken("it ended")
            for output, content in self._frames.feed(data):
                if output == STDOUT:
                    *lines, self._rest = (self._rest + content).split(b"\n")
                    self._lines += lines
                else:
                    self._said = (self._said + content)[-_SAID:]
        answer: dict[str, Any] = json.loads(self._lines.pop(0))
        return answer

    def _broken(self, why: str) -> InfrastructureError:
        self.broken = True
        said = self._said.decode("utf-8", "replace")
        return InfrastructureError(Phase.SANDBOX, f"the proxy of allowed hosts: {why}", detail=said)


async def start_sidecar(engine: Engine, image: str, labels: Mapping[str, str]) -> Sidecar:
    """Start a proxy from an image that has ``python3``; raise ``InfrastructureError`` when it cannot be had."""
    async with AsyncExitStack() as stack:
        container, stream = await stack.enter_async_context(
            started_container(engine, _config(image, labels), "proxy", without=_WITHOUT_PYTHON)
        )
        sidecar = Sidecar(container.id, stream)
        await sidecar.ready()
        sidecar.closing = stack.pop_all()
    return sidecar


def _config(image: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Image": image,
        "Entrypoint": ["python3", "-I", "-c", inspect.getsource(proxy)],
        "User": "65534:65534",
        "Env": [],
        "Labels": dict(labels),
        "HostConfig": {
            "NetworkMode": "bridge",
            "AutoRemove": True,
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "PidsLimit": 128,
            "Memory": 512 * 1024 * 1024,
            # It stands in two networks, and must not pass on what it was not asked to.
            "Sysctls": {"net.ipv4.ip_forward": "0"},
            "ExtraHosts": ["host.docker.internal:host-gateway"],
        },
    }

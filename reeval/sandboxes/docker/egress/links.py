"""How does a container get beside the proxy and beside nothing else? In a network that one at a time uses."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio

from reeval.errors import InfrastructureError
from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.egress.sidecar import Sidecar, start_sidecar
from reeval.sandboxes.docker.engine.client import Engine, EngineError, explaining
from reeval.sandboxes.docker.labels import run_labels

__all__ = ["Link", "Links"]

_TRIES = 20
_RANGE = ipaddress.ip_network("10.0.0.0/8")
_PREFIX = 29
"""Of a network: the proxy, a container, and nothing more."""
_LAST_WAIT = 90.0
"""Seconds to wait for the engine at the end: it takes down one network after the other."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A network that leads to the proxy."""

    network: str
    """Its name in the engine."""
    address: str
    """The proxy's in it."""
    sidecar: Sidecar


class Links:
    """The proxies of this process's runs and the networks that lead to them, each made when it is first needed.

    A network whose container is gone serves the next attempt: making one takes the engine as long as a container.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sidecars: dict[tuple[str, str], Sidecar] = {}
        """By run and sandbox: what the attempts of one sandbox start from all stands on one image."""
        self._free: dict[Sidecar, list[Link]] = {}
        self._networks: list[str] = []
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def link(self, request: SandboxRequest, image: str) -> AsyncIterator[Link]:
        """Give a network for one container; raise ``InfrastructureError`` when it cannot be had.

        The block leaves nothing in it, and no policy.
        """
        labels = run_labels(request.root, request.run_id)
        sidecar = await self._sidecar((request.run_id, request.sandbox.id), image, labels)
        free = self._free.setdefault(sidecar, [])
        link = free.pop() if free else await self._made(sidecar, labels)
        yield link
        # Only where all went well: what a block that failed left in it, nobody knows.
        if not request.keep:
            free.append(link)

    async def finish(self) -> None:
        """End all of them."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_WAIT):
            for sidecar in self._sidecars.values():
                await sidecar.close()
            async with anyio.create_task_group() as tasks:
                for name in self._networks:
                    tasks.start_soon(_removed_at_last, self._engine, name)

    async def _sidecar(self, key: tuple[str, str], image: str, labels: Mapping[str, str]) -> Sidecar:
        async with self._starting:
            sidecar = self._sidecars.get(key)
            if sidecar is not None and sidecar.broken:
                await sidecar.close()
            if sidecar is None or sidecar.broken:
                sidecar = self._sidecars[key] = await start_sidecar(self._engine, image, labels)
            return sidecar

    async def _made(self, sidecar: Sidecar, labels: Mapping[str, str]) -> Link:
        name = f"reeval-{secrets.token_hex(8)}"
        self._networks.append(name)
        address = str((await _network(self._engine, name, labels))[2])
        with explaining("the proxy could not join a network"):
            await self._engine.call(
                lambda client: client.connect_container_to_network(sidecar.id, name, ipv4_address=address)
            )
        return Link(network=name, address=address, sidecar=sidecar)


async def _network(
    engine: Engine, name: str, labels: Mapping[str, str]
) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Make a network with addresses of our own choice: the engine's own pools end after some thirty networks."""
    for turn in range(_TRIES):
        start = int(_RANGE.network_address) + (secrets.randbelow(1 << (_PREFIX - _RANGE.prefixlen)) << (32 - _PREFIX))
        subnet = ipaddress.ip_network((start, _PREFIX))
        try:
            await engine.call(
                lambda client, subnet=subnet: _create(client, name, str(subnet), labels),  # type: ignore[misc]
                undo=lambda _: _remove(engine, name),
            )
        except EngineError as error:
            if "overlap" in error.said.lower() and turn < _TRIES - 1:
                continue
            raise error.explained("the network could not be made") from error
        return subnet
    raise AssertionError("the last turn returns or raises")


def _create(client: Any, name: str, subnet: str, labels: Mapping[str, str]) -> None:
    from docker.types import IPAMConfig, IPAMPool

    client.create_network(
        name,
        driver="bridge",
        internal=True,
        ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=subnet)]),
        # Without an address of its own the engine's machine cannot be reached by it.
        options={"com.docker.network.bridge.inhibit_ipv4": "true"},
        labels=dict(labels),
    )


async def _removed_at_last(engine: Engine, name: str) -> None:
    with suppress(InfrastructureError):
        await engine.call(lambda _: _remove(engine, name))


def _remove(engine: Engine, name: str) -> None:
    with suppress(EngineError):
        engine.now(lambda client: client.remove_network(name))

"""What may the processes of a container connect to, and how is that held?

Nothing: it has no network. Some or all public hosts: it stands in a network of its own that leads nowhere, beside the
run's proxy, which looks at every connection. So the same holds for an engine of another machine.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.egress.proxy import PORT
from reeval.sandboxes.docker.egress.sidecar import Sidecar, start_sidecar
from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.docker.labels import run_labels
from reeval.schema.recorded.network import RefusedRecord

__all__ = ["Network", "Sidecars", "allowed_hosts", "open_network"]

_TRIES = 20
_RANGE = ipaddress.ip_network("10.0.0.0/8")
_PREFIX = 29
"""Of a network: a proxy, a container, and nothing more."""
_LAST_WAIT = 20.0


@dataclass(frozen=True, kw_only=True)
class Network:
    """What a container is created with."""

    mode: str
    """The engine's name for it: ``none``, or that of a network."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of every process in the container, such as ``HTTPS_PROXY``; no secrets."""
    dns: tuple[str, ...] = ()
    """Where it asks for names: where nobody answers, at once."""


class Sidecars:
    """The proxies of this process's runs, each started once."""

    def __init__(self) -> None:
        self._started: dict[tuple[str, str], Sidecar] = {}
        self._lock = anyio.Lock()

    async def of(self, engine: Engine, request: SandboxRequest, image: str) -> Sidecar:
        """Return the proxy of a run, started with the first call."""
        async with self._lock:
            key = (request.run_id, image)
            if key not in self._started:
                labels = run_labels(request.root, request.run_id)
                self._started[key] = await start_sidecar(engine, image, labels)
            return self._started[key]

    async def finish(self) -> None:
        """End all of them."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_WAIT):
            while self._started:
                _, sidecar = self._started.popitem()
                await sidecar.close()


def allowed_hosts(request: SandboxRequest) -> tuple[str, tuple[str, ...]]:
    """Return the policy that holds: its mode, and the hosts of an ``allow``.

    The hosts of the agent's models belong to every list, and are all there is without a policy.
    """
    egress = request.egress
    if egress is None:
        return ("allow", request.hosts) if request.hosts else ("deny-all", ())
    if egress.mode == "allow":
        return "allow", tuple(dict.fromkeys((*egress.hosts, *request.hosts)))
    return egress.mode, ()


@asynccontextmanager
async def open_network(
    engine: Engine, request: SandboxRequest, labels: Mapping[str, str], sidecars: Sidecars, proxy_image: str
) -> AsyncIterator[Network]:
    """Give the network of one container; it is there before the container is made, and until it is removed.

    ``labels`` belong on everything that is made for it in the engine: by them leftovers are found. No policy: nothing
    may be reached but the agent's models. Raises ``InfrastructureError`` (phase ``sandbox``).
    """
    mode, hosts = allowed_hosts(request)
    if mode == "deny-all":
        yield Network(mode="none")
        return
    sidecar = await sidecars.of(engine, request, proxy_image)
    async with _own_network(engine, labels) as (name, subnet):
        address = str(subnet[2])
        try:
            await engine.call(
                lambda client: client.connect_container_to_network(sidecar.id, name, ipv4_address=address)
            )
        except EngineError as error:
            raise InfrastructureError(Phase.SANDBOX, f"the proxy could not join a network: {error}") from error
        await sidecar.allow(address, mode, hosts)
        try:
            yield Network(mode=name, env=_proxied(f"http://{address}:{PORT}"), dns=(address,))
        finally:
            await _ended(engine, sidecar, name, address, request)


async def _ended(engine: Engine, sidecar: Sidecar, name: str, address: str, request: SandboxRequest) -> None:
    """Take back the policy and tell what was refused."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_WAIT):
        with suppress(InfrastructureError):
            _tell(request, await sidecar.forget(address))
        with suppress(EngineError, InfrastructureError):
            await engine.call(lambda client: client.disconnect_container_from_network(sidecar.id, name, force=True))


def _tell(request: SandboxRequest, report: Mapping[str, Any]) -> None:
    for one in report["refused"]:
        request.refused(
            RefusedRecord(host=one["host"], port=one["port"], why=one["why"], first=one["first"], count=one["count"])
        )
    if report["more"]:
        why = "and others, too many to list"
        request.refused(RefusedRecord(host="*", port=0, why=why, first=0, count=report["more"]))


@asynccontextmanager
async def _own_network(
    engine: Engine, labels: Mapping[str, str]
) -> AsyncIterator[tuple[str, ipaddress.IPv4Network | ipaddress.IPv6Network]]:
    """Make a network that leads nowhere, not even to the engine's machine, and remove it."""
    name = f"reeval-{secrets.token_hex(8)}"
    subnet = await _made(engine, name, labels)
    try:
        yield name, subnet
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_WAIT), suppress(InfrastructureError):
            await engine.call(lambda _: _removed(engine, name))


async def _made(engine: Engine, name: str, labels: Mapping[str, str]) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Make the network with addresses of our own choice: the engine's own pools end after some thirty networks."""
    for turn in range(_TRIES):
        start = int(_RANGE.network_address) + (secrets.randbelow(1 << (_PREFIX - _RANGE.prefixlen)) << (32 - _PREFIX))
        subnet = ipaddress.ip_network((start, _PREFIX))
        try:
            await engine.call(
                lambda client, subnet=subnet: _create(client, name, str(subnet), labels),  # type: ignore[misc]
                undo=lambda _: _removed(engine, name),
            )
        except EngineError as error:
            if "overlap" in str(error).lower() and turn < _TRIES - 1:
                continue
            raise InfrastructureError(Phase.SANDBOX, f"the network could not be made: {error}") from error
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


def _removed(engine: Engine, name: str) -> None:
    with suppress(EngineError):
        engine.now(lambda client: client.remove_network(name))


def _proxied(url: str) -> dict[str, str]:
    values = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "localhost,127.0.0.1,::1"}
    return {**values, **{name.lower(): value for name, value in values.items()}}

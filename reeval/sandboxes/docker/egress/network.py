"""What may the processes of a container connect to, and how is that held?

Nothing: it has no network. Some or all public hosts: it stands in a network of its own that leads nowhere but to the
run's proxy, which looks at every connection. So the same holds for an engine of another machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from reeval.errors import InfrastructureError
from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.egress.links import Link, Links
from reeval.sandboxes.docker.egress.proxy import PORT
from reeval.schema.recorded.network import RefusedRecord

__all__ = ["Network", "open_network"]


@dataclass(frozen=True, kw_only=True)
class Network:
    """What a container is created with."""

    mode: str
    """The engine's name for it: ``none``, or that of a network."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of every process in the container, such as ``HTTPS_PROXY``; no secrets."""
    dns: tuple[str, ...] = ()
    """Where it asks for names: where nobody answers, at once."""


def _allowed_hosts(request: SandboxRequest) -> tuple[str, tuple[str, ...]]:
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
async def open_network(request: SandboxRequest, links: Links, proxy_image: str) -> AsyncIterator[Network]:
    """Give the network of one container; it is there before the container is made, and until it is removed.

    No policy: nothing may be reached but the agent's models. Raises ``InfrastructureError`` (phase ``sandbox``).
    """
    mode, hosts = _allowed_hosts(request)
    if mode == "deny-all":
        yield Network(mode="none")
        return
    async with links.link(request, proxy_image) as link:
        await link.sidecar.allow(link.address, mode, hosts)
        try:
            yield Network(mode=link.network, env=_proxied(f"http://{link.address}:{PORT}"), dns=(link.address,))
        except BaseException:
            with suppress(InfrastructureError):  # What went wrong first is told.
                await _ended(link, request)
            raise
        await _ended(link, request)


async def _ended(link: Link, request: SandboxRequest) -> None:
    """Take back the policy and tell what was refused; raise ``InfrastructureError`` when that is not known."""
    with anyio.CancelScope(shield=True):
        report = await link.sidecar.forget(link.address)
        for refused in _refused(report):
            request.refused(refused)


def _refused(report: Mapping[str, Any]) -> list[RefusedRecord]:
    listed = [RefusedRecord(**one) for one in report["refused"]]
    if report["more"]:
        listed.append(RefusedRecord(host="*", port=0, why="more, too many to list", first=0, count=report["more"]))
    return listed


def _proxied(url: str) -> dict[str, str]:
    values = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "localhost,127.0.0.1,::1"}
    return {**values, **{name.lower(): value for name, value in values.items()}}

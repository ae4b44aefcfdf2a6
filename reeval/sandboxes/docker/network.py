"""What may the processes of a container connect to, and how is that held?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.engine.client import Engine

__all__ = ["Network", "open_network"]


@dataclass(frozen=True, kw_only=True)
class Network:
    """What a container is created with."""

    mode: str
    """The engine's name for it: ``none``, ``bridge``, or that of a network."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of every process in the container, such as ``HTTPS_PROXY``; no secrets."""


@asynccontextmanager
async def open_network(engine: Engine, request: SandboxRequest, labels: Mapping[str, str]) -> AsyncIterator[Network]:
    """Give the network of one container; it is there before the container is made, and until it is removed.

    ``labels`` belong on everything that is made for it in the engine: by them leftovers are found. No policy: nothing
    may be reached. Raises ``InfrastructureError`` (phase ``sandbox``).
    """
    allowed = request.egress is not None and request.egress.mode == "allow-all"
    yield Network(mode="bridge" if allowed else "none")

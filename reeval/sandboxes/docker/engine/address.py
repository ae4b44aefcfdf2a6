"""Where is the container engine? As the ``docker`` command would find it, else Podman's socket."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.errors import PlanError

if TYPE_CHECKING:
    from docker.tls import TLSConfig

__all__ = ["Address", "engine_address", "has_engine"]

SOCKET = "/var/run/docker.sock"


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where an engine listens."""

    url: str
    """``unix:///var/run/docker.sock``, ``tcp://host:2376``."""
    tls: TLSConfig | None = None
    why: str = ""
    """What says so: ``DOCKER_HOST``, a context; empty: it is where engines usually are."""


def engine_address(environ: Mapping[str, str] = os.environ) -> Address:
    """Return where the engine is; raise ``PlanError`` for a context that cannot be used.

    ``DOCKER_HOST`` comes before ``DOCKER_CONTEXT``, and that before the context in use.
    """
    if url := environ.get("DOCKER_HOST"):
        return Address(url=url, tls=_tls(environ), why="DOCKER_HOST")
    from docker.context.config import get_current_context_name

    name = environ.get("DOCKER_CONTEXT") or get_current_context_name()
    if name and name != "default":
        return _of_context(name)
    return Address(url=f"unix://{_usual_socket(environ)}")


def has_engine(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether there may be one: without loading anything, and without asking it."""
    if (
        environ.get("DOCKER_HOST")
        or environ.get("DOCKER_CONTEXT")
        or (Path.home() / ".docker" / "config.json").exists()
    ):
        return True
    return Path(_usual_socket(environ)).exists()


def _of_context(name: str) -> Address:
    from docker.context import ContextAPI

    context = ContextAPI.get_context(name)
    if context is None or not context.Host:
        raise PlanError(f"there is no docker context {name!r}; see docker context ls, or set DOCKER_HOST")
    return Address(url=context.Host, tls=context.TLSConfig, why=f"the docker context {name!r}")


def _tls(environ: Mapping[str, str]) -> TLSConfig | None:
    if not environ.get("DOCKER_TLS_VERIFY") and not environ.get("DOCKER_TLS"):
        return None
    from docker.tls import TLSConfig

    directory = Path(environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    return TLSConfig(
        client_cert=(str(directory / "cert.pem"), str(directory / "key.pem")),
        ca_cert=str(directory / "ca.pem"),
        verify=bool(environ.get("DOCKER_TLS_VERIFY")),
    )


def _usual_socket(environ: Mapping[str, str]) -> str:
    """Return Docker's socket, or that of an engine without root or of Podman where only that is there."""
    own = environ.get("XDG_RUNTIME_DIR")
    others = [f"{own}/docker.sock", f"{own}/podman/podman.sock"] if own else []
    return next((path for path in (SOCKET, *others, "/run/podman/podman.sock") if Path(path).exists()), SOCKET)

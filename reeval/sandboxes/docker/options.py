"""What may a ``[sandbox.NAME]`` table of kind ``docker`` hold?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from reeval.errors import PlanError
from reeval.sandboxes.options import Reader, read_count, read_seconds, read_table

__all__ = ["DockerOptions", "parse_options"]

Pull = Literal["never", "missing"]

LEAST_MEMORY = 16 * 1024 * 1024
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


@dataclass(frozen=True, kw_only=True)
class DockerOptions:
    """The options of a sandbox in containers."""

    image: str | None = None
    """An image of the engine, by its tag or digest; this or ``dockerfile``."""
    dockerfile: str | None = None
    """A Dockerfile that the image is built from, from the project's root."""
    context: str | None = None
    """The directory that a Dockerfile copies from; None: the one that it is in."""
    pinned: str | None = None
    """Written by the plan, never by hand: the id of the image at that time, or the digest of what it is built from."""
    install: tuple[str, ...] = ()
    """Shell commands that run once as root, with a network, on top of the image; what they leave is kept and reused."""
    pull: Pull = "never"
    """``missing``: an image that the engine does not have is pulled. ``never``: it is an error that says how to."""
    proxy_image: str | None = None
    """An image with ``python3`` for the proxy of allowed hosts; None: the sandbox's own. It must be there already."""
    user: str | None = None
    """Who the processes are: a name of the image, or numbers such as ``1000`` or ``1000:1000``; None: 1000:1000."""
    root: bool = False
    """They are root, with the engine's usual capabilities; everything else is dropped otherwise."""
    cpus: float | None = None
    """How many CPUs they may use together, such as ``1.5``; None: all."""
    memory: int | None = None
    """Bytes they may use together, such as ``"2g"``; None: any."""
    processes: int = 4096
    """Processes and threads at once."""
    disk: int | None = None
    """Bytes a container may write, where the engine's storage can limit it (overlay2 on XFS with pquota); None: any."""
    workdir: str = "/workspace"
    """The workspace's path."""
    output_limit: int = 1024 * 1024
    """Bytes of each output stream of a command that are kept; the middle of longer output is left out."""
    max_concurrent: int | None = None
    """Attempts in this sandbox at once; None: as many as the run allows."""
    start_timeout: float = 90.0
    """Seconds it may take to start; building an image does not count."""


def parse_options(table: Mapping[str, Any], owner: str) -> DockerOptions:
    """Return the options of a config table; raise ``PlanError``, naming ``owner``, for the first that is wrong."""
    given = read_table(table, owner, _READERS)
    if problem := _contradiction(given):
        raise PlanError(f"{owner}: {problem}")
    return DockerOptions(**given)


def _contradiction(given: Mapping[str, Any]) -> str | None:
    if "image" in given and "dockerfile" in given:
        return "it has an image and a dockerfile; drop one"
    if "image" not in given and "dockerfile" not in given:
        return 'it needs an image, such as image = "python:3.13-slim", or a dockerfile'
    if "context" in given and "dockerfile" not in given:
        return "context is for a dockerfile; drop it"
    if given.get("root") and "user" in given:
        return "root = true names the user already; drop one"
    return None


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("write a text")
    return value.strip()


def _path(value: Any) -> str:
    text = _text(value)
    if text.startswith(("/", "~")) or ".." in PurePosixPath(text).parts:
        raise ValueError("write a path from the project's root")
    return text


def _commands(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one.strip() for one in value):
        raise ValueError('write a list of shell commands, such as ["apt-get update", "apt-get install -y git"]')
    return tuple(value)


def _pull(value: Any) -> Pull:
    if value not in {"never", "missing"}:
        raise ValueError('write "never" or "missing"')
    return cast("Pull", value)


def _user(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not re.fullmatch(r"[a-z_][a-z0-9_-]*|\d{1,9}(:\d{1,9})?", text):
        raise ValueError('write a name of the image, or numbers such as 1000 or "1000:1000"')
    if text == "root" or text.partition(":")[0].strip("0") == "":
        raise ValueError("write root = true for root")
    return text


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("write true or false")  # noqa: TRY004 - all readers raise one error
    return value


def _cpus(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0.01):
        raise ValueError("write a number from 0.01, such as 1.5")
    return float(value)


def _bytes(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    parts = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)i?b?", value.lower()) if isinstance(value, str) else None
    if parts is None or not float(parts[1]):
        raise ValueError('write a size such as "512m" or "2g"')
    return int(float(parts[1]) * _UNITS[parts[2]])


def _memory(value: Any) -> int:
    size = _bytes(value)
    if size < LEAST_MEMORY:
        raise ValueError('no container starts with so little; write at least "16m"')
    return size


def _workdir(value: Any) -> str:
    text = _text(value)
    parts = PurePosixPath(text).parts
    if not text.startswith("/") or len(parts) < 2 or ".." in parts or ":" in text:
        raise ValueError("write an absolute path of its own, such as /workspace")
    return str(PurePosixPath(text))


def _processes(value: Any) -> int:
    if read_count(value) < 16:
        raise ValueError("write at least 16: a shell, its pipes and their programs")
    return int(value)


_READERS: Mapping[str, Reader] = {
    "context": _path,
    "cpus": _cpus,
    "disk": _bytes,
    "dockerfile": _path,
    "image": _text,
    "install": _commands,
    "max_concurrent": read_count,
    "memory": _memory,
    "output_limit": read_count,
    "pinned": _text,
    "processes": _processes,
    "proxy_image": _text,
    "pull": _pull,
    "root": _flag,
    "start_timeout": read_seconds,
    "user": _user,
    "workdir": _workdir,
}

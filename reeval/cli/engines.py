"""What of a project is in the container engine, and can go?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeval.errors import InfrastructureError, PlanError

if TYPE_CHECKING:
    from reeval.sandboxes.docker.engine.client import Engine
    from reeval.sandboxes.docker.images.unused import UnusedImage

__all__ = ["engine_state", "image_problem", "images", "leftovers"]


def leftovers(root: Path) -> list[str]:
    """Return what killed runs left in the engine: ``container NAME``; nothing when there is no engine."""
    import anyio

    from reeval.sandboxes.docker.labels import leftovers as found_in

    with _engine() as engine:
        return [] if engine is None else [f"{kind} {name}" for kind, name in anyio.run(found_in, engine, root)]


def images(root: Path, *, dry_run: bool) -> list[UnusedImage]:
    """Return the images that nobody used for a day, removed unless it is a dry run; none without an engine."""
    import time

    from reeval.sandboxes.docker.images.unused import remove_unused, unused_images

    with _engine() as engine:
        return [] if engine is None else (unused_images if dry_run else remove_unused)(engine, root, time.time())


def engine_state() -> tuple[bool, str]:
    """Return whether an engine answers, and which one that is, or why none does and how to mend it."""
    from reeval.sandboxes.docker.kind import DockerSandboxKind

    kind = DockerSandboxKind()
    try:
        engine = kind.engine()
        version = engine.now(lambda client: client.version())
    except (InfrastructureError, PlanError) as error:
        return False, str(error)
    finally:
        kind.close()
    return True, f"{version.get('Version')} at {engine.name}"


def image_problem(name: str, table: Mapping[str, Any], root: Path) -> str | None:
    """Return why a ``[sandbox.NAME]`` of this engine has no image, and how to get it; None: it has, or pulls one."""
    from reeval.sandboxes.docker.images.base import pinned
    from reeval.sandboxes.docker.options import parse_options

    options = {key: value for key, value in table.items() if key != "kind"}
    with _engine() as engine:
        if engine is not None:
            try:
                pinned(engine, parse_options(options, f"[sandbox.{name}]"), root)
            except (InfrastructureError, PlanError) as error:
                return str(error)
    return None


@contextmanager
def _engine() -> Iterator[Engine | None]:
    from reeval.sandboxes.docker.engine.address import has_engine
    from reeval.sandboxes.docker.kind import DockerSandboxKind

    kind = DockerSandboxKind()
    engine = None
    with suppress(InfrastructureError, PlanError):
        engine = kind.engine() if has_engine() else None
    try:
        yield engine
    finally:
        kind.close()

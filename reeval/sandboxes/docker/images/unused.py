"""Which images of a project did nobody use for a day? They can be made again from what is in the project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reeval.sandboxes.docker.engine.client import Engine, EngineError
from reeval.sandboxes.docker.images.base import BUILT
from reeval.sandboxes.docker.labels import filtered

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["UNUSED", "UnusedImage", "remove_unused", "unused_images"]

UNUSED = 24 * 3600.0
"""Seconds after which an image is not needed any more."""


class UnusedImage(NamedTuple):
    """An image that can go."""

    id: str
    name: str
    bytes: int
    """What it has beyond the images that it stands on, as far as the engine tells."""


def unused_images(engine: Engine, root: Path, now: float, *, room: int = 0) -> list[UnusedImage]:
    """Return the images of a project that nobody used for a day, those that stand on others first. Blocks.

    Those that were used last stay, as long as all that stay have no more than ``room`` bytes.
    """
    return engine.now(lambda client: list(_unused(client, root, now, room)))


def remove_unused(engine: Engine, root: Path, now: float, *, room: int = 0) -> list[UnusedImage]:
    """Remove them, but none that a container or another image stands on; return what is gone. Blocks."""
    removed = []
    for image in unused_images(engine, root, now, room=room):
        with suppress(EngineError):
            engine.now(lambda client, image=image: client.remove_image(image.name))  # type: ignore[misc]
            removed.append(image)
    return removed


def _unused(client: APIClient, root: Path, now: float, room: int) -> Iterator[UnusedImage]:
    found = {one["Id"]: one for one in client.images(filters=filtered(root)) if _name(one)}
    details = {id: client.inspect_image(id) for id in found}
    used = {id: max(float(one["Created"]), _tagged(details[id])) for id, one in found.items()}
    beyond: dict[str, int] = {}
    for id in sorted(found, key=used.__getitem__, reverse=True):
        size = _own_bytes(client, found[id], details[id])
        room -= size
        if room <= 0 and now - used[id] > UNUSED:
            beyond[id] = size
    for id in sorted(beyond, key=lambda one: int(found[one]["Created"]), reverse=True):
        yield UnusedImage(id, _name(found[id]), beyond[id])


def _name(image: Mapping[str, Any]) -> str:
    return next((tag for tag in image.get("RepoTags") or () if tag.rpartition(":")[0].endswith(BUILT)), "")


def _tagged(details: Mapping[str, Any]) -> float:
    """Return when it was last used; 0 where the engine does not say."""
    text = str((details.get("Metadata") or {}).get("LastTagTime") or "")
    with suppress(ValueError):
        # Nanoseconds, which Python does not read; the year 1 where it was never tagged.
        return max(0.0, datetime.fromisoformat(re.sub(r"\.\d+", "", text)).timestamp())
    return 0.0


def _own_bytes(client: APIClient, image: Mapping[str, Any], details: Mapping[str, Any]) -> int:
    size = int(image.get("Size") or 0)
    parent = str(details.get("Parent") or "")
    if parent:
        from docker.errors import APIError

        with suppress(APIError):
            return max(0, size - int(client.inspect_image(parent).get("Size") or 0))
    return size

"""How is an image made from another one, once for everybody who needs it?

A container is made from the image, changed, and committed under a name that is a digest of all that went into it.
Nothing else is needed of the engine: no file system that it shares with this machine, no registry.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.client import Engine, EngineError, explaining
from reeval.sandboxes.docker.engine.containers import made_container
from reeval.sandboxes.docker.images.archives import Archive
from reeval.sandboxes.docker.images.base import BUILT, image_config
from reeval.sandboxes.docker.labels import attempt_labels, project_labels
from reeval.shelf import CACHE, Held, claim

__all__ = ["Layers", "content_key"]

AGAIN = 0.2
"""Seconds between two looks whether another process has made an image."""


def content_key(*parts: str) -> str:
    """Return a digest of texts, in order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


class Layers:
    """Makes the images of a project in one engine."""

    def __init__(self, engine: Engine, root: Path, run_id: str) -> None:
        self.engine = engine
        self.root = root
        self._run_id = run_id

    async def made(self, key: str, make: Callable[[str], Awaitable[None]]) -> str:
        """Return the id of the image with a key; ``make`` commits it under the tag it is given, unless it is there."""
        tag = f"{BUILT}:{key}"
        place = self.root / CACHE / "images" / key
        while True:
            if found := await self.engine.call(lambda _: image_config(self.engine, tag)):
                # The engine remembers when it was tagged: so it is known everywhere when it was last used.
                with suppress(EngineError):
                    await self.engine.call(lambda client: client.tag(tag, BUILT, key, force=True))
                return str(found["Id"])
            if held := _claimed(place):
                try:
                    await make(tag)
                finally:
                    held.release()
            else:
                await anyio.sleep(AGAIN)

    def labels(self, what: str) -> dict[str, str]:
        """Return the labels of a container that an image is made with."""
        return attempt_labels(self.root, self._run_id, what)

    async def archived(self, parent: str, tag: str, archive: Archive) -> None:
        """Commit an image that is its parent and the files of an archive, which is closed."""
        try:
            data = archive.finished()
            async with self.draft(parent) as draft:
                await self.engine.call(lambda client: client.put_archive(draft, "/", data), patient=True)
                await self.commit(draft, tag)
        finally:
            archive.close()

    @asynccontextmanager
    async def draft(self, image: str) -> AsyncIterator[str]:
        """Give a container that is never started, as a place for files."""
        config = {
            "Image": image,
            "Entrypoint": ["/bin/sh"],
            "Cmd": [],
            "Labels": self.labels("an image"),
            "HostConfig": {"NetworkMode": "none"},
        }
        async with made_container(self.engine, config, "image") as container:
            with explaining(f"no image can be made from {image}"):
                yield container.id

    async def commit(self, container: str, tag: str) -> None:
        """Make an image of a container's files."""
        name, _, key = tag.partition(":")
        # A commit takes over the container's labels: those of its owner, which has nothing to do with the image.
        labels = {**dict.fromkeys(self.labels(""), ""), **project_labels(self.root)}
        changes = [f'LABEL "{label}"="{value}"' for label, value in labels.items()]
        with explaining("the image could not be made"):
            await self.engine.call(
                lambda client: client.commit(container, name, key, pause=False, changes=changes), patient=True
            )


def _claimed(place: Path) -> Held | None:
    try:
        return claim(place)
    except OSError as error:
        reason = f"{place.parent} cannot be written: {error.strerror}; give yourself the right to write there"
        raise InfrastructureError(Phase.SANDBOX, reason) from error

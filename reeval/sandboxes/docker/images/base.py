"""Which image of the engine do a sandbox's options mean, and is it there? Found by its tag, pulled, or built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.sandboxes.docker.engine.client import Engine, EngineError, explaining
from reeval.sandboxes.docker.images.dockerfile import build, build_digest, sources
from reeval.sandboxes.docker.options import DockerOptions

__all__ = ["BUILT", "base_image", "image_config", "pinned"]

BUILT = "reeval-env"
"""The name of every image that reeval makes; its tag is a digest of the content."""


def pinned(engine: Engine, options: DockerOptions, root: Path) -> str | None:
    """Return what the options mean now: an image's id, or the digest of what one is built from.

    Blocks. None: it is pulled when it is needed. Raises ``PlanError``: it is missing and nothing may be pulled.
    """
    if options.dockerfile is not None:
        digest = build_digest(options, root)
        if options.pull == "never" and image_config(engine, f"{BUILT}:{digest}") is None:
            for source in sources(options, root):
                if image_config(engine, source) is None:
                    raise PlanError(_missing(engine, source))
        return digest
    assert options.image is not None, "an image or a dockerfile"
    if found := image_config(engine, options.image):
        return str(found["Id"])
    if options.pull == "missing":
        return None
    raise PlanError(_missing(engine, options.image))


def _missing(engine: Engine, image: str) -> str:
    """Say that the engine does not have an image, and what to do."""
    return (
        f"the image {image!r} is not on the container engine at {engine.name}; "
        f'docker pull {image}, or pull = "missing" lets the run do it'
    )


def image_config(engine: Engine, image: str) -> Mapping[str, Any] | None:
    """Return what the engine knows about an image; None when it has none of that name. Blocks."""
    try:
        found: Mapping[str, Any] = engine.now(lambda client: client.inspect_image(image))
    except EngineError as error:
        if error.status == 404:
            return None
        raise error.explained(f"the image {image!r} cannot be used") from error
    return found


async def base_image(engine: Engine, options: DockerOptions, root: Path) -> str:
    """Return the id of the image that containers start from, before anything of reeval's; raise otherwise."""
    if options.dockerfile is not None:
        return await _built(engine, options, root)
    image = options.pinned or options.image
    assert image is not None, "an image or a dockerfile"
    found = await engine.call(lambda _: image_config(engine, image))
    if found is None and options.pull == "missing" and options.image is not None:
        await _pull(engine, options.image)
        found = await engine.call(lambda _: image_config(engine, options.image or ""))
    if found is None:
        raise InfrastructureError(Phase.SANDBOX, _missing(engine, options.image or image))
    return str(found["Id"])


async def _pull(engine: Engine, image: str) -> None:
    from docker.utils import parse_repository_tag

    name, tag = parse_repository_tag(image)
    failed = f"the image {image!r} could not be pulled"
    with explaining(failed):
        # Read to its end: the call answers at once, and the image is there when it has said everything.
        lines = await engine.call(
            lambda client: list(client.pull(name, tag=tag or "latest", stream=True, decode=True)), patient=True
        )
    if problem := next((line["error"] for line in lines if "error" in line), None):
        raise InfrastructureError(Phase.SANDBOX, f"{failed}: {problem}")


async def _built(engine: Engine, options: DockerOptions, root: Path) -> str:
    tag = f"{BUILT}:{options.pinned or build_digest(options, root)}"
    found = await engine.call(lambda _: image_config(engine, tag))
    if found is None:
        await build(engine, options, root, tag)
        found = await engine.call(lambda _: image_config(engine, tag))
    if found is None:
        reason = f"the image of {options.dockerfile!r} is gone from the engine; run again"
        raise InfrastructureError(Phase.SANDBOX, reason)
    return str(found["Id"])

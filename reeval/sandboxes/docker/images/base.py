"""Which image of the engine do a sandbox's options mean, and is it there? Found by its tag, pulled, or built."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.sandboxes.docker.engine.client import Engine, EngineError, explaining
from reeval.sandboxes.docker.labels import project_labels
from reeval.sandboxes.docker.options import DockerOptions

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["BUILT", "base_image", "image_config", "pinned"]

BUILT = "reeval-env"
"""The name of every image that reeval makes; its tag is a digest of the content."""
TAIL = 4000
"""Characters of a failed build's output that are kept."""


def pinned(engine: Engine, options: DockerOptions, root: Path) -> str | None:
    """Return what the options mean now: an image's id, or the digest of what one is built from.

    Blocks. None: it is pulled when it is needed. Raises ``PlanError``: it is missing and nothing may be pulled.
    """
    if options.dockerfile is not None:
        digest = _build_digest(options, root)
        if not _is_there(engine, f"{BUILT}:{digest}"):
            _check_sources(engine, options, root)
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


# --- built from a Dockerfile ----------------------------------------------------------------------------


def _build_digest(options: DockerOptions, root: Path) -> str:
    """Return a digest of a Dockerfile and of all that it may copy; raise ``PlanError`` when they cannot be read."""
    file, context = _places(options, root)
    digest = hashlib.sha256()
    try:
        digest.update(file.read_bytes())
        for path in sorted(_included(file, context)):
            for part in _described(context / path, path):
                digest.update(part)
    except OSError as error:
        raise PlanError(f"dockerfile {options.dockerfile!r}: {error.filename}: {error.strerror}") from error
    return digest.hexdigest()[:32]


async def _built(engine: Engine, options: DockerOptions, root: Path) -> str:
    digest = options.pinned or _build_digest(options, root)
    tag = f"{BUILT}:{digest}"
    if not await engine.call(lambda _: _is_there(engine, tag)):
        failed = f"the image of {options.dockerfile!r} could not be built"
        with explaining(failed):
            said = await engine.call(lambda client: _build(client, options, root, tag), patient=True)
        problem = next((str(line["error"]) for line in said if "error" in line), None)
        if problem is not None:
            output = "".join(str(line.get("stream", "")) for line in said)[-TAIL:]
            raise InfrastructureError(Phase.SANDBOX, f"{failed}: {problem.strip()}", detail=output)
    found = await engine.call(lambda _: image_config(engine, tag))
    if found is None:
        raise InfrastructureError(
            Phase.SANDBOX, f"the image of {options.dockerfile!r} is gone from the engine; run again"
        )
    return str(found["Id"])


def _build(client: APIClient, options: DockerOptions, root: Path, tag: str) -> list[Mapping[str, Any]]:
    file, context = _places(options, root)
    lines = client.build(
        path=str(context),
        dockerfile=str(file),
        tag=tag,
        rm=True,
        forcerm=True,
        pull=False,
        labels=project_labels(root),
        decode=True,
    )
    return list(lines)


def _check_sources(engine: Engine, options: DockerOptions, root: Path) -> None:
    if options.pull == "missing":
        return
    file, _ = _places(options, root)
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise PlanError(f"dockerfile {options.dockerfile!r}: {error.strerror}") from error
    for image in _sources(text):
        if not _is_there(engine, image):
            raise PlanError(_missing(engine, image))


def _sources(dockerfile: str) -> Iterator[str]:
    """Yield the images that a Dockerfile builds on and names in full."""
    stages = {"scratch"}
    for found in re.finditer(r"(?im)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", dockerfile):
        if found[1].lower() not in stages and "$" not in found[1]:
            yield found[1]
        if found[2]:
            stages.add(found[2].lower())


def _is_there(engine: Engine, image: str) -> bool:
    return image_config(engine, image) is not None


def _places(options: DockerOptions, root: Path) -> tuple[Path, Path]:
    file = root / str(options.dockerfile)
    return file, root / options.context if options.context else file.parent


def _included(file: Path, context: Path) -> set[str]:
    from docker.utils.build import exclude_paths

    ignore = context / ".dockerignore"
    patterns = ignore.read_text(encoding="utf-8").splitlines() if ignore.is_file() else []
    kept = [line.strip() for line in patterns if line.strip() and not line.startswith("#")]
    found: set[str] = exclude_paths(str(context), kept, dockerfile=os.path.relpath(file, context))
    return found


def _described(path: Path, name: str) -> Iterator[bytes]:
    status = path.lstat()
    yield f"\0{name}\0{stat.S_IMODE(status.st_mode):o}\0".encode("utf-8", "surrogateescape")
    if path.is_symlink():
        yield os.fsencode(path.readlink())
    elif path.is_file():
        with path.open("rb") as file:
            while chunk := file.read(1024 * 1024):
                yield chunk

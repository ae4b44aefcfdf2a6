"""What does a Dockerfile make: of what, from which images, under which digest of all that goes into it?"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.sandboxes.docker.engine.client import Engine, explaining
from reeval.sandboxes.docker.labels import project_labels
from reeval.sandboxes.docker.options import DockerOptions

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["build", "build_digest", "sources"]

TAIL = 4000
"""Characters of a failed build's output that are kept."""


def build_digest(options: DockerOptions, root: Path) -> str:
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


def sources(options: DockerOptions, root: Path) -> list[str]:
    """Return the images that a Dockerfile builds on and names in full; raise ``PlanError`` when it cannot be read."""
    file, _ = _places(options, root)
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise PlanError(f"dockerfile {options.dockerfile!r}: {error.strerror}") from error
    found, stages = [], {"scratch"}
    for line in re.finditer(r"(?im)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", text):
        if line[1].lower() not in stages and "$" not in line[1]:
            found.append(line[1])
        if line[2]:
            stages.add(line[2].lower())
    return found


async def build(engine: Engine, options: DockerOptions, root: Path, tag: str) -> None:
    """Build the image and name it; raise ``InfrastructureError`` with what the build printed."""
    failed = f"the image of {options.dockerfile!r} could not be built"
    with explaining(failed):
        said = await engine.call(lambda client: _built(client, options, root, tag), patient=True)
    problem = next((str(line["error"]) for line in said if "error" in line), None)
    if problem is not None:
        output = "".join(str(line.get("stream", "")) for line in said)[-TAIL:]
        raise InfrastructureError(Phase.SANDBOX, f"{failed}: {problem.strip()}", detail=output)


def _built(client: APIClient, options: DockerOptions, root: Path, tag: str) -> list[Mapping[str, Any]]:
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

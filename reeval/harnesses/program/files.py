"""Which files of the host does a program bring into the sandbox?"""

from __future__ import annotations

import hashlib
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.protocols import Sandbox

__all__ = ["ProgramFile", "digest_of", "place_files", "read_files"]

_LEFT_OUT = frozenset({".git", "__pycache__"})
_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class ProgramFile:
    """One file to place."""

    path: str
    """In the workspace, or ``~/…``."""
    data: bytes
    executable: bool


def read_files(files: Mapping[str, str], root: Path, owner: str) -> tuple[ProgramFile, ...]:
    """Read sandbox path → host path (from ``root``; of a directory everything in it); raise ``ConfigError``."""
    read: list[ProgramFile] = []
    for path, host in files.items():
        source = root / host
        try:
            for below, file in _files(source):
                executable = bool(file.stat().st_mode & stat.S_IXUSR)
                read.append(ProgramFile(path=path + below, data=file.read_bytes(), executable=executable))
        except OSError as error:
            raise ConfigError(f"{owner}: files: {host!r} cannot be read: {error.strerror}; correct its path") from None
    return tuple(read)


def digest_of(files: Sequence[ProgramFile]) -> str:
    """Return 16 hex digits that name what is placed; empty when nothing is."""
    if not files:
        return ""
    total = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        content = hashlib.sha256(file.data).hexdigest()
        total.update(f"{file.path}\0{file.executable}\0{content}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:_DIGITS]


async def place_files(files: Sequence[ProgramFile], sandbox: Sandbox) -> None:
    """Write the files into a sandbox; raise ``InfrastructureError`` (phase ``harness``) when one cannot be."""
    for file in files:
        try:
            await sandbox.write(file.path, file.data)
        except OSError as error:
            reason = f"{file.path!r} cannot be placed in the sandbox: {error.strerror or error}"
            raise InfrastructureError(Phase.HARNESS, reason) from error
    if programs := [_in_shell(file.path) for file in files if file.executable]:
        done = await sandbox.exec(f"chmod +x -- {' '.join(programs)}")
        if not done.ok:
            raise InfrastructureError(Phase.HARNESS, f"files cannot be made executable: {done.stderr.strip()}")


def _files(source: Path) -> Iterator[tuple[str, Path]]:
    if not source.is_dir():
        yield "", source
        return
    for child in sorted(source.iterdir()):
        if child.name not in _LEFT_OUT:
            for below, file in _files(child):
                yield f"/{child.name}{below}", file


def _in_shell(path: str) -> str:
    return f'"$HOME"/{shlex.quote(path[2:])}' if path.startswith("~/") else shlex.quote(path)

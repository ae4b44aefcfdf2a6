"""What is in a folder of a commit? Its files as they are stored, as a plain directory in the cache.

No checkout of git's own: that would run the filters, and obey the attributes, of whoever wrote the source.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reeval.environments.sources.git import GitError, call, piped
from reeval.environments.sources.mirror import DamagedError, unreadable
from reeval.errors import PlanError

__all__ = ["FILES", "POINTERS", "SOURCES", "place_of", "write_folder"]

SOURCES = "sources"
"""Folder of the cache that holds the directories."""
FILES = "files"
"""In one of them: the files of the source."""
POINTERS = "pointers"
"""Beside them: the paths, one a line, of files that are in Git LFS, whose pointers stand there instead."""

_LFS = b"version https://git-lfs.github.com/spec/"
_LINK, _EXECUTABLE, _MODULE = "120000", "100755", "160000"
_LONGEST_LINK = 4096


@dataclass(frozen=True, slots=True)
class _Item:
    mode: str
    object: str
    path: str


def place_of(url: str, commit: str, path: str, cache: Path) -> Path:
    """Return where a folder of a commit is written."""
    return cache / SOURCES / hashlib.sha256("\0".join((url, commit, path)).encode()).hexdigest()[:32]


def write_folder(repository: Path, commit: str, path: str, building: Path, owner: str) -> None:
    """Write the folder ``path`` of a commit; raise ``PlanError``, naming ``owner``, when it has no such folder.

    Raises ``DamagedError`` when the repository cannot be read, and ``OSError`` when the files cannot be written.
    """
    items = list(_listed(repository, f"{commit}:{path}", owner))
    top = building / FILES
    # A submodule is the directory that a plain clone makes of it, an empty one.
    files = [item for item in items if item.mode != _MODULE]
    modules = {top / item.path for item in items if item.mode == _MODULE}
    try:
        for directory in sorted({top, *modules, *((top / item.path).parent for item in files)}):
            directory.mkdir(parents=True, exist_ok=True)
        # Links last: a tree that was made by hand may hold a link and files below it.
        pointers = _write_all(repository, sorted(files, key=lambda item: item.mode == _LINK), top)
    except (FileExistsError, NotADirectoryError) as error:
        name = str(Path(error.filename2 or error.filename).relative_to(top))
        raise PlanError(f"{owner}: {name!r} is a file and a directory at once; it cannot be written here") from None
    (building / POINTERS).write_bytes(b"".join(os.fsencode(f"{path}\n") for path in pointers))


def _listed(repository: Path, folder: str, owner: str) -> Iterator[_Item]:
    try:
        printed = call("ls-tree", "-r", "-z", folder, directory=repository)
    except GitError:
        if damaged := unreadable(repository):
            raise damaged from None
        commit, _, path = folder.partition(":")
        raise PlanError(f"{owner}: there is no folder {path!r} in commit {commit[:12]}; correct path") from None
    for line in printed.split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        mode, _, object = head.decode().split(" ")
        item = _Item(mode, object, os.fsdecode(name))
        if any(part in {"", ".", "..", ".git"} for part in item.path.lower().split("/")):
            raise PlanError(f"{owner}: it holds the path {item.path!r}, which no checkout may write")
        yield item


def _write_all(repository: Path, items: list[_Item], top: Path) -> list[str]:
    """Write the files and return the paths of those that are pointers of Git LFS."""
    with tempfile.TemporaryFile() as names:
        names.write(b"".join(item.object.encode() + b"\n" for item in items))
        names.seek(0)
        with piped("cat-file", "--batch", directory=repository, stdin=names.fileno()) as process:
            assert process.stdout is not None
            try:
                return [item.path for item in items if _write(process.stdout, item, top / item.path)]
            except EOFError as error:
                raise DamagedError(repository, str(error)) from None


def _write(stream: IO[bytes], item: _Item, target: Path) -> bool:
    head = stream.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise EOFError(f"no content of {item.path!r}")
    size = int(head[2])
    if item.mode == _LINK:
        _link(stream.read(size), target)
        stream.read(1)
        return False
    start = stream.read(min(size, len(_LFS)))
    mode = 0o755 if item.mode == _EXECUTABLE else 0o644
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        out.write(start)
        _copy(stream, out, size - len(start))
    stream.read(1)
    return start == _LFS


def _link(content: bytes, target: Path) -> None:
    if not content or b"\0" in content or len(content) > _LONGEST_LINK:
        raise PlanError(f"{target.name!r} is a link that cannot be written; make it a relative link, or a file")
    target.symlink_to(os.fsdecode(content))


def _copy(stream: IO[bytes], out: IO[bytes], size: int) -> None:
    while size:
        chunk = stream.read(min(size, 1 << 20))
        if not chunk:
            raise EOFError("a file ends too early")
        out.write(chunk)
        size -= len(chunk)

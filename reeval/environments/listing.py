"""What is in an environment's tree? Every file, directory and link of it, before anything is copied."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.schema.environment import HostFile

__all__ = ["LEFT_OUT", "Entry", "Listing", "host_entry", "list_directory", "text_entry"]

LEFT_OUT = frozenset({".git", ".reeval"})
"""Never copied from a host directory: a history may hold the solution, and records hold earlier answers."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree. A file has either ``text`` or a ``source``."""

    kind: Literal["directory", "file", "link"]
    text: bytes | None = None
    source: str | None = None
    """Host path of the content."""
    target: str = ""
    """Of a link."""
    executable: bool = False


@dataclass
class Listing:
    """The entries of a tree by path (``workspace/a/b``, ``home/c``); what comes later replaces what came before."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, path: str, entry: Entry, owner: str) -> None:
        """Put a file at ``path``; raise ``PlanError`` when it is a directory, or a file stands above it."""
        there = self.entries.get(path)
        if there is not None and there.kind == "directory":
            raise PlanError(f"{owner}: {_shown(path)!r} is a directory already; give the file another path")
        for above in _above(path):
            parent = self.entries.setdefault(above, Entry("directory"))
            if parent.kind != "directory":
                raise PlanError(
                    f"{owner}: {_shown(path)!r} needs {_shown(above)!r} to be a directory, but it is a {parent.kind}; "
                    "rename one of them"
                )
        self.entries[path] = entry


def text_entry(text: str, owner: str) -> Entry:
    """Return a file that holds ``text``."""
    try:
        return Entry("file", text=text.encode())
    except UnicodeEncodeError as error:
        raise PlanError(f"{owner}: its text cannot be written as UTF-8 ({error.reason}); write a host file") from None


def host_entry(file: HostFile, root: Path, owner: str) -> Entry:
    """Return a file whose content is a file of the host."""
    source = root / file.path
    try:
        status = source.stat()
    except OSError as error:
        raise PlanError(
            f"{owner}: host file {file.path!r} cannot be used: {error.strerror}; correct its path"
        ) from None
    if not stat.S_ISREG(status.st_mode):
        raise PlanError(f"{owner}: host file {file.path!r} is not a regular file; a directory can be a workspace")
    return Entry("file", source=os.fspath(source), executable=bool(status.st_mode & stat.S_IXUSR))


def list_directory(top: Path, owner: str) -> Iterator[tuple[str, Entry]]:
    """Yield every path below ``top`` (from it, with ``/``), parents first, and refuse what cannot be copied."""
    waiting = [("", os.fspath(top))]
    real_top = os.path.realpath(top)
    while waiting:
        above, directory = waiting.pop()
        try:
            with os.scandir(directory) as found:
                children = sorted(found, key=lambda child: child.name)
        except OSError as error:
            raise _unreadable(directory, error, owner) from error
        for child in children:
            if child.name in LEFT_OUT:
                continue
            path = above + child.name
            entry = _directory_entry(child, path, real_top, owner)
            if entry.kind == "directory":
                waiting.append((f"{path}/", child.path))
            yield path, entry


def _directory_entry(child: os.DirEntry[str], path: str, real_top: str, owner: str) -> Entry:
    if child.is_symlink():
        return _link(child.path, path, real_top, owner)
    if child.is_dir(follow_symlinks=False):
        return Entry("directory")
    if not child.is_file(follow_symlinks=False):
        raise PlanError(f"{owner}: {path!r} is a socket, a pipe or a device; remove it from the directory")
    try:
        mode = child.stat(follow_symlinks=False).st_mode
    except OSError as error:
        raise _unreadable(child.path, error, owner) from error
    return Entry("file", source=child.path, executable=bool(mode & stat.S_IXUSR))


def _link(link: str, path: str, real_top: str, owner: str) -> Entry:
    """Keep a link as it is. Both tests are needed: one sees links on the way, the other a way out and back in."""
    target = os.fspath(Path(link).readlink())
    written = os.path.normpath(Path(path).parent / target)
    lexically_inside = not target.startswith("/") and written.split("/")[0] != ".."
    if not lexically_inside or not f"{os.path.realpath(link)}/".startswith(f"{real_top}/"):
        raise PlanError(
            f"{owner}: {path!r} is a symbolic link to {target!r}, which leaves the directory; "
            "make it a relative link inside, or a file"
        )
    return Entry("link", target=target)


def _unreadable(path: str, error: OSError, owner: str) -> InfrastructureError:
    return InfrastructureError(Phase.SETUP, f"{owner}: {path!r} cannot be read: {error.strerror}")


def _above(path: str) -> Iterator[str]:
    """Yield the directories above a path, without the tree's own two."""
    end = path.find("/", path.find("/") + 1)
    while end != -1:
        yield path[:end]
        end = path.find("/", end + 1)


def _shown(path: str) -> str:
    area, _, rest = path.partition("/")
    return f"~/{rest}" if area == "home" else rest

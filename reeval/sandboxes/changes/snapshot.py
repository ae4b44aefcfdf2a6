"""What does the workspace hold now? A walk that reads only what is new since the walk before.

A file is known to be unchanged by its size, times, inode and mode, as in git's index; a file that was touched at the
very moment of the last walk is read again, because a later write could have left all of those equal. Nothing is
followed out of the workspace: every directory is opened relative to the one above it, and never through a link.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from reeval.sandboxes.changes.contents import Content, content_of, content_of_link, opaque, signature_of
from reeval.sandboxes.changes.ignores import GITIGNORE, MOST_BYTES, Rules, never_seen
from reeval.sandboxes.changes.objects import EXECUTABLE, FILE, LINK, ObjectStore

__all__ = ["OPAQUE", "Entry", "Tracker", "TreeSnapshot"]

DEPTH = 100
"""Directories below each other that are looked into. One that is deeper counts as a single thing."""
RACY = 100_000_000
"""Nanoseconds around a walk in which the clock of a file system may not tell two writes apart."""
OPAQUE = ""
"""The mode of what is listed and never shown: directories that cannot be looked into."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Entry(NamedTuple):
    """One path at one moment."""

    path: str
    mode: str
    """Git's mode, or ``OPAQUE``."""
    signature: bytes
    content: Content | None
    """None: as in the prepared tree."""
    racy: bool


@dataclass(frozen=True, eq=False)
class TreeSnapshot:
    """The workspace at one moment."""

    files: Mapping[str, Entry]
    """By path; the text of a path is as ``os.fsdecode`` gives it."""


@dataclass(eq=False)
class Tracker:
    """Takes the snapshots of one workspace. Blocking, to be called in a thread."""

    workspace: str
    store: ObjectStore
    prepared: bool
    """What is there at the first snapshot was copied from a prepared tree, which keeps the content."""
    _last: TreeSnapshot | None = None
    _lock: Lock = field(default_factory=Lock)

    def snapshot(self) -> TreeSnapshot:
        """Look at the workspace; return the last snapshot itself when it is still the truth."""
        with self._lock:
            walk = _Walk(self.store, self._last, trust=self.prepared and self._last is None)
            try:
                top = self._top()
            except (FileNotFoundError, NotADirectoryError):  # An agent may even remove the workspace.
                pass
            else:
                walk.directory(top, "", Rules(), known_only=False)
            if self._last is None or walk.changed or len(walk.files) != len(self._last.files):
                self._last = TreeSnapshot(walk.files)
            return self._last

    def _top(self) -> int:
        try:
            return os.open(self.workspace, _DIRECTORY)
        except PermissionError:  # The agent locked it, which must not hide what it did.
            os.chmod(self.workspace, stat.S_IRWXU)  # noqa: PTH101 - beside os.open
            return os.open(self.workspace, _DIRECTORY)


class _Walk:
    """One walk over a workspace."""

    def __init__(self, store: ObjectStore, last: TreeSnapshot | None, *, trust: bool) -> None:
        self._store = store
        self._last = last.files if last else {}
        self._trust = trust
        self._racy_from = time.time_ns() - RACY
        self._known: set[str] | None = None
        self.files: dict[str, Entry] = {}
        self.changed = False

    def directory(self, opened: int, prefix: str, rules: Rules, *, known_only: bool) -> None:
        """Take in everything below an opened directory, and close it."""
        try:
            with os.scandir(opened) as found:
                children = list(found)
            rules = _with_gitignore(rules, prefix, opened, children)
            for child in children:
                self._child(child, opened, prefix, rules, known_only=known_only)
        finally:
            os.close(opened)

    def _child(self, child: os.DirEntry[str], above: int, prefix: str, rules: Rules, *, known_only: bool) -> None:
        path = prefix + child.name
        try:
            if child.is_dir(follow_symlinks=False):
                if not never_seen(child.name, directory=True):
                    self._subdirectory(child, above, path, rules, known_only=known_only)
                return
            if path in self._last or self._is_new(child.name, path, rules, known_only=known_only):
                self._file(child, above, path)
        except FileNotFoundError:  # Removed while we looked.
            return

    @staticmethod
    def _is_new(name: str, path: str, rules: Rules, *, known_only: bool) -> bool:
        """Say whether a file that was not seen before is seen from now on."""
        if name == GITIGNORE:
            return True
        return not (known_only or never_seen(name, directory=False) or rules.ignored(path, directory=False))

    def _subdirectory(self, child: os.DirEntry[str], above: int, path: str, rules: Rules, *, known_only: bool) -> None:
        if known_only or rules.ignored(path, directory=True):
            if path not in self._known_directories():
                return
            known_only = True
        if path.count("/") >= DEPTH:
            self._opaque(child, path)
            return
        try:
            opened = os.open(child.name, _DIRECTORY, dir_fd=above)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ELOOP}:
                raise
            self._opaque(child, path)
            return
        self.directory(opened, f"{path}/", rules, known_only=known_only)

    def _file(self, child: os.DirEntry[str], above: int, path: str) -> None:
        status = child.stat(follow_symlinks=False)
        signature = signature_of(status)
        last = self._last.get(path)
        if last is not None and last.signature == signature and not last.racy:
            self.files[last.path] = last
            return
        mode = _git_mode(status)
        if mode is None:
            return
        racy = status.st_ctime_ns >= self._racy_from
        if self._trust:
            content = None
        else:
            read = content_of_link if mode == LINK else content_of
            content = read(child.name, above, status, self._store)
        self._put(Entry(path, mode, signature, content, racy))

    def _opaque(self, child: os.DirEntry[str], path: str) -> None:
        signature = signature_of(child.stat(follow_symlinks=False))
        self._put(Entry(f"{path}/", OPAQUE, signature, opaque(signature), racy=False))

    def _put(self, entry: Entry) -> None:
        self.files[entry.path] = entry
        self.changed = True

    def _known_directories(self) -> set[str]:
        if self._known is None:
            self._known = {above for path in self._last for above in _above(path)}
        return self._known


def _with_gitignore(rules: Rules, prefix: str, opened: int, children: list[os.DirEntry[str]]) -> Rules:
    for child in children:
        if child.name == GITIGNORE and child.is_file(follow_symlinks=False):
            return rules.below(prefix, _head(opened))
    return rules


def _head(directory: int) -> bytes:
    """Return what a ``.gitignore`` holds, and one byte more than is used of it."""
    try:
        with os.fdopen(os.open(GITIGNORE, _FILE, dir_fd=directory), "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        return b""


def _git_mode(status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return LINK
    if stat.S_ISREG(status.st_mode):
        return EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    return None  # Sockets and named pipes are not content.


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]

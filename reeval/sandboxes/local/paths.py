"""Which file of the host is meant by a path of a sandbox, when links in it were made by the agent?

The sandbox's directories stand on the host, so a link ``out.txt -> /etc/passwd`` must not be followed there. Every
component is opened relative to the one before it, never through a link; links are resolved here, as the processes in
the sandbox would see them, and may lead to the sandbox's own directories only. No race can lead out.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

__all__ = ["Roots"]

LINKS = 40
"""Links that one path may go through, as in the kernel."""
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


class Roots:
    """The directories of a sandbox that bodies and harnesses may read and write."""

    def __init__(self, workspace: str, home: str, others: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._home = home
        self._hosts = dict(others)
        """Path as the sandbox sees it → directory on the host."""

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return at most ``limit`` bytes of a regular file; raise ``OSError`` as ``open`` would."""
        with self._located(path) as (directory, name):
            # Without O_NONBLOCK a named pipe that the agent left would be waited for without end.
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        with open(_regular(file, path), "rb") as opened:
            return opened.read(-1 if limit is None else limit)

    def write(self, path: str, data: bytes) -> None:
        """Write a file, making its directories; an existing file keeps its mode."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with self._located(path, make=True) as (directory, name):
            file = os.open(name, flags, 0o644, dir_fd=directory)
        with open(_regular(file, path), "wb") as opened:
            opened.truncate()
            opened.write(data)

    def exists(self, path: str) -> bool:
        """Say whether there is a file or directory, inside."""
        try:
            with self._located(path) as (directory, name):
                os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return False
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENAMETOOLONG}:
                return False
            raise
        return True

    def _split(self, path: str, given: str) -> tuple[str, list[str]]:
        """Return the root on the host and the components below it."""
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, "a path cannot hold a NUL", given)
        if path == "~" or path.startswith("~/"):
            return self._hosts[self._home], _components(path[1:])
        if not path.startswith("/"):
            return self._hosts[self._workspace], _components(path)
        for visible, host in self._hosts.items():
            if path == visible or path.startswith(f"{visible}/"):
                return host, _components(path[len(visible) :])
        raise _outside(given)

    @contextmanager
    def _located(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Give the opened directory that holds what ``path`` means, and its name there, which is no link."""
        root, waiting = self._split(path, path)
        opened = [os.open(root, _DIRECTORY)]
        links = 0
        try:
            while True:
                if waiting[:1] == [".."]:
                    _leave(opened, path)
                    waiting = waiting[1:]
                    continue
                name = waiting[0] if waiting else "."
                target = _target(name, opened[-1])
                if target is None and len(waiting) <= 1:
                    yield opened[-1], name
                    return
                waiting = waiting[1:]
                if target is None:
                    opened.append(_enter(name, opened[-1], make=make))
                    continue
                links += 1
                _count(links, path)
                if target.startswith("/"):
                    root, below = self._split(target, path)
                    _close(opened)
                    opened.append(os.open(root, _DIRECTORY))
                    waiting = below + waiting
                else:
                    waiting = _components(target) + waiting
        except OSError as error:
            raise _named(error, path) from None
        finally:
            _close(opened)


def _components(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def _target(name: str, directory: int) -> str | None:
    """Return where a link leads; None for what is no link, or not there."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ENOENT}:
            return None
        raise


def _enter(name: str, directory: int, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
    return os.open(name, _DIRECTORY, dir_fd=directory)


def _count(links: int, path: str) -> None:
    if links > LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _leave(opened: list[int], path: str) -> None:
    if len(opened) == 1:
        raise _outside(path)
    os.close(opened.pop())


def _close(opened: list[int]) -> None:
    while opened:
        os.close(opened.pop())


def _regular(file: int, path: str) -> int:
    """Return the opened file, or close it and raise when it is none."""
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise PermissionError(errno.EPERM, "not a regular file", path)


def _outside(path: str) -> PermissionError:
    return PermissionError(errno.EACCES, "leads out of the sandbox's workspace, home and /tmp", path)


def _named(error: OSError, path: str) -> OSError:
    """Return the same error about the path that was asked for, not about one component of it."""
    return type(error)(error.errno, error.strerror, path)

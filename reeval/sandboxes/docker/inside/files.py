"""How are files of a container read and written? By its own shell: that works with any engine, wherever it is."""

from __future__ import annotations

import errno
import os
import posixpath
import shlex
from typing import TYPE_CHECKING

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.inside.channel import octal, quoted

if TYPE_CHECKING:
    from reeval.sandboxes.docker.container import Container
    from reeval.sandboxes.docker.inside.commands import Commands

__all__ = ["Files"]

SMALL = 4 * 1024
"""Bytes that are written with the first process's line, which it reads one by one; more has a stream of its own."""

_MISSING, _DIRECTORY, _FORBIDDEN, _SPECIAL, _OUTSIDE, _LOOP, _BELOW_FILE = range(11, 18)
"""Exit codes of the scripts here and of ``at``."""
_ERRORS = {
    _MISSING: (errno.ENOENT, None),
    _DIRECTORY: (errno.EISDIR, None),
    _FORBIDDEN: (errno.EACCES, None),
    _SPECIAL: (errno.EPERM, "not a regular file"),
    _OUTSIDE: (errno.EACCES, "leads out of the sandbox's workspace, home and /tmp"),
    _LOOP: (errno.ELOOP, None),
    _BELOW_FILE: (errno.ENOTDIR, None),
}


class Files:
    """Reads and writes files, in the workspace, the home and ``/tmp`` only: as in every other sandbox."""

    def __init__(self, container: Container, commands: Commands, *, workspace: str, home: str) -> None:
        self._container = container
        self._commands = commands
        self._workspace = workspace
        self._home = home
        roots = "|".join(f"{quoted(root)}|{quoted(root)}/*" for root in (workspace, home, "/tmp"))  # noqa: S108 - its own
        self._inside = f"case $p in {roots}) ;; *) exit {_OUTSIDE} ;; esac"
        self.written = False
        """Whether anything was written yet."""

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """Return at most ``limit`` bytes of a regular file; raise ``OSError`` as ``open`` would."""
        get = 'cat -- "$p"' if limit is None else f'head -c {limit} -- "$p"'
        answer = await self._container.channel.ask(
            f'{self._at(path)}; [ -e "$p" ] || exit {_MISSING}; [ -d "$p" ] && exit {_DIRECTORY}; '
            f'[ -f "$p" ] || exit {_SPECIAL}; [ -r "$p" ] || exit {_FORBIDDEN}; {get}'
        )
        _raise_for(answer.code, path)
        return answer.output

    async def write(self, path: str, data: bytes) -> None:
        """Write a file, making its directories; an existing file keeps its mode."""
        self.written = True
        ready = (
            f'{self._at(path)}; mkdir -p -- "$(dirname -- "$p")" || exit 1; '
            f'[ -d "$p" ] && exit {_DIRECTORY}; [ ! -e "$p" ] || [ -f "$p" ] || exit {_SPECIAL}'
        )
        # Through cat, as not every shell says of its own printf what is wrong with the disk.
        put = f"printf '{octal(data)}' | cat >\"$p\"" if len(data) <= SMALL else 'printf %s "$p"'
        answer = await self._container.channel.ask(f"{{ {ready}; {put}; }} 2>&1")
        code, said = answer.code, answer.output
        if code == 0 and len(data) > SMALL:
            script = b"cat >" + shlex.quote(os.fsdecode(said)).encode("utf-8", "surrogateescape")
            done = await self._commands.exec(["/bin/sh", "-c", os.fsdecode(script)], stdin=data)
            code, said = done.exit_code, done.stderr.encode()
        if code and b"No space left" in said:
            raise InfrastructureError(Phase.SANDBOX, f"{path}: No space left on device (in the container)")
        _raise_for(code, path, said.decode("utf-8", "replace"))

    async def exists(self, path: str) -> bool:
        """Say whether there is a file or directory, inside."""
        if "\0" in path:
            return False
        answer = await self._container.channel.ask(f'{self._at(path)}; [ -e "$p" ]')
        return answer.code == 0

    def _at(self, path: str) -> str:
        return f"at {quoted(self._absolute(path))}; {self._inside}"

    def _absolute(self, path: str) -> str:
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, "a path cannot hold a NUL", path)
        if path == "~" or path.startswith("~/"):
            return posixpath.join(self._home, path[2:])
        return posixpath.join(self._workspace, path)


def _raise_for(code: int, path: str, said: str = "") -> None:
    if code == 0:
        return
    number, text = _ERRORS.get(code, (None, None))
    if number is None:
        number = _number_of(said)
        text = said.strip().partition("\n")[0][:200] or None
    raise OSError(number, text or os.strerror(number), path)


def _number_of(said: str) -> int:
    for text, number in (
        ("Permission denied", errno.EACCES),
        ("Read-only", errno.EROFS),
        ("Not a directory", errno.ENOTDIR),
        ("Is a directory", errno.EISDIR),
        ("File exists", errno.EEXIST),
        ("too long", errno.ENAMETOOLONG),
    ):
        if text in said:
            return number
    return errno.EIO

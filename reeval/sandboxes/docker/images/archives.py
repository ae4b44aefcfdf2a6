"""How do files get into an image? As a tar archive, whose every entry has the owner it shall have inside."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

__all__ = ["Archive", "Owner", "listing_digest", "member"]

IN_MEMORY = 8 * 1024 * 1024
_STICKY = {"tmp", "var/tmp"}


class Owner(NamedTuple):
    """Who files belong to."""

    uid: int
    gid: int


ROOT = Owner(0, 0)


class Archive:
    """An archive that is written, then read by the engine."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by ``close``
        self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - likewise

    def directory(self, path: str, owner: Owner, mode: int = 0o755) -> None:
        """Add a directory."""
        entry = _entry(path, owner, mode)
        entry.type = tarfile.DIRTYPE
        self._tar.addfile(entry)

    def above(self, path: str) -> None:
        """Add the directories above a path, so that every user may look into them."""
        for above in reversed(PurePosixPath(path).parents[:-1]):
            name = str(above).strip("/")
            if name:
                self.directory(name, ROOT, 0o1777 if name in _STICKY else 0o755)

    def file(self, path: str, data: bytes, owner: Owner = ROOT, mode: int = 0o644) -> None:
        """Add a file."""
        entry = _entry(path, owner, mode)
        entry.size = len(data)
        self._tar.addfile(entry, io.BytesIO(data))

    def tree(self, source: str, target: str, owner: Owner, *, readable: bool = False) -> None:
        """Add what is in a directory of this machine, with modes and links; ``readable``: by everyone."""

        def owned(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
            if not (entry.isfile() or entry.isdir() or entry.issym() or entry.islnk()):
                return None
            entry.uid, entry.gid, entry.uname, entry.gname = *owner, "", ""
            if readable:
                entry.mode |= 0o555 if entry.isdir() or entry.mode & stat.S_IXUSR else 0o444
            return entry

        self._tar.add(source, arcname=target.strip("/"), filter=owned)

    def finished(self) -> IO[bytes]:
        """Return the whole of it, to be read from its start."""
        self._tar.close()
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Let go of it."""
        self._file.close()


def member(archive: bytes) -> bytes:
    """Return the content of the one file in an archive that the engine gave."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        first = tar.next()
        file = tar.extractfile(first) if first is not None else None
        return file.read() if file is not None else b""


def listing_digest(directory: str) -> str:
    """Return a digest of the names, sizes, times and modes of what is in a directory: programs are too big to read."""
    digest = hashlib.sha256(directory.encode("utf-8", "surrogateescape"))
    for line in _listing(Path(directory)):
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _listing(directory: Path) -> Iterator[str]:
    for above, names, files in os.walk(directory):
        names.sort()
        for name in sorted((*names, *files)):
            path = f"{above}/{name}"
            status = os.lstat(path)
            size, time = (0, 0) if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_mtime_ns)
            yield f"{path}\0{status.st_mode:o}\0{size}\0{time}\n"


def _entry(path: str, owner: Owner, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.strip("/"))
    entry.mode = mode
    entry.uid, entry.gid = owner
    return entry

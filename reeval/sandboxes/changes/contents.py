"""What does a file of the workspace hold? Its id, and whether a diff can show it."""

from __future__ import annotations

import errno
import os
import stat
import struct
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from reeval.sandboxes.changes.objects import ObjectStore, blob_id

__all__ = [
    "MOST_HASHED",
    "MOST_SHOWN",
    "Content",
    "content_of",
    "content_of_data",
    "content_of_link",
    "opaque",
    "prepared_content",
    "signature_of",
]

MOST_SHOWN = 1024 * 1024
"""Bytes of a file that a diff shows; larger ones are listed."""
MOST_HASHED = 32 * 1024 * 1024
"""Bytes of a file that is read to tell whether it changed; of larger ones a touch counts as a change."""
MOST_STORED = 256 * 1024 * 1024
"""Bytes of all versions that an attempt keeps to show; after that files are listed."""
SNIFFED = 8000
"""Bytes in which a NUL makes a file binary: git's own rule."""
CHUNK = 256 * 1024
_PACK = struct.Struct("<IQqqQ").pack


class Content(NamedTuple):
    """What a file holds."""

    id: bytes
    """Equal ids are equal contents."""
    shown: bool
    """It is text, and stored under its id."""


def content_of(name: str, directory: int, status: os.stat_result, store: ObjectStore) -> Content:
    """Read a file by its name in an opened directory and keep it, if it can be shown."""
    try:
        # The file may be a named pipe or a link by now: neither is waited for nor followed.
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO}:
            raise
        return opaque(signature_of(status))
    return _read(opened, store)


def content_of_link(name: str, directory: int, status: os.stat_result, store: ObjectStore) -> Content:
    """Return where a link leads, as content."""
    try:
        return _kept(os.fsencode(os.readlink(name, dir_fd=directory)), store)
    except FileNotFoundError:
        raise
    except OSError:  # It is no link any more.
        return opaque(signature_of(status))


def content_of_data(data: bytes, store: ObjectStore) -> Content:
    """Return the content of a file that was read already."""
    if len(data) > MOST_SHOWN:
        return Content(b"large" + sha1(data, usedforsecurity=False).digest(), shown=False)
    return _kept(data, store)


def prepared_content(path: Path, store: ObjectStore) -> Content:
    """Return what a path of a prepared tree holds; raise ``OSError`` when it is gone."""
    if path.is_symlink():
        return _kept(os.fsencode(path.readlink()), store)
    return _read(os.open(path, os.O_RDONLY), store)


def opaque(signature: bytes) -> Content:
    """Return the content of what is not read: any touch changes it."""
    return Content(b"opaque" + signature, shown=False)


def signature_of(status: os.stat_result) -> bytes:
    """Return what cannot stay equal when a file is written: mode, size, both times, inode."""
    return _PACK(status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _read(opened: int, store: ObjectStore) -> Content:
    with open(opened, "rb", buffering=0) as file:
        status = os.fstat(opened)
        if status.st_size > MOST_HASHED or not stat.S_ISREG(status.st_mode):
            return opaque(signature_of(status))
        if status.st_size > MOST_SHOWN:
            hashed = sha1(usedforsecurity=False)
            while chunk := file.read(CHUNK):
                hashed.update(chunk)
            return Content(b"large" + hashed.digest(), shown=False)
        return _kept(file.read(MOST_SHOWN) or b"", store)


def _kept(data: bytes, store: ObjectStore) -> Content:
    if b"\0" in data[:SNIFFED] or store.size > MOST_STORED:
        return Content(blob_id(data), shown=False)
    return Content(store.blob(data), shown=True)

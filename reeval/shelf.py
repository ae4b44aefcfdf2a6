"""How do processes share directories that one of them makes and all of them use? On shelves, in a project's cache.

A directory is made beside its place and renamed into it, so that it is there whole or not at all. Who uses one holds
a shared lock on it, which the kernel drops with the process: what nobody holds can go at any time.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = [
    "CACHE",
    "SETUPS",
    "UNFINISHED",
    "Held",
    "claim",
    "drop_claims",
    "hold",
    "making",
    "note_size",
    "put",
    "size",
    "take_down",
]

CACHE = Path(".reeval", "cache")
"""Where a project keeps what is made once, from its root."""
SETUPS = "setups"
"""Folder of the cache that holds what cached setup steps left."""
UNFINISHED = ".building-"
"""What the name of a directory starts with while it is made, or removed."""
_LOCK = ".lock-"
_SIZE = "size"
"""File of a directory that will not change, beside what is in it: its bytes, so that nobody walks through it again."""


class Held:
    """A lock, as long as this object lives."""

    def __init__(self, descriptor: int, file: Path | None = None) -> None:
        """``file``: what goes with the lock."""
        self.release = weakref.finalize(self, _let_go, descriptor, file)
        """Give it up early."""


def hold(directory: str | Path) -> Held | None:
    """Keep a directory from being removed, and mark it as used now; None when it is not there."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    held = Held(descriptor)
    _lock(descriptor, fcntl.LOCK_SH)
    try:
        # Taken down between opening and locking, and maybe made again: then this lock is on what is removed.
        if not _still_at(directory, descriptor):
            return None
        os.utime(directory)
    except FileNotFoundError:
        return None
    return held


def take_down(directory: Path) -> Path | None:
    """Move a directory that nobody holds out of its place, and return where it waits to be removed; else None."""
    going = directory.with_name(f"{UNFINISHED}gone-{directory.name.removeprefix(UNFINISHED)}-{os.getpid()}")
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return None
        directory.rename(going)
    except FileNotFoundError:
        return None
    finally:
        os.close(descriptor)
    return going


@contextmanager
def making(shelf: Path) -> Iterator[Path]:
    """Give a new directory on a shelf, held while it is made; what is not ``put`` in the block is removed."""
    shelf.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=shelf))
    held = hold(building)
    try:
        yield building
    finally:
        if held is not None:
            held.release()
        shutil.rmtree(building, ignore_errors=True)


def put(building: Path, place: Path) -> None:
    """Give a directory its place, unless another process was faster: its own holds the same."""
    with suppress(FileExistsError):
        try:
            building.rename(place)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise FileExistsError from error
            raise


def note_size(building: Path) -> None:
    """Write down how much is in a directory that will not change."""
    (building / _SIZE).write_text(str(_walked(building)))


def size(directory: Path) -> int:
    """Return how many bytes the files in a directory have."""
    try:
        return int((directory / _SIZE).read_text())
    except (OSError, ValueError):
        return _walked(directory)


def claim(place: Path) -> Held | None:
    """Be the only one who makes what goes to ``place``, as long as the claim is held.

    None when another one is, or was a moment ago: look what there is now, and claim again.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    file = place.with_name(f"{_LOCK}{place.name}")
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    # A lock on a file that went with an earlier claim is no lock: another process may have one on the next file.
    if _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB) is False or not _still_at(file, descriptor):
        os.close(descriptor)
        return None
    return Held(descriptor, file)


def drop_claims(cache: Path) -> None:
    """Remove what the claims of killed processes left on all shelves of a cache."""
    for file in cache.glob(f"*/{_LOCK}*"):
        if (held := claim(file.with_name(file.name.removeprefix(_LOCK)))) is not None:
            held.release()


def _walked(top: Path) -> int:
    total = 0
    for directory, _, files in os.walk(top):
        total += sum(os.lstat(f"{directory}{os.sep}{name}").st_size for name in files)
    return total


def _let_go(descriptor: int, file: Path | None) -> None:
    if file is not None:
        # While the lock is held: then it is this claim's own file.
        with suppress(OSError):
            file.unlink()
    os.close(descriptor)


def _still_at(path: str | Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - beside os.fstat
    except FileNotFoundError:
        return False


def _lock(descriptor: int, how: int) -> bool | None:
    """Lock, and say whether that is now so; None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True

"""How does a commit get onto this machine? Into a bare repository in the cache, and only when it is not in there."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from reeval.environments.sources.git import GitError, call, located, unusable
from reeval.errors import PlanError
from reeval.shelf import Held, claim, hold, making, put, take_down

__all__ = ["MIRRORS", "DamagedError", "discard", "mirrored", "unreadable"]

MIRRORS = "mirrors"
"""Folder of the cache that holds the repositories."""
_AGAIN = 0.05
"""Seconds between two looks at what another process fetches."""
_NOT_ALONE = ("unadvertised object", "not our ref", "shallow", "dumb http", "not our object")
"""What servers say that do not hand out a commit by its hash, or not without its history."""


class DamagedError(Exception):
    """A repository of the cache does not hold what it should: ``discard`` it and fetch again."""

    def __init__(self, mirror: Path, why: str) -> None:
        super().__init__(f"its copy in {mirror} is damaged ({why})")
        self.mirror = mirror


@contextmanager
def mirrored(url: str, commit: str, root: Path, cache: Path, owner: str) -> Iterator[Path]:
    """Give a bare repository that holds the commit, fetched if need be; nothing removes it within the block.

    Raises ``PlanError``, naming ``owner``, and ``DamagedError``.
    """
    source = located(url, root)
    digest = hashlib.sha256(f"{source}\0{len(commit)}".encode()).hexdigest()[:32]
    place = cache / MIRRORS / digest
    with ExitStack() as stack:
        try:
            with _alone(place):
                held = hold(place) or _made(place, len(commit))
                stack.callback(held.release)
                if not _has(place, commit):
                    _fetch(place, source, commit)
        except GitError as error:
            raise unreadable(place) or unusable(owner, url, error) from None
        if not _has(place, commit):
            raise PlanError(f"{owner}: there is no commit {commit} in the git source {url!r}; correct ref")
        yield place


def unreadable(mirror: Path) -> DamagedError | None:
    """Say what keeps a repository from being read; None when all that it should hold is there."""
    try:
        call("rev-list", "--all", "--objects", "--quiet", directory=mirror)
    except GitError as error:
        return DamagedError(mirror, str(error)) if error.ended else None
    return None


def discard(mirror: Path) -> bool:
    """Remove a repository, so that it is made anew; False while another process uses it."""
    going = take_down(mirror)
    if going is not None:
        shutil.rmtree(going, ignore_errors=True)
    return not mirror.exists()


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Be the only process, and the only thread of it, that changes a repository."""
    while (mine := claim(place)) is None:
        time.sleep(_AGAIN)
    try:
        yield
    finally:
        mine.release()


def _made(place: Path, digits: int) -> Held:
    with making(place.parent) as building:
        form = "sha256" if digits == 64 else "sha1"
        # Without a template: a user's own may hold hooks.
        call("init", "--quiet", "--bare", "--template=", f"--object-format={form}", ".", directory=building)
        held = hold(building)
        put(building, place)
    assert held is not None, "nobody else makes it, or removes what is being made"
    return held


def _has(place: Path, commit: str) -> bool:
    try:
        call("cat-file", "-e", f"{commit}^{{commit}}", directory=place)
    except GitError:
        return False
    return True


def _fetch(place: Path, source: str, commit: str) -> None:
    """Fetch the commit alone; from a server that does not allow it, every branch and tag with its history."""
    quiet = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--force")
    try:
        call(*quiet, "--depth=1", "--", source, f"{commit}:refs/commits/{commit}", directory=place)
    except GitError as error:
        if not any(sign in str(error).lower() for sign in _NOT_ALONE):
            raise
        everything = ("refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
        call(*quiet, "--depth=2147483647", "--", source, *everything, directory=place)

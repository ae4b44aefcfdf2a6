"""Which cached directories are kept, and which can go?"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reeval.environments.prepare import TREES
from reeval.environments.sources.checkout import SOURCES
from reeval.environments.sources.mirror import MIRRORS
from reeval.shelf import SETUPS, UNFINISHED, drop_claims, size, take_down

__all__ = ["DAY", "CachedTree", "limited", "removable", "remove_trees", "trees"]

DAY = 86_400.0
"""Seconds. What was used within a day may be of use again soon."""
_SHELVES = {
    TREES: "prepared files",
    SOURCES: "files of a git source",
    MIRRORS: "a fetched git source",
    SETUPS: "what cached setup steps left",
}


@dataclass(frozen=True, kw_only=True)
class CachedTree:
    """One directory of the cache."""

    path: Path
    bytes: int
    used: float
    """When a run last asked for it, in seconds since the epoch."""

    @property
    def finished(self) -> bool:
        """False: a killed process left it, or a live one is building it."""
        return not self.path.name.startswith(UNFINISHED)

    @property
    def what(self) -> str:
        """What it holds, for a person."""
        return _SHELVES.get(self.path.parent.name, "files")


def trees(cache: Path) -> tuple[CachedTree, ...]:
    """List the directories below ``cache``, the least recently used first."""
    found = [path for shelf in _SHELVES for path in _on_shelf(cache / shelf)]
    listed = [tree for path in found if (tree := _cached(path))]
    return tuple(sorted(listed, key=lambda tree: tree.used))


def removable(
    listed: Iterable[CachedTree], *, now: float, keep: int = 0, unused: float = DAY
) -> tuple[CachedTree, ...]:
    """Decide which directories go: not used for ``unused`` seconds, and beyond the newest ``keep`` bytes.

    What is not finished goes after a day, whatever ``unused`` is: somebody may be at it.
    """
    room, gone = keep, []
    for tree in sorted(listed, key=lambda tree: -tree.used):
        if tree.finished:
            room -= tree.bytes
        age = now - tree.used
        if (age >= unused and room < 0) if tree.finished else age >= DAY:
            gone.append(tree)
    return tuple(gone)


def remove_trees(cache: Path, *, keep: int = 0, unused: float = DAY) -> tuple[CachedTree, ...]:
    """Remove what ``removable`` names and nobody holds, and return it; what another process removes is left to it."""
    gone = []
    for tree in removable(trees(cache), now=time.time(), keep=keep, unused=unused):
        # Moved first: what is being removed must never be found under its name.
        if (going := take_down(tree.path)) is not None:
            shutil.rmtree(going, ignore_errors=True)
            gone.append(tree)
    drop_claims(cache)
    return tuple(gone)


def limited(cache: Path, limit: int) -> tuple[CachedTree, ...]:
    """Bring the cache below ``limit`` bytes, as far as nobody holds what is in it, and return what went."""
    return remove_trees(cache, keep=limit, unused=0)


def _on_shelf(shelf: Path) -> list[Path]:
    try:
        return sorted(path for path in shelf.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _cached(path: Path) -> CachedTree | None:
    try:
        return CachedTree(path=path, bytes=size(path), used=path.stat().st_mtime)
    except FileNotFoundError:
        return None

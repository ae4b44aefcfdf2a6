"""Which prepared trees are kept, and which can go?"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reeval.environments.prepare import TREES, UNFINISHED

__all__ = ["DAY", "CachedTree", "removable", "remove_trees", "trees"]

DAY = 86_400.0
"""Seconds. A tree that was used within a day may belong to a run that still goes on."""


@dataclass(frozen=True, kw_only=True)
class CachedTree:
    """One tree on disk."""

    path: Path
    bytes: int
    used: float
    """When a run last asked for it, in seconds since the epoch."""

    @property
    def finished(self) -> bool:
        """False: a killed process left it, or a live one is building it."""
        return not self.path.name.startswith(UNFINISHED)


def trees(cache: Path) -> tuple[CachedTree, ...]:
    """List the trees below ``cache``, the least recently used first."""
    try:
        found = sorted((cache / TREES).iterdir())
    except FileNotFoundError:
        return ()
    listed = [tree for path in found if (tree := _cached(path))]
    return tuple(sorted(listed, key=lambda tree: tree.used))


def removable(
    listed: Iterable[CachedTree], *, now: float, keep: int = 0, unused: float = DAY
) -> tuple[CachedTree, ...]:
    """Decide which trees go: not used for ``unused`` seconds, and beyond the newest ``keep`` bytes."""
    room, gone = keep, []
    for tree in sorted(listed, key=lambda tree: -tree.used):
        if tree.finished:
            room -= tree.bytes
        if now - tree.used >= unused and (room < 0 or not tree.finished):
            gone.append(tree)
    return tuple(gone)


def remove_trees(cache: Path, *, keep: int = 0, unused: float = DAY) -> tuple[CachedTree, ...]:
    """Remove what ``removable`` names and return it; what another process removes at this moment is left to it."""
    gone = removable(trees(cache), now=time.time(), keep=keep, unused=unused)
    for tree in gone:
        # Renamed first: a tree that is being removed must never be found under its digest.
        going = tree.path.with_name(f"{UNFINISHED}gone-{tree.path.name.removeprefix(UNFINISHED)}-{os.getpid()}")
        try:
            tree.path.rename(going)
        except FileNotFoundError:
            continue
        shutil.rmtree(going, ignore_errors=True)
    return gone


def _cached(path: Path) -> CachedTree | None:
    try:
        return CachedTree(path=path, bytes=_size(path), used=path.stat().st_mtime)
    except FileNotFoundError:
        return None


def _size(top: Path) -> int:
    total = 0
    for directory, _, files in os.walk(top):
        total += sum(os.lstat(os.path.join(directory, name)).st_size for name in files)  # noqa: PTH118 - many paths
    return total

"""Which directory of this machine holds what a git source declares?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from reeval.environments.sources.checkout import FILES, POINTERS, place_of, write_folder
from reeval.environments.sources.git import located
from reeval.environments.sources.mirror import DamagedError, discard, mirrored
from reeval.environments.sources.resolve import resolve
from reeval.errors import PlanError
from reeval.schema.environment import source_key
from reeval.shelf import Held, hold, making, note_size, put

__all__ = ["Sources"]


class Sources:
    """The git sources of a project; each is asked for its commit at most once."""

    def __init__(
        self, root: Path, cache: Path, commits: Mapping[str, str], fetching: Callable[[str], None] = lambda _: None
    ) -> None:
        """``commits``: those that are known already, by ``source_key``; ``fetching`` is told what is fetched."""
        self.root = root
        self.commits = dict(commits)
        self._cache = cache
        self._fetching = fetching
        self._held: list[Held | None] = []

    def commit(self, url: str, ref: str | None, owner: str) -> str:
        """Return the commit that a source stands for; raise ``PlanError``, naming ``owner``."""
        key = source_key(url, ref)
        if key not in self.commits:
            self.commits[key] = resolve(url, ref, self.root, owner)
        return self.commits[key]

    def directory(self, url: str, ref: str | None, path: str | None, owner: str) -> Path:
        """Return a directory with the files of a folder of a source, which stays as long as this object lives.

        Raises ``PlanError``, naming ``owner``, and ``OSError``.
        """
        return self._place(url, ref, path, owner) / FILES

    def pointers(self, url: str, ref: str | None, path: str | None, owner: str) -> list[str]:
        """Return the paths of files that are in Git LFS; raises what ``directory`` raises."""
        return (self._place(url, ref, path, owner) / POINTERS).read_text(errors="replace").splitlines()

    def _place(self, url: str, ref: str | None, path: str | None, owner: str) -> Path:
        commit = self.commit(url, ref, owner)
        folder = "/".join(part for part in (path or "").split("/") if part not in {"", "."})
        place = place_of(located(url, self.root), commit, folder, self._cache)
        told = source_key(url, ref)
        while (held := hold(place)) is None:
            self._fetching(told)
            try:
                with mirrored(url, commit, self.root, self._cache, owner) as mirror, making(place.parent) as building:
                    write_folder(mirror, commit, folder, building, owner)
                    note_size(building)
                    put(building, place)
            except DamagedError as damaged:
                anew = f"{source_key(url, ref)} anew: {damaged}"
                if told == anew or not discard(damaged.mirror):
                    reason = f"the git source {url!r} cannot be read: {damaged}"
                    raise PlanError(f"{owner}: {reason}; remove that directory") from None
                told = anew
        self._held.append(held)
        return place

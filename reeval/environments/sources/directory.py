"""Which directory of this machine holds what a git source declares?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from reeval.environments.sources.checkout import FILES, POINTERS, place_of, write_folder
from reeval.environments.sources.git import located
from reeval.environments.sources.mirror import mirrored
from reeval.environments.sources.resolve import resolve
from reeval.schema.environment import Environment, source_key
from reeval.shelf import Held, hold, making, put

__all__ = ["Sources", "git_sources"]


class Sources:
    """The git sources of a project; each is asked for its commit at most once."""

    def __init__(self, root: Path, cache: Path, commits: Mapping[str, str]) -> None:
        """``commits``: those that are known already, by ``source_key``."""
        self.root = root
        self.commits = dict(commits)
        self._cache = cache
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
        held = hold(place)
        while held is None:
            with mirrored(url, commit, self.root, self._cache, owner) as mirror, making(place.parent) as building:
                write_folder(mirror, commit, folder, building, owner)
                put(building, place)
            held = hold(place)
        self._held.append(held)
        return place


def git_sources(environment: Environment) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield what each git source of an environment is for, its URL, its ref and its folder."""
    workspace = environment.workspace
    if workspace is not None and workspace.git is not None:
        yield "workspace", workspace.git, workspace.ref, workspace.path
    for skill in environment.skills:
        if skill.kind == "git" and skill.url is not None:
            yield "skills", skill.url, skill.ref, skill.path

"""What do a plan's git sources stand for in this run? Each is resolved and fetched once, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reeval.environments.sources.directory import Sources
from reeval.environments.sources.resolve import is_commit
from reeval.errors import PlanError
from reeval.schema.environment import Environment, git_sources, source_key

__all__ = ["Pinned", "pin_sources"]

_SHOWN = 3
"""Files that are named where there are more."""


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """What the sources stand for."""

    commits: Mapping[str, str]
    """By ``source_key``."""
    facts: tuple[str, ...] = ()
    """Lines for a person."""


def pin_sources(
    environments: Iterable[Environment],
    root: Path,
    cache: Path,
    *,
    known: Mapping[str, str],
    fetching: Callable[[str], None],
) -> Pinned:
    """Resolve and fetch every git source; ``known`` are the commits of the run that goes on, if one does.

    ``fetching`` is told what is fetched, before it is. Raises ``PlanError`` for a source that cannot be used.
    Blocks, maybe for minutes.
    """
    sources = Sources(root, cache, known, fetching)
    wanted = {source: environment for environment in environments for source in git_sources(environment)}
    facts: dict[str, None] = {}
    for (what, url, ref, path), environment in wanted.items():
        owner = f"environment {environment.name!r}: {what}"
        try:
            pointers = sources.pointers(url, ref, path, owner)
        except OSError as error:
            reason = f"{owner}: {url!r} cannot be written to {cache}: {error.strerror or error}"
            raise PlanError(f"{reason}; free some space, or make the directory writable") from error
        if not is_commit(ref):
            facts[f"git source {source_key(url, ref)} is commit {sources.commit(url, ref, owner)[:12]}"] = None
        if pointers:
            facts[_about_pointers(url, pointers)] = None
    return Pinned(commits=sources.commits, facts=tuple(facts))


def _about_pointers(url: str, paths: list[str]) -> str:
    shown = ", ".join(paths[:_SHOWN]) + (", …" if len(paths) > _SHOWN else "")
    are = "file is" if len(paths) == 1 else "files are"
    return f"{len(paths):,} {are} in Git LFS, so the pointers of {url} stand there instead: {shown}"

"""What does an environment put into a tree, in which order?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reeval.environments.listing import Entry, Listing, host_entry, list_directory, text_entry
from reeval.environments.paths import WORKSPACE, tree_path
from reeval.environments.skills import skill_files
from reeval.environments.sources.directory import Sources
from reeval.errors import PlanError
from reeval.schema.environment import Environment, HostFile, Layout

__all__ = ["Contents", "contents"]


@dataclass
class Contents(Listing):
    """The entries of an environment's tree, and the names of the skills among them."""

    skills: tuple[str, ...] = ()
    history: bool = False
    """Whether the workspace is made a git repository."""


def contents(environment: Environment, layout: Layout, sources: Sources) -> Contents:
    """List the environment's tree: workspace, then files, then rules, then skills.

    Nothing is written of it; git sources are fetched, unless they are there.
    """
    root = sources.root
    listing = Contents(history=environment.workspace is not None and environment.workspace.init)
    owner = f"environment {environment.name!r}"
    _workspace(listing, environment, sources, owner)
    for path, content in environment.files.items():
        where = f"{owner}: files"
        listing.add(tree_path(path, where), _file(content, root, f"{where}: {path!r}"), where)
    if environment.rules is not None:
        where = f"{owner}: rules"
        listing.add(tree_path(layout.rules, where), _file(environment.rules, root, where), where)
    _skills(listing, environment, layout, sources)
    return listing


def _workspace(listing: Listing, environment: Environment, sources: Sources, owner: str) -> None:
    workspace = environment.workspace
    if workspace is None:
        return
    if workspace.git is not None:
        top = sources.directory(workspace.git, workspace.ref, workspace.path, f"{owner}: workspace")
    elif workspace.path is not None:
        top = sources.root / workspace.path
    else:
        return
    if not top.is_dir():
        root = sources.root
        raise PlanError(f"{owner}: workspace {workspace.path!r} is not a directory; correct the path from {root}")
    # Straight into the mapping: a directory that was just read cannot disagree with itself.
    for path, entry in list_directory(top, f"{owner}: workspace {workspace.git or workspace.path!r}"):
        listing.entries[f"{WORKSPACE}/{path}"] = entry


def _file(content: str | HostFile, root: Path, owner: str) -> Entry:
    return text_entry(content, owner) if isinstance(content, str) else host_entry(content, root, owner)


def _skills(listing: Contents, environment: Environment, layout: Layout, sources: Sources) -> None:
    owner = f"environment {environment.name!r}: skills"
    names: list[str] = []
    for skill in environment.skills:
        for name, files in skill_files(skill, sources, owner).items():
            if name in names:
                raise PlanError(f"{owner}: two skills are called {name!r}; rename one or leave it out with exclude")
            names.append(name)
            for path, entry in files.items():
                listing.add(tree_path(f"{layout.skills}/{name}/{path}", owner), entry, owner)
    listing.skills = tuple(names)

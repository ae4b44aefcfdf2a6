"""``reeval clean``: what did killed runs and old ones leave, and away with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.output import guarded, make_page, print_lines

if TYPE_CHECKING:
    from reeval.cli.project import Project

__all__ = ["clean"]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")]


@dataclass(frozen=True)
class _Gone:
    """One thing that goes, or went."""

    text: str
    bytes: int = 0


@guarded
def clean(dry_run: DryRun = False) -> None:
    """Remove what nobody needs: sandboxes of killed runs, files and images not used for a day, old records.

    Records go by the [history] settings of the config, and only by those. Nothing of a live run is touched.

    \b
    reeval clean --dry-run
    reeval clean
    """
    import sys

    from reeval.cli.project import open_project
    from reeval.report.screen.numbers import count, plural

    project = open_project()
    gone = [
        *_sandboxes(project, dry_run=dry_run),
        *_branches(project, dry_run=dry_run),
        *_trees(project, dry_run=dry_run),
        *_images(project, dry_run=dry_run),
        *_records(project, dry_run=dry_run),
    ]
    page = make_page(sys.stdout)
    verb = "would remove" if dry_run else "removed"
    lines = [line for one in gone for line in page.lines(f"{verb}  {one.text}", 4, 0)]
    size = sum(one.bytes for one in gone)
    end = f"{verb} {plural(len(gone), 'thing')}, {count(size)}B" if gone else "nothing to remove"
    print_lines([*lines, end])


def _sandboxes(project: Project, *, dry_run: bool) -> Iterable[_Gone]:
    from reeval.cli import engines
    from reeval.sandboxes import directories

    if dry_run:
        found = [*map(str, directories.leftovers(project.root)), *engines.leftovers(project.root)]
        return [_Gone(f"sandbox {name}") for name in found]
    import anyio

    return [
        _Gone(f"sandbox {name}")
        for kind in project.catalog.sandboxes.values()
        for name in anyio.run(kind.sweep, project.root)
    ]


def _branches(project: Project, *, dry_run: bool) -> Iterable[_Gone]:
    from reeval.cli.branches import leftover_branches, sweep_branches

    found = (leftover_branches if dry_run else sweep_branches)(project.root)
    return [_Gone(f"files of a branch {path}") for path in found]


def _trees(project: Project, *, dry_run: bool) -> Iterable[_Gone]:
    import time

    from reeval.environments.cache import limited, removable, remove_trees, trees
    from reeval.shelf import CACHE

    cache: Path = project.root / CACHE
    size = project.config.cache.size
    old = removable(trees(cache), now=time.time()) if dry_run else remove_trees(cache)
    over = removable(trees(cache), now=time.time(), keep=size, unused=0) if dry_run else limited(cache, size)
    listed = [(tree, "not used for a day") for tree in old]
    listed += [(tree, "beyond the cache's size") for tree in over if tree not in old]
    return [_Gone(f"{tree.what} {tree.path.name[:12]}, {why}", tree.bytes) for tree, why in listed]


def _images(project: Project, *, dry_run: bool) -> Iterable[_Gone]:
    from reeval.cli.engines import images

    return [
        _Gone(f"image {image.name}, not used for a day", image.bytes) for image in images(project.root, dry_run=dry_run)
    ]


def _records(project: Project, *, dry_run: bool) -> Iterable[_Gone]:
    from reeval.record.retention import clean_history, to_drop

    drops = (to_drop if dry_run else clean_history)(project.store, project.config.history)
    return [_Gone(drop.text, drop.bytes) for drop in drops]

"""Which paths of a workspace are looked over when changes are sought?

Version control, installed dependencies and caches, by the names in ``NEVER_SEEN``; and what ``.gitignore`` files
ignore, as git would: what a workspace held before the agent's turn stays seen whatever the agent then ignores, and
``.gitignore`` files themselves are always seen. So nobody can hide a change by ignoring it, unnoticed. Build
directories (``build``, ``dist``, ``target``) are left to ``.gitignore``: in many projects they hold sources.
"""

from __future__ import annotations

import os
import re
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["GITIGNORE", "NEVER_SEEN", "Rules", "never_seen"]

GITIGNORE = ".gitignore"
NEVER_SEEN = frozenset(
    {
        ".dart_tool",
        ".eggs",
        ".git",
        ".gradle",
        ".hg",
        ".mypy_cache",
        ".next",
        ".nox",
        ".nuxt",
        ".parcel-cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svelte-kit",
        ".svn",
        ".terraform",
        ".tox",
        ".turbo",
        ".venv",
        "__pycache__",
        "bower_components",
        "node_modules",
        "venv",
    }
)
"""Names of directories that are not looked into, wherever they are."""

MOST_BYTES = 64 * 1024
"""Of a ``.gitignore``; a longer one ignores nothing."""
MOST_STARS = 3
"""Wildcards in a pattern. Matching may take time to this power, and the agent writes both patterns and names."""
MOST_SECONDS = 5.0
"""For the patterns of one look; after that nothing more is ignored."""


def never_seen(name: str, *, directory: bool) -> bool:
    """Say whether a name is left out whatever the rules are. A ``.git`` file marks a worktree or a submodule."""
    return name == ".git" or (directory and (name in NEVER_SEEN or name.endswith(".egg-info")))


class Rules:
    """The ``.gitignore`` files from the top down to one directory."""

    def __init__(self, specs: tuple[tuple[int, GitIgnoreSpec], ...] = (), budget: Budget | None = None) -> None:
        self._specs = specs
        """Length of the directory's path, with its slash, and its patterns; the innermost last."""
        self._budget = budget or Budget()

    def below(self, prefix: str, text: bytes) -> Rules:
        """Return the rules of a directory whose path is ``prefix`` (``""`` or ending in ``/``)."""
        spec = _parse(text) if len(text) <= MOST_BYTES else None
        return Rules((*self._specs, (len(prefix), spec)), self._budget) if spec else self

    def ignored(self, path: str, *, directory: bool) -> bool:
        """Say whether a path is ignored; the innermost file that says something about it decides."""
        if not self._specs or self._budget.spent:
            return False
        began = time.perf_counter()
        try:
            for start, spec in reversed(self._specs):
                found = spec.check_file(path[start:] + "/" if directory else path[start:]).include
                if found is not None:
                    return found
            return False
        finally:
            self._budget.left -= time.perf_counter() - began


class Budget:
    """The seconds that may still be spent on patterns."""

    def __init__(self) -> None:
        self.left = MOST_SECONDS

    @property
    def spent(self) -> bool:
        """Whether there are none left."""
        return self.left < 0


@cache
def _parse(text: bytes) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    lines = [line for line in os.fsdecode(text).splitlines() if _usable(line)]
    try:
        return GitIgnoreSpec.from_lines(lines) if lines else None
    except (ValueError, re.error):
        return None


def _usable(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#") and len(re.findall(r"\*+|\?{2,}", line)) <= MOST_STARS

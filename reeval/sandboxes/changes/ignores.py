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

__all__ = ["GITIGNORE", "MOST_BYTES", "NEVER_SEEN", "Budget", "Rules", "never_seen"]

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
MOST_WILDCARDS = 2
"""In a pattern, besides a leading ``**/``. Matching may take time to this power, and the agent writes the patterns and
the names; a pattern with more ignores nothing."""
MOST_SECONDS = 3.0
"""Of computing, not waiting, for the patterns of one look; after that nothing more is ignored."""
BETWEEN_LOOKS = 32
"""Patterns tried between two looks at the clock."""

_UNCLEAR_SET = re.compile(r"\[\[|--|&&|~~|\|\|")
"""Sets that Python reads with a warning, and otherwise than git."""

Pattern = tuple[bool, "re.Pattern[str]"]
"""Whether it ignores (or takes back) what it matches, and what that is."""


def never_seen(name: str, *, directory: bool) -> bool:
    """Say whether a name is left out whatever the rules are. A ``.git`` file marks a worktree or a submodule."""
    return name == ".git" or (directory and (name in NEVER_SEEN or name.endswith(".egg-info")))


class Rules:
    """The ``.gitignore`` files from the top down to one directory."""

    def __init__(self, files: tuple[tuple[int, tuple[Pattern, ...]], ...] = (), budget: Budget | None = None) -> None:
        self._files = files
        """Length of the directory's path, with its slash, and its patterns, last first; the innermost file first."""
        self._budget = budget or Budget()

    def below(self, prefix: str, text: bytes) -> Rules:
        """Return the rules of a directory whose path is ``prefix`` (``""`` or ending in ``/``)."""
        patterns = _parse(text) if len(text) <= MOST_BYTES else ()
        return Rules(((len(prefix), patterns), *self._files), self._budget) if patterns else self

    def ignored(self, path: str, *, directory: bool) -> bool:
        """Say whether a path is ignored: the last pattern of the innermost file that matches it decides."""
        if not self._files or self._budget.spent:
            return False
        with self._budget:
            return self._decide(f"{path}/" if directory else path)

    def _decide(self, path: str) -> bool:
        for start, patterns in self._files:
            below = path[start:]
            for number, (ignores, expression) in enumerate(patterns, 1):
                if _matches(expression, below):
                    return ignores
                if number % BETWEEN_LOOKS == 0 and self._budget.spent:
                    return False
        return False


class Budget:
    """The seconds that may still be spent on patterns."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._left = seconds
        self._began: float | None = None

    def __enter__(self) -> None:
        self._began = time.thread_time()

    def __exit__(self, *_: object) -> None:
        if self._began is not None:
            self._left -= time.thread_time() - self._began
        self._began = None

    @property
    def spent(self) -> bool:
        """Whether there are none left."""
        running = 0.0 if self._began is None else time.thread_time() - self._began
        return self._left < running


def _matches(expression: re.Pattern[str], path: str) -> bool:
    """Say whether a pattern names this very path: what lies in a directory that it names was decided with that."""
    found = expression.search(path)
    if found is None:
        return False
    if "ps_d" in expression.groupindex:  # Where the pattern's own directory ends.
        return found.end("ps_d") in {-1, len(path)}
    # Only ``**`` and patterns like ``a/**`` are without that mark; the second kind means what is in ``a``.
    return expression.pattern == "." or found.end() < len(path)


@cache
def _parse(text: bytes) -> tuple[Pattern, ...]:
    """Return the patterns of a file, the last first; lines that are no pattern are left out, as by git."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    found = []
    for line in os.fsdecode(text).splitlines():
        if not _usable(line):
            continue
        try:
            pattern = GitIgnoreSpecPattern(line)
        except (ValueError, re.error):
            continue
        if pattern.include is not None and pattern.regex is not None:
            found.append((pattern.include, pattern.regex))
    return tuple(reversed(found))


def _usable(line: str) -> bool:
    wildcards = re.findall(r"\*+", line.removeprefix("!").removeprefix("**/"))
    if "[" in line and _UNCLEAR_SET.search(line):
        return False
    return bool(line.strip()) and not line.startswith("#") and len(wildcards) <= MOST_WILDCARDS

"""Which paths does a path or a gitignore-style pattern name?"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import lru_cache

from reeval.grade.observing.display import show
from reeval.grade.observing.expectation import refuse, text_argument

__all__ = ["canonical", "ignored_matcher", "path_matcher", "patterns_matcher"]

_WILDCARDS = frozenset("*?[")


def canonical(call: str, path: object) -> str:
    """Return ``path``, which must be relative to the workspace and in its shortest form, with ``/``."""
    text = text_argument(call, path)
    hint = f"takes a path relative to the workspace such as 'src/app.py', got {show(text, 120)}"
    if text.startswith(("/", "~/")) or text == "~" or "\0" in text:
        refuse(call, hint)
    if posixpath.normpath(text) != text.removesuffix("/") or text.split("/")[0] in {".", ".."}:
        refuse(call, hint)
    return text


def path_matcher(call: str, pattern: object) -> Callable[[str], bool]:
    """Return a test of paths.

    A plain path names exactly that file. With ``*``, ``?``, ``[`` or a ``/`` at its end it is one line of a gitignore
    file, without negation: ``*.py`` names files at any depth, ``src/`` everything below.
    """
    text = canonical(call, pattern)
    if text.startswith(("!", "#")) or text != text.strip():
        refuse(call, f"takes one gitignore-style pattern, got {show(text, 120)}")
    if not text.endswith("/") and not set(text) & _WILDCARDS:
        return text.__eq__
    return _compiled(text)


def patterns_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a test of paths by gitignore-style patterns: the last match wins, ``!`` leaves out.

    Patterns that only leave out leave out of everything. Unlike in git, ``!docs/`` leaves out all that is below.
    """
    lines = tuple(patterns)
    return _compiled_patterns(lines if any(not line.startswith("!") for line in lines) else ("**", *lines))


def ignored_matcher(text: str) -> Callable[[str], bool]:
    """Return a test of paths by the text of a ``.gitignore``, as git understands it."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(text.splitlines()).match_file


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[str], bool]:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern]).match_file


@lru_cache(maxsize=256)
def _compiled_patterns(lines: tuple[str, ...]) -> Callable[[str], bool]:
    from pathspec import PathSpec

    return PathSpec.from_lines("gitignore", lines).match_file

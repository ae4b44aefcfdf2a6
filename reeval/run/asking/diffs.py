"""Which part of what the agent changed is a model shown? All of it, or the files that patterns name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from reeval.grade.observing.paths import patterns_matcher
from reeval.schema.transcript import Changes

__all__ = ["shown_diff", "shown_files"]

_HEAD = "diff --git "
"""Begins the part of one file; no line of a file's content can begin so in a unified diff."""
_FILES = re.compile(rf"^(?={_HEAD})", re.MULTILINE)
"""Only a line feed ends a line here: to ``splitlines`` a form feed in a file's content would end one too."""


def shown_diff(changes: Sequence[Changes], patterns: Sequence[str], shown_whole: frozenset[str]) -> str:
    """Return the diffs of some turns, one after the other, without files that are shown whole.

    ``patterns`` are the lines of a gitignore file that name what is shown: the last match wins, ``!`` leaves out.
    """
    wanted = _wanted(patterns)
    parts: list[str] = []
    for one in changes:
        for path, part in _by_file(one):
            if path is None or (wanted(path) and path not in shown_whole):
                parts.append(part)
        parts += [
            f"({file.status} {file.path}: binary or very large, its content is not shown)\n"
            for file in one.files
            if file.binary and wanted(file.path)
        ]
        if one.truncated:
            parts.append("(the diff is longer than what is kept of it)\n")
    return "".join(parts) or "(the agent changed nothing that is shown here)"


def shown_files(changes: Sequence[Changes], patterns: Sequence[str]) -> str:
    """Return ``status path`` lines: what became of each file over these turns."""
    wanted = _wanted(patterns)
    statuses: dict[str, str] = {}
    for one in changes:
        for file in one.files:
            became = _folded(statuses.pop(file.path, None), file.status)
            if became is not None and wanted(file.path):
                statuses[file.path] = became
    return "\n".join(f"{status} {path}" for path, status in sorted(statuses.items()))


def _folded(before: str | None, now: str) -> str | None:
    """Say what two changes of one file come to; None: nothing."""
    if before == "added":
        return None if now == "deleted" else "added"
    return "modified" if before == "deleted" and now == "added" else now


def _wanted(patterns: Sequence[str]) -> Callable[[str], bool]:
    return patterns_matcher(patterns) if patterns else lambda _: True


def _by_file(changes: Changes) -> Iterator[tuple[str | None, str]]:
    """Yield the part of each file with its path; None: no file that is known."""
    heads = {f"{_HEAD}a/{file.path} b/{file.path}": file.path for file in changes.files}
    for part in _FILES.split(changes.patch):
        head = part.partition("\n")[0]
        if head.startswith(_HEAD):
            yield heads.get(head) or _path_in(head), part
        elif part:
            yield None, part


def _path_in(head: str) -> str:
    """Read the path from a head that names no listed file, such as one that git quoted."""
    return head.rpartition(" b/")[2] or head.rpartition('"b/')[2].rstrip('"')

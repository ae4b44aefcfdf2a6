"""What did the agent change in the workspace? The checks that settle when the body ends.

Each is made, and refused when it makes no sense, at the call, and observes the ``Changes`` of all turns together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reeval.authoring import ChangeStatus, Match
from reeval.grade.observing.display import listing, show
from reeval.grade.observing.expectation import MATCHED, Expectation, errored, mismatched, refuse
from reeval.grade.observing.paths import canonical, path_matcher
from reeval.schema.observation import Observation
from reeval.schema.transcript import Changes

__all__ = ["changed_paths", "file_changed", "file_deleted", "net_changes", "no_changes"]

_STATUSES = ("added", "modified", "deleted")


def file_changed(path: str, *, status: ChangeStatus | None = None) -> Match:
    """Match a file that the agent added or modified (or what ``status`` says); ``path`` may be gitignore-style."""
    if status is not None and status not in _STATUSES:
        refuse("file_changed", f"status is 'added', 'modified' or 'deleted', got {show(status, 80)}")
    matches = path_matcher("file_changed", path)
    wanted = (status,) if status else ("added", "modified")

    def look(changes: Mapping[str, ChangeStatus]) -> Observation:
        if any(one in wanted and matches(name) for name, one in changes.items()):
            return MATCHED
        return mismatched(f"expected {' or '.join(wanted)}: a file that {show(path)} names\ngot {_said(changes)}")

    return _expectation("file_changed", show(path, 80), look)


def file_deleted(path: str) -> Match:
    """Match a file that the agent deleted; ``path`` may be gitignore-style."""
    matches = path_matcher("file_deleted", path)

    def look(changes: Mapping[str, ChangeStatus]) -> Observation:
        if any(one == "deleted" and matches(name) for name, one in changes.items()):
            return MATCHED
        return mismatched(f"expected deleted: a file that {show(path)} names\ngot {_said(changes)}")

    return _expectation("file_deleted", show(path, 80), look)


def changed_paths(paths: Sequence[str]) -> Match:
    """Match when the agent added, modified or deleted exactly these files; plain paths, not patterns."""
    if isinstance(paths, str) or not isinstance(paths, Iterable):
        refuse("changed_paths", f"takes a list of paths, got {show(paths, 80)}")
    expected = sorted({canonical("changed_paths", path) for path in paths})

    def look(changes: Mapping[str, ChangeStatus]) -> Observation:
        absent = [path for path in expected if path not in changes]
        others = {path: status for path, status in changes.items() if path not in expected}
        if not absent and not others:
            return MATCHED
        parts = [f"not changed: {listing(absent, len(absent))}"] if absent else []
        parts += [f"changed as well: {_said(others)}"] if others else []
        return mismatched(
            f"expected changes of exactly {listing(expected, len(expected)) or 'nothing'}\n" + "\n".join(parts)
        )

    return _expectation("changed_paths", listing(expected, len(expected)), look)


def no_changes() -> Match:
    """Match when the agent changed nothing."""
    return _expectation(
        "no_changes",
        "",
        lambda changes: mismatched(f"expected no changes\ngot {_said(changes)}") if changes else MATCHED,
    )


def net_changes(turns: Iterable[Changes]) -> dict[str, ChangeStatus]:
    """Fold the changes of turns, in order: a file added and later deleted is no change, and so on."""
    net: dict[str, ChangeStatus] = {}
    for changes in turns:
        for change in changes.files:
            before = net.pop(change.path, None)
            after = _folded(before, change.status)
            if after:
                net[change.path] = after
    return net


def _folded(before: ChangeStatus | None, now: ChangeStatus) -> ChangeStatus | None:
    if before == "added":
        return None if now == "deleted" else "added"
    if before == "deleted" and now == "added":
        return "modified"
    return now


def _expectation(name: str, argument: str, look: Callable[[Mapping[str, ChangeStatus]], Observation]) -> Match:
    def observe(value: object) -> Observation:
        turns = value if isinstance(value, list | tuple) else (value,)
        if not all(isinstance(one, Changes) for one in turns):
            return errored(f"{name} takes the changes of turns, got {show(value, 120)}")
        return look(net_changes(turns))

    return Expectation(name, argument, observe)


def _said(changes: Mapping[str, ChangeStatus]) -> str:
    return listing((f"{status} {path}" for path, status in changes.items()), len(changes)) or "no changes"

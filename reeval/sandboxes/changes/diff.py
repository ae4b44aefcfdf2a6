"""What differs between two snapshots of a workspace?"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.changes.contents import Content, prepared_content
from reeval.sandboxes.changes.objects import ObjectStore
from reeval.sandboxes.changes.snapshot import OPAQUE, Entry, TreeSnapshot
from reeval.schema.transcript import Changes, FileChange

__all__ = ["MOST_FILES", "MOST_PATCH", "changes_between"]

MOST_PATCH = 256 * 1024
"""Bytes of a patch."""
MOST_FILES = 100_000
"""Files that are listed."""

Status = Literal["added", "modified", "deleted"]


class _Side(NamedTuple):
    mode: str
    content: Content


class _Change(NamedTuple):
    path: str
    before: _Side | None
    after: _Side | None

    @property
    def shown(self) -> bool:
        return all(side is None or (side.content.shown and side.mode != OPAQUE) for side in (self.before, self.after))

    @property
    def status(self) -> Status:
        if self.before is None:
            return "added"
        return "deleted" if self.after is None else "modified"


def changes_between(before: TreeSnapshot, after: TreeSnapshot, prepared: Path | None, store: ObjectStore) -> Changes:
    """Return the files that differ, sorted by path, and their patch. Git is started only when there is one to show."""
    found = sorted(_differing(before, after, prepared, store))
    shown = [change for change in found if change.shown]
    patch, cut = _patch(shown, store) if shown else ("", False)
    listed = tuple(
        FileChange(path=_text(change.path), status=change.status, binary=not change.shown)
        for change in found[:MOST_FILES]
    )
    return Changes(files=listed, patch=patch, truncated=cut or len(found) > MOST_FILES)


def _differing(
    before: TreeSnapshot, after: TreeSnapshot, prepared: Path | None, store: ObjectStore
) -> Iterator[_Change]:
    for path in before.files.keys() | after.files.keys():
        old, new = before.files.get(path), after.files.get(path)
        if old is new:
            continue
        change = _Change(path, _side(old, prepared, store), _side(new, prepared, store))
        if change.before != change.after:
            yield change


def _side(entry: Entry | None, prepared: Path | None, store: ObjectStore) -> _Side | None:
    if entry is None:
        return None
    if entry.content is not None:
        return _Side(entry.mode, entry.content)
    assert prepared is not None, "only a file of a prepared tree has its content there"
    try:
        return _Side(entry.mode, prepared_content(prepared / entry.path, store))
    except OSError as error:
        reason = f"the environment's file {entry.path!r} was removed from the cache during the run; run again"
        raise InfrastructureError(Phase.SANDBOX, reason) from error


def _patch(shown: list[_Change], store: ObjectStore) -> tuple[str, bool]:
    trees = [
        store.tree(
            {
                os.fsencode(change.path): (side.mode, side.content.id)
                for change in shown
                if (side := change[index]) is not None and isinstance(side, _Side)
            }
        ).hex()
        for index in (1, 2)
    ]
    data = _git_diff(store.directory, *trees)
    if len(data) <= MOST_PATCH:
        return data.decode("utf-8", "replace"), False
    whole = data[: data.rfind(b"\n", 0, MOST_PATCH) + 1]
    return f"{whole.decode('utf-8', 'replace')}[… the patch is cut here, at {MOST_PATCH // 1024} KiB …]\n", True


def _git_diff(directory: Path, before: str, after: str) -> bytes:
    """Return the first bytes of the unified diff of two trees, a few more than may be shown."""
    git = shutil.which("git")
    if git is None:
        reason = "git is needed to show what the agent changed and is not on PATH; install it, as in apt install git"
        raise InfrastructureError(Phase.SANDBOX, reason)
    options = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"]
    command = [git, "-c", "core.quotePath=false", "diff-tree", "-r", "-p", *options, before, after]
    # Nothing of the user's or the machine's git configuration may change what is recorded.
    environment = {
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(directory),
        "HOME": str(directory),
        "LC_ALL": "C",
        "PATH": os.defpath,
    }
    with subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        data = process.stdout.read(MOST_PATCH + 1)
        if len(data) > MOST_PATCH:
            process.kill()
            return data
        problem = process.stderr.read(4096).decode("utf-8", "replace").strip()
    if process.returncode:
        raise InfrastructureError(Phase.SANDBOX, "git could not compare two snapshots of the workspace", detail=problem)
    return data


def _text(path: str) -> str:
    r"""Return a path as valid text: bytes that are no UTF-8 are written as ``\xff``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")

"""How does an environment become a tree on disk that every attempt starts from? Built once, named by its content."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from reeval.environments.contents import Contents, contents
from reeval.environments.listing import Entry
from reeval.environments.paths import HOME, WORKSPACE
from reeval.environments.sources.directory import Sources
from reeval.environments.sources.history import add_history
from reeval.errors import InfrastructureError, Phase
from reeval.schema.environment import Environment, Layout, PreparedTree
from reeval.shelf import hold, making, note_size, put

__all__ = ["TREES", "prepare"]

TREES = "trees"
"""Folder of the cache that holds the trees."""

_ALGORITHM = b"reeval tree 1"
"""Part of every digest: a change of what goes into a tree must not reuse old ones."""
_CHUNK = 1 << 20
_DIGITS = 32


def prepare(
    environment: Environment, layout: Layout, root: Path, cache: Path, commits: Mapping[str, str] | None = None
) -> PreparedTree:
    """Build the environment's tree below ``cache/trees``, or find it there, and say where it is.

    ``commits``: what its git sources stand for, by ``source_key``; others are asked for it. Raises ``PlanError`` for
    what the user declared wrongly and ``InfrastructureError`` (phase ``setup``) for what cannot be read or written;
    then nothing half-written stays. Blocks: meant for a thread.
    """
    sources = Sources(root, cache, commits or {})
    try:
        listing = contents(environment, layout, sources)
        digest = _digest(listing, {})
        areas = _areas(listing)
        if areas and not _reuse(cache / TREES / digest):
            digest = _build(listing, cache / TREES, f"environment {environment.name!r}")
    except OSError as error:
        raise InfrastructureError(Phase.SETUP, _reason(environment, cache, error)) from error
    home = cache / TREES / digest
    return PreparedTree(
        digest=digest,
        workspace=os.fspath(home / WORKSPACE) if WORKSPACE in areas else None,
        home=os.fspath(home / HOME) if HOME in areas else None,
        skills=listing.skills,
    )


def _reuse(tree: Path) -> bool:
    """Say whether the tree is there, and mark it as used, so that it is not the next one to be removed."""
    held = hold(tree)
    if held is None:
        return False
    held.release()
    return True


def _areas(listing: Contents) -> set[str]:
    """Return which of the tree's directories there are."""
    return {path.partition("/")[0] for path in listing.entries} | ({WORKSPACE} if listing.history else set())


def _build(listing: Contents, trees: Path, owner: str) -> str:
    """Copy the entries to a new tree and return the digest of what was copied, which then is its name.

    The sources are read again, so a file that changes meanwhile gives a tree that still fits its name.
    """
    with making(trees) as building:
        written = _write(listing, building)
        digest = _digest(listing, written)
        if listing.history:
            add_history(building / WORKSPACE, owner)
        note_size(building)
        put(building, trees / digest)
    return digest


def _write(listing: Contents, building: Path) -> dict[str, str]:
    """Write every entry below ``building`` and return the digests of the files as they were written."""
    written: dict[str, str] = {}
    top = f"{building}{os.sep}"
    for area in sorted(_areas(listing)):
        os.mkdir(top + area, 0o755)  # noqa: PTH102 - 50,000 paths are too many for Path objects
    # By depth and name: a directory stands before what is in it.
    for path, entry in sorted(listing.entries.items()):
        target = top + path
        if entry.kind == "directory":
            os.mkdir(target, 0o755)  # noqa: PTH102
        elif entry.kind == "link":
            os.symlink(entry.target, target)  # noqa: PTH211
        else:
            written[path] = _write_file(entry, target)
    return written


def _write_file(entry: Entry, target: str) -> str:
    out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777)
    try:
        os.fchmod(out, 0o755 if entry.executable else 0o644)
        return _file_digest(entry, out)
    finally:
        os.close(out)


def _digest(listing: Contents, known: Mapping[str, str]) -> str:
    """Name the content: paths, kinds, executable bits, link targets, what is in the files, and a history if any."""
    total = hashlib.sha256(_ALGORITHM + (b"\0history\n" if listing.history else b""))
    for path, entry in sorted(listing.entries.items()):
        content = entry.target if entry.kind == "link" else ""
        if entry.kind == "file":
            content = known.get(path) or _file_digest(entry)
        fields = (path, entry.kind, "x" if entry.executable else "-", content)
        # No field can hold a NUL, so no two trees read alike.
        total.update(os.fsencode("\0".join(fields)) + b"\0\n")
    return total.hexdigest()[:_DIGITS]


def _file_digest(entry: Entry, out: int | None = None) -> str:
    """Digest a file's content, and copy it to ``out`` on the way."""
    if entry.source is None:
        if out is not None:
            _write_all(out, entry.text or b"")
        return hashlib.sha256(entry.text or b"").hexdigest()
    digest = hashlib.sha256()
    source = _open_source(entry.source)
    try:
        while chunk := os.read(source, _CHUNK):
            digest.update(chunk)
            if out is not None:
                _write_all(out, chunk)
    finally:
        os.close(source)
    return digest.hexdigest()


def _open_source(path: str) -> int:
    try:
        # Without blocking: a pipe that took the file's place meanwhile must not hang the run.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        reason = f"{path!r} cannot be read: {error.strerror}; it is part of an environment"
        raise InfrastructureError(Phase.SETUP, reason) from error


def _write_all(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]


def _reason(environment: Environment, cache: Path, error: OSError) -> str:
    what = f"environment {environment.name!r}: its files cannot be written to {cache}: {error.strerror or error}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{what}; run `reeval clean` or free some space"
    return f"{what}; make the directory writable"

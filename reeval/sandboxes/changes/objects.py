"""How are versions of files kept? As objects of a private git directory, written without starting git.

The format is git's own: a zlib stream of ``TYPE SIZE NUL CONTENT``, named by its SHA-1.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path

__all__ = ["EXECUTABLE", "FILE", "LINK", "ObjectStore", "blob_id"]

FILE, EXECUTABLE, LINK = "100644", "100755", "120000"
"""Git's modes of what a tree can hold here."""
_DIRECTORY = "40000"

Tree = dict[bytes, "tuple[str, bytes] | Tree"]
"""Name → mode and object id, or a directory."""


def blob_id(data: bytes) -> bytes:
    """Return the id of a file's content."""
    return _id(b"blob", data)


class ObjectStore:
    """A bare git directory, made when the first object is written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._made = False
        self.size = 0
        """Bytes of content written so far."""

    def blob(self, data: bytes) -> bytes:
        """Keep a file's content and return its id."""
        return self._write(b"blob", data)

    def tree(self, files: Mapping[bytes, tuple[str, bytes]]) -> bytes:
        """Keep a tree of ``path → mode and blob id`` and return its id."""
        top: Tree = {}
        for path, file in files.items():
            *above, name = path.split(b"/")
            level = top
            for part in above:
                below = level.setdefault(part, {})
                assert isinstance(below, dict), "a file and a directory of one name cannot be in one snapshot"
                level = below
            level[name] = file
        return self._tree(top)

    def _tree(self, level: Tree) -> bytes:
        lines = []
        for name, child in level.items():
            mode, id = (_DIRECTORY, self._tree(child)) if isinstance(child, dict) else child
            # Git sorts a directory as if its name ended with a slash.
            lines.append((name + b"/" if mode == _DIRECTORY else name, b"%s %s\0%s" % (mode.encode(), name, id)))
        return self._write(b"tree", b"".join(line for _, line in sorted(lines)))

    def _write(self, kind: bytes, data: bytes) -> bytes:
        self._make()
        id = _id(kind, data)
        path = self.directory / "objects" / id.hex()[:2] / id.hex()[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind, len(data), data), 1))
            self.size += len(data)
        return id

    def _make(self) -> None:
        if self._made:
            return
        for part in ("objects", "refs"):
            os.makedirs(self.directory / part, exist_ok=True)  # noqa: PTH103 - one call for both levels
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")
        (self.directory / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        self._made = True


def _id(kind: bytes, data: bytes) -> bytes:
    return sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).digest()

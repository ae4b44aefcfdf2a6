"""How does a record point at a file: a part that is too big for a line, or what a body attached?"""

from __future__ import annotations

import msgspec

__all__ = ["ArtifactRef", "FileRef"]


class FileRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of the record that is too big for a line: a file, from the run's directory."""

    file: str
    bytes: int
    sha256: str
    truncated: bool = False


class ArtifactRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One ``c.attach``."""

    name: str
    ref: FileRef

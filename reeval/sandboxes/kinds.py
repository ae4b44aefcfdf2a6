"""Which sandboxes are there? By name, each loaded when a plan needs it."""

from __future__ import annotations

from collections.abc import Mapping

from reeval.kinds import KindsByModule
from reeval.protocols import SandboxKind

__all__ = ["KINDS"]

KINDS: Mapping[str, SandboxKind] = KindsByModule(
    {"docker": "reeval.sandboxes.docker.kind", "local": "reeval.sandboxes.local.kind"}
)

"""Where do the commands that only read records find them?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeval.record.store import RunStore

__all__ = ["open_store"]


def open_store(start: Path | None = None) -> RunStore:
    """Return the records of the project at or above ``start``, without reading its config: that may be broken."""
    from reeval.plan.config import find_root
    from reeval.record.store import RunStore

    return RunStore(find_root(start or Path.cwd()))

"""What does every command start from? The project's root, config, catalog and records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.protocols import Catalog

if TYPE_CHECKING:
    from reeval.plan.config import Config
    from reeval.record.store import RunStore

__all__ = ["Project", "build_catalog", "open_project"]


@dataclass(frozen=True, kw_only=True)
class Project:
    """A directory with a ``reeval.config.toml``, opened."""

    root: Path
    config: Config
    catalog: Catalog
    store: RunStore


def build_catalog() -> Catalog:
    """Return every kind of harness, sandbox, model and database there is."""
    from reeval.databases.kinds import KINDS as DATABASES
    from reeval.harnesses.kinds import KINDS as HARNESSES
    from reeval.models.kinds import KINDS as MODELS
    from reeval.sandboxes.kinds import KINDS as SANDBOXES

    return Catalog(harnesses=HARNESSES, sandboxes=SANDBOXES, models=MODELS, databases=DATABASES)


def open_project(start: Path | None = None) -> Project:
    """Find the project at or above ``start``, read its ``.env`` and its config.

    Raises ``ConfigError`` when there is none, or when the config cannot be used.
    """
    from reeval.plan.config import find_root, load_config
    from reeval.record.store import RunStore

    root = find_root(start or Path.cwd())
    _read_dotenv(root)
    return Project(root=root, config=load_config(root), catalog=build_catalog(), store=RunStore(root))


def _read_dotenv(root: Path) -> None:
    """Set what ``.env`` beside the config sets, never over what is set."""
    path = root / ".env"
    if path.is_file():
        from dotenv import load_dotenv

        load_dotenv(path, override=False)

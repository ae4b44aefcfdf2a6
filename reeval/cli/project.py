"""What does every command start from? The project's root, config, catalog and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.protocols import Catalog, ModelKind

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


_MODEL_KINDS = {
    "anthropic": "reeval.models.anthropic",
    "fake": "reeval.models.fake",
    "google": "reeval.models.google",
    "openai": "reeval.models.openai",
    "openai-chat": "reeval.models.openai_chat",
}


class _ModelKinds(Mapping[str, ModelKind]):
    """The kinds of models, each loaded when it is asked for: most runs need none."""

    def __getitem__(self, name: str) -> ModelKind:
        kind: ModelKind = import_module(_MODEL_KINDS[name]).KIND
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(_MODEL_KINDS)

    def __len__(self) -> int:
        return len(_MODEL_KINDS)

    def __contains__(self, name: object) -> bool:
        return name in _MODEL_KINDS


def build_catalog() -> Catalog:
    """Return every kind of harness, sandbox and model there is."""
    from reeval.harnesses.command import KIND as COMMAND
    from reeval.harnesses.fake import KIND as FAKE
    from reeval.sandboxes.local import LocalSandboxKind

    local = LocalSandboxKind()
    return Catalog(
        harnesses={kind.name: kind for kind in (COMMAND, FAKE)},
        sandboxes={local.name: local},
        models=_ModelKinds(),
    )


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

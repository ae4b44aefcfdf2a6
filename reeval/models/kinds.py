"""Which kinds of models are there? By the name that a ``[provider.NAME]`` table gives as its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from reeval.protocols import ModelKind

__all__ = ["KINDS"]

_MODULES = {
    "anthropic": "reeval.models.anthropic",
    "fake": "reeval.models.fake",
    "google": "reeval.models.google",
    "openai": "reeval.models.openai",
    "openai-chat": "reeval.models.openai_chat",
}


class _Kinds(Mapping[str, ModelKind]):
    """Loads a kind when it is asked for: a plan asks for those that it names, and most plans name none."""

    def __getitem__(self, name: str) -> ModelKind:
        kind: ModelKind = import_module(_MODULES[name]).KIND
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


KINDS: Mapping[str, ModelKind] = _Kinds()

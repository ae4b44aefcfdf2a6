"""Which kinds of models are there? By the name that a ``[provider.NAME]`` table gives as its kind."""

from __future__ import annotations

from reeval.backends import ModelKind
from reeval.kinds import KindsByModule

__all__ = ["KINDS"]

KINDS: KindsByModule[ModelKind] = KindsByModule(
    {
        "anthropic": "reeval.models.anthropic",
        "fake": "reeval.models.fake",
        "google": "reeval.models.google",
        "openai": "reeval.models.openai",
        "openai-chat": "reeval.models.openai_chat",
    }
)

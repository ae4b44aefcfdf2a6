"""Which kinds of models are there? By the name that a ``[provider.NAME]`` table gives as its kind."""

from __future__ import annotations

from collections.abc import Mapping

from reeval.models.anthropic import KIND as ANTHROPIC
from reeval.models.fake import KIND as FAKE
from reeval.models.google import KIND as GOOGLE
from reeval.models.openai import KIND as OPENAI
from reeval.models.openai_chat import KIND as OPENAI_CHAT
from reeval.protocols import ModelKind

__all__ = ["KINDS"]

KINDS: Mapping[str, ModelKind] = {kind.name: kind for kind in (ANTHROPIC, FAKE, GOOGLE, OPENAI, OPENAI_CHAT)}

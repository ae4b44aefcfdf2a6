"""One model on a real server, and the shortest way to ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reeval.backends import ModelReply, ModelRequest, Picture
from reeval.errors import InfrastructureError, Phase
from reeval.models.kinds import KINDS
from reeval.models.pool import ModelPool
from reeval.schema.plan import PlannedModel
from tests.servers.models import ModelServer

__all__ = ["JUDGE", "KEY", "MODELS", "Bench", "ask"]

KEY = "sk-test-0123456789abcdef"
MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "openai": "gpt-5-mini",
    "openai-chat": "gpt-5-mini",
    "google": "gemini-2.5-flash",
}
JUDGE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "From 0 to 1."},
        "reason": {"type": "string"},
    },
    "required": ["score", "reason"],
    "additionalProperties": False,
}


def ask(schema: Mapping[str, Any] = JUDGE, *pictures: Picture, **changes: Any) -> ModelRequest:
    return ModelRequest(
        **{"system": "Does it greet?", "prompt": "<diff>+Hello</diff>", "schema": schema, "pictures": pictures}
        | changes
    )


@dataclass
class Bench:
    """A model of a kind on a server."""

    kind: str
    server: ModelServer
    root: Path
    options: dict[str, Any] = field(default_factory=dict)
    max_concurrent: int | None = None
    environ: dict[str, str] = field(default_factory=lambda: {"THE_KEY": KEY})

    def planned(self, **changes: Any) -> PlannedModel:
        model = MODELS[self.kind]
        given = {
            "name": f"{self.kind}/{model}",
            "provider": self.kind,
            "kind": self.kind,
            "model": model,
            "base_url": self.server.url,
            "key": "THE_KEY",
            "max_concurrent": self.max_concurrent,
            "options": self.options,
        }
        return PlannedModel(**given | changes)

    def pool(self, **changes: Any) -> ModelPool:
        planned = self.planned(**changes)
        return ModelPool({"it": planned}, KINDS, self.environ, self.root, first_wait=0.01)

    async def answer(self, request: ModelRequest | None = None, **changes: Any) -> ModelReply:
        async with self.pool(**changes) as pool:
            return await pool.answer("it", request or ask())

    async def error(self, request: ModelRequest | None = None, **changes: Any) -> str:
        """Ask what must fail; return the error's text, which never holds the key."""
        with pytest.raises(InfrastructureError) as caught:
            await self.answer(request, **changes)
        assert caught.value.phase is Phase.MODEL
        text = str(caught.value)
        assert KEY not in text
        assert text.startswith(f"model '{self.kind}/{MODELS[self.kind]}' ")
        return text

    @property
    def asked(self) -> int:
        """How many requests came."""
        return len(self.server.requests)

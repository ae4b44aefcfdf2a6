"""Which wire protocol does a model of one's own speak? For agents that can be given models of any provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reeval.harnesses.agents.agent import Call
from reeval.harnesses.agents.options import AgentOptions

__all__ = ["HOSTS", "KEYS", "PROVIDER", "Api", "EndpointOptions", "key_variable", "model_there", "versioned"]

Api = Literal["openai-chat", "openai-responses", "anthropic", "google"]

PROVIDER = "reeval"
"""What the provider of a model behind ``base_url`` is called in an agent's config."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
HOSTS = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "openrouter.ai")
_VERSIONS: Mapping[str, str] = {"anthropic": "/v1", "google": "/v1beta"}


@dataclass(frozen=True, kw_only=True)
class EndpointOptions(AgentOptions):
    """The options of an agent that can be given models of any provider."""

    api: Api = "openai-chat"
    """With ``base_url``: what is spoken there. Without, ``model`` names the provider: ``anthropic/claude-…``."""


def model_there(call: Call) -> str | None:
    """Return the model as ``PROVIDER/NAME``; None: the agent's own choice."""
    if call.model is None:
        return None
    return f"{PROVIDER}/{call.model}" if call.options.base_url is not None else call.model


def key_variable(call: Call, keys: Sequence[str]) -> str:
    """Return the variable that holds the key: the first that is set, else the one a key is handed over in."""
    known = {**call.env, **call.options.env}
    if call.key is not None:
        return keys[0]
    return next((name for name in keys if known.get(name)), keys[0])


def versioned(base_url: str, api: Api, *, wanted: bool) -> str:
    """Return the base URL with or without the version's part of the path, which programs differ in."""
    base, version = base_url.rstrip("/"), _VERSIONS.get(api)
    if version is None:
        return base
    bare = base.removesuffix(version)
    return bare + version if wanted else bare

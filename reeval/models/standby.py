"""Which model answers data questions when no harness is configured and the key of its provider is there?"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["STANDBY_MODELS"]

STANDBY_MODELS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5",
    "openai": "gpt-5.5",
    "google": "gemini-3.8-flash",
}
"""Provider → model, in the order in which their keys are looked for."""

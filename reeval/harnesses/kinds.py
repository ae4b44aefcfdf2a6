"""Which kinds of harnesses are there? By the name that a ``[harness.NAME]`` table gives as its kind."""

from __future__ import annotations

from reeval.kinds import KindsByModule
from reeval.protocols import HarnessKind

__all__ = ["KINDS"]

KINDS: KindsByModule[HarnessKind] = KindsByModule(
    {
        "acp": "reeval.harnesses.acp",
        "claude-code": "reeval.harnesses.claude_code",
        "codex": "reeval.harnesses.codex",
        "command": "reeval.harnesses.command",
        "fake": "reeval.harnesses.fake",
        "gemini": "reeval.harnesses.gemini",
        "http": "reeval.harnesses.http",
        "mini-swe-agent": "reeval.harnesses.mini_swe_agent",
        "model": "reeval.harnesses.model",
        "opencode": "reeval.harnesses.opencode",
        "pi": "reeval.harnesses.pi",
        "qwen": "reeval.harnesses.qwen",
    }
)

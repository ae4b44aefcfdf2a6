"""What does an agent's error mean: could the model not be had, or did the agent come to its own end?"""

from __future__ import annotations

import re

from reeval.harnesses.program.stream import Failed

__all__ = ["failure", "provider_failure"]

_OVERFLOW = re.compile(
    r"prompt is too long|prompt_too_long|context[ _-]?(window|length|size|limit)|ran out of room in the model|"
    r"ContextOverflow|ContextWindowExceeded|maximum context|input token count.{0,40}exceeds|too many tokens",
    re.IGNORECASE,
)


def failure(message: str, *, agent: bool = False) -> Failed:
    """Return the failure that ended a turn.

    A context that overflowed is the agent's: it chose what to put there. Everything else that an agent says went
    wrong with its model is the provider's, unless ``agent`` says that the agent gave up itself.
    """
    if _OVERFLOW.search(message):
        return Failed(message=f"the context overflowed: {message}")
    return Failed(message=message or "the agent did not say why", kind="agent" if agent else "provider")


def provider_failure(message: str) -> Failed:
    """Return that the model could not be had, whatever the message says."""
    return Failed(message=message or "the agent did not say why", kind="provider")

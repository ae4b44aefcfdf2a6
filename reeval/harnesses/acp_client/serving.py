"""What does an agent ask of its client, and what is it given? Permission for everything; files are in its sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reeval.harnesses.agents.streams.reading import at, listed, text_at

__all__ = ["answer"]

_ALLOWED = ("allow_once", "allow_always")
"""Once comes first: an answer for ever may change the mode that an agent works in."""


def answer(method: str, params: Any, told: Callable[[Any], None]) -> Any:
    """Return the result of one request; raise the protocol library's ``RequestError`` for what is not offered."""
    from acp import RequestError

    if method != "session/request_permission":
        raise RequestError.method_not_found(method)
    # It may be the first that is told of a call.
    if isinstance(call := at(params, "toolCall"), dict):
        told({**call, "sessionUpdate": "tool_call_update"})
    options = listed(params, "options")
    for kind in _ALLOWED:
        for option in options:
            if at(option, "kind") == kind:
                return {"outcome": {"outcome": "selected", "optionId": text_at(option, "optionId")}}
    return {"outcome": {"outcome": "cancelled"}}

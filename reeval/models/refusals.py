"""Which feature of a request does a model refuse, so that it can be asked again without it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reeval.models.failures import Complaint

__all__ = ["WORDS", "refused_feature"]

_SCHEMA = (
    "response_format",
    "response format",
    "response_schema",
    "response schema",
    "responseschema",
    "response_mime_type",
    "responsemimetype",
    "json_schema",
    "json schema",
    "json mode",
    "structured output",
    "text.format",
)

WORDS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens",),
    "max_completion_tokens": ("max_completion_tokens",),
    "schema": _SCHEMA,
    "json mode": (*_SCHEMA, "json_object"),
    "forced tool": ("tool_choice", "tool choice"),
    "tool": ("tool", "function"),
}
"""Feature → words of which an error holds one when the model refuses it. Those of a request are looked at in order."""
_REFUSING = frozenset({400, 422})


def refused_feature(status: int, complaint: Complaint, uses: Iterable[str]) -> str | None:
    """Return the feature of the request that the complaint is about; None when it is about none."""
    if status not in _REFUSING:
        return None
    param, message = complaint.param.lower(), complaint.message.lower()
    named = [name for name in uses if any(words in param for words in WORDS[name])]
    if named:
        return named[0]
    return next((name for name in uses if any(words in message for words in WORDS[name])), None)

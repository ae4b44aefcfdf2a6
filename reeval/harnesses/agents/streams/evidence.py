"""Which evidence is a tool call beside itself?"""

from __future__ import annotations

from collections.abc import Iterator

from reeval.harnesses.agents.streams.reading import text_at
from reeval.schema.transcript import ToolCall, WebFetch, WebSearch

__all__ = ["web_evidence"]


def web_evidence(call: ToolCall) -> Iterator[WebSearch | WebFetch]:
    """Yield the search or the fetch that a call of one of those tools was; nothing for other calls."""
    if call.name == "search":
        yield WebSearch(query=text_at(call.input, "query"), ok=call.ok)
    elif call.name == "fetch":
        # Some tools take no URL but words that hold it.
        yield WebFetch(url=text_at(call.input, "url") or text_at(call.input, "prompt"), ok=call.ok)

"""How does each provider put an answer, an error and a refusal into JSON?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["WIRES", "Wire", "wire_of"]

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Wire:
    """One provider's side of its wire form."""

    kind: str
    key_header: str
    """Name in lower case."""
    answer: Callable[[str, Json], Json]
    """The answer's text and the request → a response, by the means that the request asks for."""
    refusal: Callable[[str], Json]
    empty: Json
    cut: Json
    """An answer that ran into the limit of its tokens."""
    error: Callable[[int, str, str, str], Json]
    """Status, message, code and parameter → the body of an error."""
    schema_fields: tuple[str, ...]
    """Parts of a request that ask for a structured answer, the strictest first, as dotted paths."""
    usage: Mapping[str, Any]
    """What an answer claims: 100 prompt tokens, 40 of them read from the cache, 10 of answer."""


def wire_of(path: str) -> Wire:
    """Return the wire form that is spoken at a path."""
    return next(wire for end, wire in WIRES.items() if path.endswith(end))


def _anthropic(content: list[Json], stop: str = "end_turn") -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": content,
        "stop_reason": stop,
        "usage": dict(ANTHROPIC.usage),
    }


def _anthropic_answer(text: str, request: Json) -> Json:
    if not request.get("tools"):
        return _anthropic([{"type": "text", "text": text}])
    call = {"type": "tool_use", "id": "toolu_1", "name": request["tools"][0]["name"], "input": _data(text)}
    return _anthropic([{"type": "text", "text": "Let me see."}, call], "tool_use")


def _data(text: str) -> Any:
    """A tool's input is data; what is no JSON can only stand there as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


ANTHROPIC = Wire(
    kind="anthropic",
    key_header="x-api-key",
    answer=_anthropic_answer,
    refusal=lambda why: _anthropic([{"type": "text", "text": why}], "refusal"),
    empty={"id": "msg_1", "type": "message", "model": "claude-sonnet-4-5", "content": [], "stop_reason": "end_turn"},
    cut={"content": [{"type": "text", "text": '{"score": 0.'}], "stop_reason": "max_tokens", "usage": {}},
    error=lambda status, message, code, _param: {
        "type": "error",
        "error": {"type": code or f"error_{status}", "message": message},
    },
    schema_fields=("tool_choice", "tools"),
    usage={
        "input_tokens": 60,
        "output_tokens": 10,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 0,
    },
)


def _responses(parts: list[Json], **more: Any) -> Json:
    message = {"type": "message", "role": "assistant", "content": parts}
    reasoning = {"type": "reasoning", "summary": []}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-5-mini-2025-08-07",
        "output": [reasoning, message],
        "usage": dict(OPENAI.usage),
        **more,
    }


def _responses_answer(text: str, request: Json) -> Json:
    if request.get("tools"):
        call = {"type": "function_call", "name": request["tools"][0]["name"], "arguments": text, "call_id": "c1"}
        return _responses([], output=[call])
    return _responses([{"type": "output_text", "text": text, "annotations": []}])


def _openai_error(status: int, message: str, code: str, param: str) -> Json:
    return {"error": {"message": message, "type": f"error_{status}", "param": param or None, "code": code or None}}


OPENAI = Wire(
    kind="openai",
    key_header="authorization",
    answer=_responses_answer,
    refusal=lambda why: _responses([{"type": "refusal", "refusal": why}]),
    empty={"status": "completed", "output": []},
    cut={
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": '{"score": 0.'}]}],
    },
    error=_openai_error,
    schema_fields=("text.format", "tools"),
    usage={
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 110,
    },
)


def _completion(message: Json, stop: str = "stop") -> Json:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-5-mini-2025-08-07",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": stop}],
        "usage": dict(CHAT.usage),
    }


def _completion_answer(text: str, request: Json) -> Json:
    if not request.get("tools"):
        return _completion({"content": text})
    function = {"name": request["tools"][0]["function"]["name"], "arguments": text}
    return _completion({"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]})


CHAT = Wire(
    kind="openai-chat",
    key_header="authorization",
    answer=_completion_answer,
    refusal=lambda why: _completion({"content": None, "refusal": why}),
    empty={"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]},
    cut={"choices": [{"message": {"content": '{"score": 0.'}, "finish_reason": "length"}]},
    error=_openai_error,
    schema_fields=("response_format.json_schema", "tools", "response_format"),
    usage={
        "prompt_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens": 10,
        "completion_tokens_details": {"reasoning_tokens": 4},
    },
)


def _generated(parts: list[Json], stop: str = "STOP") -> Json:
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop, "index": 0}],
        "usageMetadata": dict(GOOGLE.usage),
        "modelVersion": "gemini-2.5-flash",
    }


GOOGLE = Wire(
    kind="google",
    key_header="x-goog-api-key",
    answer=lambda text, _request: _generated([{"text": "Hm.", "thought": True}, {"text": text}]),
    refusal=lambda why: {"promptFeedback": {"blockReason": why}, "usageMetadata": {"promptTokenCount": 100}},
    empty={"candidates": [{"finishReason": "STOP", "index": 0}]},
    cut={"candidates": [{"content": {"parts": [{"text": '{"score": 0.'}]}, "finishReason": "MAX_TOKENS"}]},
    error=lambda status, message, code, _param: {
        "error": {"code": status, "message": message, "status": code or f"ERROR_{status}"}
    },
    schema_fields=("generationConfig.responseSchema",),
    usage={
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 6,
        "thoughtsTokenCount": 4,
    },
)

WIRES = {
    "/v1/messages": ANTHROPIC,
    "/responses": OPENAI,
    "/chat/completions": CHAT,
    ":generateContent": GOOGLE,
}
"""End of the path → what is spoken there."""

"""How does each provider put one step of a model on the wire, at once and as a stream of events?

Each form is a function from a step and what it spent to the whole answer, and one from that answer to the events that
give it piece by piece.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.servers.obedient import Say, Spent, UseTool

__all__ = ["FORMS", "Form", "form_of"]

Json = dict[str, Any]
Event = tuple[str | None, Json]
"""A name, where the form has one, and the data."""
THINKING = "Planning the next step"
ABOUT = "Working on it."


@dataclass(frozen=True, kw_only=True)
class Form:
    """One provider's wire form."""

    kind: str
    answer: Callable[[str, Say | UseTool, Spent], Json]
    """Takes the model's name."""
    events: Callable[[Json], Iterator[Event]]
    error: Callable[[int, str, str], Json]
    """Status, message and code → the body of a refusal."""
    overflow: str
    """What it says when the prompt is too long."""
    ending: str = ""
    """What closes a stream."""


def form_of(path: str) -> Form | None:
    """Return the form that is spoken at a path."""
    path = path.partition("?")[0]
    ends = {"/messages": "anthropic", "/responses": "responses", "/chat/completions": "chat"}
    for end, kind in ends.items():
        if path.endswith(end):
            return FORMS[kind]
    return FORMS["gemini"] if path.endswith("enerateContent") else None


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


# --- Anthropic Messages -------------------------------------------------------------------------------


def _anthropic(model: str, step: Say | UseTool, spent: Spent) -> Json:
    content: list[Json] = [{"type": "text", "text": step.text}] if isinstance(step, Say) and step.text else []
    if isinstance(step, UseTool):
        call = {"type": "tool_use", "id": _id("toolu"), "name": _full_name(step), "input": step.input}
        content = [{"type": "text", "text": ABOUT}, call]
    return {
        "id": _id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "end_turn" if isinstance(step, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": spent.prompt - spent.cached,
            "cache_read_input_tokens": spent.cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": spent.answer,
        },
    }


def _full_name(step: UseTool) -> str:
    return f"{step.namespace}__{step.name}" if step.namespace else step.name


def _anthropic_events(answer: Json) -> Iterator[Event]:
    begun = {**answer, "content": [], "stop_reason": None, "usage": {**answer["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, block in enumerate(answer["content"]):
        empty = {**block, "input": {}} if block["type"] == "tool_use" else {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        for name, more in (
            ("content_block_start", {"content_block": empty}),
            ("content_block_delta", {"delta": delta}),
            ("content_block_stop", {}),
        ):
            yield name, {"type": name, "index": index, **more}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": answer["usage"]}
    yield "message_stop", {"type": "message_stop"}


# --- OpenAI Responses ---------------------------------------------------------------------------------


def _responses(model: str, step: Say | UseTool, spent: Spent) -> Json:
    items: list[Json] = []
    if isinstance(step, UseTool):
        summary = [{"type": "summary_text", "text": THINKING}]
        items = [{"id": _id("rs"), "type": "reasoning", "summary": summary}, _responses_call(step)]
    elif step.text:
        part = {"type": "output_text", "text": step.text, "annotations": []}
        items = [{"id": _id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": [part]}]
    return {
        "id": _id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": model,
        "output": items,
        "error": None,
        "usage": {
            "input_tokens": spent.prompt,
            "input_tokens_details": {"cached_tokens": spent.cached},
            "output_tokens": spent.answer,
            "output_tokens_details": {"reasoning_tokens": spent.reasoning},
            "total_tokens": spent.prompt + spent.answer,
        },
    }


def _responses_call(step: UseTool) -> Json:
    common = {"call_id": _id("call"), "name": step.name, "status": "completed"}
    if step.free:
        return {"id": _id("ctc"), "type": "custom_tool_call", **common, "input": step.input}
    space = {"namespace": step.namespace} if step.namespace else {}
    return {"id": _id("fc"), "type": "function_call", **common, "arguments": json.dumps(step.input), **space}


def _responses_events(answer: Json) -> Iterator[Event]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": _emptied(item)},
            *({**event, **place} for event in _responses_deltas(item)),
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": answer})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _emptied(item: Json) -> Json:
    empty: Json = {"content": [], "summary": [], "arguments": "", "input": ""}
    return {**item, **{key: value for key, value in empty.items() if key in item}}


def _responses_deltas(item: Json) -> list[Json]:
    match item["type"]:
        case "message":
            part = item["content"][0]
            kind, place = "response.output_text", {"content_index": 0}
            return [
                {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
                {"type": f"{kind}.delta", **place, "delta": part["text"]},
                {"type": f"{kind}.done", **place, "text": part["text"]},
                {"type": "response.content_part.done", **place, "part": part},
            ]
        case "reasoning":
            part, place = item["summary"][0], {"summary_index": 0}
            kind = "response.reasoning_summary"
            return [
                {"type": f"{kind}_part.added", **place, "part": {**part, "text": ""}},
                {"type": f"{kind}_text.delta", **place, "delta": part["text"]},
                {"type": f"{kind}_text.done", **place, "text": part["text"]},
                {"type": f"{kind}_part.done", **place, "part": part},
            ]
        case "function_call":
            kind, key = "response.function_call_arguments", "arguments"
        case _:
            kind, key = "response.custom_tool_call_input", "input"
    return [{"type": f"{kind}.delta", "delta": item[key]}, {"type": f"{kind}.done", key: item[key]}]


# --- OpenAI Chat --------------------------------------------------------------------------------------


def _chat(model: str, step: Say | UseTool, spent: Spent) -> Json:
    message: Json = {"role": "assistant", "content": step.text if isinstance(step, Say) else ABOUT}
    if isinstance(step, UseTool):
        function = {"name": _full_name(step), "arguments": json.dumps(step.input)}
        message["tool_calls"] = [{"id": _id("call"), "type": "function", "index": 0, "function": function}]
    return {
        "id": _id("chatcmpl"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": "stop" if isinstance(step, Say) else "tool_calls"},
        ],
        "usage": {
            "prompt_tokens": spent.prompt,
            "completion_tokens": spent.answer,
            "total_tokens": spent.prompt + spent.answer,
            "prompt_tokens_details": {"cached_tokens": spent.cached},
            "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
        },
    }


def _chat_events(answer: Json) -> Iterator[Event]:
    common = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    (choice,) = answer["choices"]
    message = choice["message"]
    pieces: list[Json] = [{"role": "assistant", "content": message["content"]}]
    if "tool_calls" in message:
        pieces.append({"tool_calls": message["tool_calls"]})
    for piece in pieces:
        yield None, {**common, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]}
    yield None, {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield None, {**common, "choices": [], "usage": answer["usage"]}


# --- Gemini -------------------------------------------------------------------------------------------


def _gemini(model: str, step: Say | UseTool, spent: Spent) -> Json:
    parts: list[Json] = [{"text": step.text}] if isinstance(step, Say) else [{"text": ABOUT}]
    if isinstance(step, UseTool):
        parts.append({"functionCall": {"id": _id("fc"), "name": _full_name(step), "args": step.input}})
    usage = {
        "promptTokenCount": spent.prompt,
        "candidatesTokenCount": spent.answer - spent.reasoning,
        "thoughtsTokenCount": spent.reasoning,
        "totalTokenCount": spent.prompt + spent.answer,
        **({"cachedContentTokenCount": spent.cached} if spent.cached else {}),
    }
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": _id("r"),
    }


def _gemini_events(answer: Json) -> Iterator[Event]:
    yield None, answer


def _openai_error(status: int, message: str, code: str) -> Json:
    kind = "invalid_request_error" if status < 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _anthropic_error(status: int, message: str, code: str) -> Json:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 503: "overloaded_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "invalid_request_error"), "message": message}}


def _gemini_error(status: int, message: str, code: str) -> Json:
    kinds = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    return {"error": {"code": status, "message": message, "status": kinds.get(status, "INVALID_ARGUMENT")}}


_OPENAI_OVERFLOW = "Your input exceeds the context window of this model. Please adjust your input and try again."

FORMS = {
    form.kind: form
    for form in (
        Form(
            kind="anthropic",
            answer=_anthropic,
            events=_anthropic_events,
            error=_anthropic_error,
            overflow="prompt is too long: 215000 tokens > 200000 maximum",
        ),
        Form(
            kind="responses",
            answer=_responses,
            events=_responses_events,
            error=_openai_error,
            overflow=_OPENAI_OVERFLOW,
        ),
        Form(
            kind="chat",
            answer=_chat,
            events=_chat_events,
            error=_openai_error,
            overflow=_OPENAI_OVERFLOW,
            ending="data: [DONE]\n\n",
        ),
        Form(
            kind="gemini",
            answer=_gemini,
            events=_gemini_events,
            error=_gemini_error,
            overflow="The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    )
}

"""How are the many servers that speak Chat Completions spoken to? By a schema, else a forced tool, else JSON mode."""

from __future__ import annotations

from typing import Any

import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.models.answers import instructions
from reeval.models.forms import Ask, Found, WireForm, base64_text, closed, count, without
from reeval.models.remote import http_kind
from reeval.usage import Usage

__all__ = ["KIND"]


class _Function(msgspec.Struct):
    arguments: Any = None
    """JSON text; data from some servers."""


class _Call(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: Any = None


def _ask(model: str, request: ModelRequest, refused: frozenset[str]) -> Ask:
    uses = []
    options: dict[str, Any] = {}
    if request.temperature is not None and "temperature" not in refused:
        options["temperature"] = request.temperature
        uses.append("temperature")
    # Every server knows the old word but OpenAI's reasoning models, which know the new one only.
    if word := next((name for name in ("max_tokens", "max_completion_tokens") if name not in refused), None):
        options[word] = request.max_tokens
        uses.append(word)
    shape, used = _shape(request, refused)
    uses.extend(used)
    system = request.system
    if "tools" not in shape and "schema" in refused:
        system = f"{system}\n\n{instructions(request.schema)}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": _content(request)}]
    return Ask(body={"model": model, "messages": messages, **options, **shape}, uses=tuple(uses))


def _shape(request: ModelRequest, refused: frozenset[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the strictest means of a structured answer that the model does not refuse, and its feature."""
    if "schema" not in refused:
        schema = {"name": "answer", "strict": True, "schema": closed(request.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}, ("schema",)
    if "tool" not in refused:
        function = {"name": "answer", "description": "Gives the answer.", "parameters": closed(request.schema)}
        choice = {"type": "function", "function": {"name": "answer"}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}, ("tool",)
    if "json mode" not in refused:
        return {"response_format": {"type": "json_object"}}, ("json mode",)
    return {}, ()


def _content(request: ModelRequest) -> str | list[dict[str, Any]]:
    """Return plain text where it will do: some servers take no list."""
    if not request.pictures:
        return request.prompt
    return [{"type": "text", "text": request.prompt}, *map(_picture, request.pictures)]


def _picture(picture: Picture) -> dict[str, Any]:
    url = f"data:{picture.media_type};base64,{base64_text(picture)}"
    return {"type": "image_url", "image_url": {"url": url}}


def _read(completion: _Completion) -> Found:
    cached = count(completion.usage, "prompt_tokens_details", "cached_tokens")
    usage = Usage(
        input=without(count(completion.usage, "prompt_tokens"), cached),
        output=count(completion.usage, "completion_tokens"),
        cache_read=cached,
        reasoning=count(completion.usage, "completion_tokens_details", "reasoning_tokens"),
    )
    if not completion.choices:
        return Found(answer=None, usage=usage, model=completion.model)
    choice = completion.choices[0]
    calls = choice.message.tool_calls or []
    refusal = choice.message.refusal
    if refusal is None and choice.finish_reason == "content_filter":
        refusal = "content filter"
    return Found(
        answer=calls[0].function.arguments if calls else choice.message.content,
        usage=usage,
        model=completion.model,
        refusal=refusal,
        cut=choice.finish_reason == "length",
    )


KIND = http_kind(
    "openai-chat",
    WireForm(
        base_url="https://api.openai.com/v1",
        path=lambda base, _model: f"{base}/chat/completions",
        headers=lambda key: {"authorization": f"Bearer {key}"},
        ask=_ask,
        reply=_Completion,
        read=_read,
    ),
    key="OPENAI_API_KEY",
    keyless_base_url=True,
)

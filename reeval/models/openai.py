"""How are OpenAI's models spoken to? Responses, with a strict schema of the text."""

from __future__ import annotations

from typing import Any

import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.models.answers import instructions
from reeval.models.forms import Ask, Found, WireForm, base64_text, closed, count, without
from reeval.models.remote import http_kind
from reeval.usage import Usage

__all__ = ["KIND"]


class _Part(msgspec.Struct):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct):
    type: str
    content: list[_Part] | None = None
    arguments: str | None = None


class _Response(msgspec.Struct):
    output: list[_Item]
    model: str | None = None
    status: str | None = None
    incomplete_details: Any = None
    error: Any = None
    usage: Any = None


def _ask(model: str, request: ModelRequest, refused: frozenset[str]) -> Ask:
    uses = []
    system = request.system
    text = {"type": "input_text", "text": request.prompt}
    body: dict[str, Any] = {
        "model": model,
        "input": [{"role": "user", "content": [text, *map(_picture, request.pictures)]}],
        "max_output_tokens": request.max_tokens,
        "store": False,
    }
    if request.temperature is not None and "temperature" not in refused:
        body["temperature"] = request.temperature
        uses.append("temperature")
    shape = {"name": "answer", "strict": True}
    if "schema" not in refused:
        body["text"] = {"format": {"type": "json_schema", **shape, "schema": closed(request.schema)}}
        uses.append("schema")
    elif "tool" not in refused:
        body["tools"] = [{"type": "function", **shape, "parameters": closed(request.schema)}]
        body["tool_choice"] = {"type": "function", "name": "answer"}
        uses.append("tool")
    else:
        system = f"{system}\n\n{instructions(request.schema)}"
    return Ask(body={**body, "instructions": system}, uses=tuple(uses))


def _picture(picture: Picture) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:{picture.media_type};base64,{base64_text(picture)}"}


def _read(response: _Response) -> Found:
    parts = [part for item in response.output if item.type == "message" for part in item.content or ()]
    calls = [item.arguments for item in response.output if item.type == "function_call"]
    details = response.incomplete_details if isinstance(response.incomplete_details, dict) else {}
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    if details.get("reason") == "content_filter":
        refusals.append("content filter")
    error = response.error if isinstance(response.error, dict) else {}
    cached = count(response.usage, "input_tokens_details", "cached_tokens")
    return Found(
        answer=calls[0] if calls else "".join(part.text for part in parts if part.type == "output_text"),
        usage=Usage(
            input=without(count(response.usage, "input_tokens"), cached),
            output=count(response.usage, "output_tokens"),
            cache_read=cached,
            reasoning=count(response.usage, "output_tokens_details", "reasoning_tokens"),
        ),
        model=response.model,
        refusal=refusals[0] if refusals else None,
        failed=str(error.get("message", "")) if response.status == "failed" else None,
        cut=response.status == "incomplete",
    )


KIND = http_kind(
    "openai",
    WireForm(
        base_url="https://api.openai.com/v1",
        path=lambda base, _model: f"{base}/responses",
        headers=lambda key: {"authorization": f"Bearer {key}"},
        ask=_ask,
        reply=_Response,
        read=_read,
        price_list="openai",
    ),
    key="OPENAI_API_KEY",
)

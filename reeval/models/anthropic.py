"""How are Anthropic's models spoken to? Messages, with a forced tool whose input is the answer."""

from __future__ import annotations

from typing import Any

import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.models.answers import instructions
from reeval.models.forms import Ask, Found, WireForm, base64_text, count
from reeval.models.remote import http_kind
from reeval.usage import Usage

__all__ = ["KIND"]

_VERSION = "2023-06-01"
_CALL_IT = "Give your answer by calling the tool `answer` once."


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    name: str = ""
    input: Any = None


class _Message(msgspec.Struct):
    content: list[_Block]
    model: str | None = None
    stop_reason: str | None = None
    usage: Any = None


def _path(base: str, _model: str) -> str:
    return f"{base.removesuffix('/v1')}/v1/messages"


def _ask(model: str, request: ModelRequest, refused: frozenset[str]) -> Ask:
    uses = []
    system = request.system
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": request.prompt}, *map(_picture, request.pictures)]}
        ],
    }
    if request.temperature is not None and "temperature" not in refused:
        body["temperature"] = request.temperature
        uses.append("temperature")
    if "tool" in refused:
        system = f"{system}\n\n{instructions(request.schema)}"
    else:
        body["tools"] = [{"name": "answer", "description": "Gives the answer.", "input_schema": dict(request.schema)}]
        if "forced tool" not in refused:
            body["tool_choice"] = {"type": "tool", "name": "answer"}
            uses.append("forced tool")
        else:
            system = f"{system}\n\n{_CALL_IT}"
            uses.append("tool")
    return Ask(body={**body, "system": system}, uses=tuple(uses))


def _picture(picture: Picture) -> dict[str, Any]:
    source = {"type": "base64", "media_type": picture.media_type, "data": base64_text(picture)}
    return {"type": "image", "source": source}


def _read(message: _Message) -> Found:
    calls = [block.input for block in message.content if block.type == "tool_use"]
    text = "".join(block.text for block in message.content if block.type == "text")
    return Found(
        answer=calls[0] if calls else text,
        usage=Usage(
            input=count(message.usage, "input_tokens"),
            output=count(message.usage, "output_tokens"),
            cache_read=count(message.usage, "cache_read_input_tokens"),
            cache_write=count(message.usage, "cache_creation_input_tokens"),
        ),
        model=message.model,
        refusal=text if message.stop_reason == "refusal" else None,
        cut=message.stop_reason in {"max_tokens", "model_context_window_exceeded"},
    )


KIND = http_kind(
    "anthropic",
    WireForm(
        base_url="https://api.anthropic.com",
        path=_path,
        headers=lambda key: {"x-api-key": key},
        fixed_headers={"anthropic-version": _VERSION},
        ask=_ask,
        reply=_Message,
        read=_read,
        price_list="anthropic",
    ),
    key="ANTHROPIC_API_KEY",
)

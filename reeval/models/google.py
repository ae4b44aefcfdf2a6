"""How are Google's models spoken to? generateContent, with a schema of the response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.models.answers import instructions
from reeval.models.forms import Ask, Found, WireForm, base64_text, count, without
from reeval.models.remote import http_kind
from reeval.usage import Usage

__all__ = ["KIND"]

_KNOWN = frozenset(
    ("description", "format", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern")
)
"""Keywords that mean the same in Google's schemas, which are a part of OpenAPI's; unknown ones are errors there."""
_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"})


class _Part(msgspec.Struct):
    text: str = ""
    thought: bool = False


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Generated(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    model_version: str | None = None
    usage_metadata: Any = None

    def __post_init__(self) -> None:
        """Refuse an object that has nothing of a response: every part of one may be left out."""
        if self.candidates is None and self.prompt_feedback is None and self.usage_metadata is None:
            raise ValueError("Object missing required field `candidates`")


def _path(base: str, model: str) -> str:
    versioned = base if re.search(r"/v\d\w*\Z", base) else f"{base}/v1beta"
    return f"{versioned}/models/{quote(model.removeprefix('models/'), safe='')}:generateContent"


def _ask(_model: str, request: ModelRequest, refused: frozenset[str]) -> Ask:
    uses = []
    system = request.system
    config: dict[str, Any] = {"maxOutputTokens": request.max_tokens}
    if request.temperature is not None and "temperature" not in refused:
        config["temperature"] = request.temperature
        uses.append("temperature")
    if "schema" in refused:
        system = f"{system}\n\n{instructions(request.schema)}"
    else:
        config |= {"responseMimeType": "application/json", "responseSchema": _schema(request.schema)}
        uses.append("schema")
    body = {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": [{"text": request.prompt}, *map(_picture, request.pictures)]}],
        "generationConfig": config,
    }
    return Ask(body=body, uses=tuple(uses))


def _picture(picture: Picture) -> dict[str, Any]:
    return {"inlineData": {"mimeType": picture.media_type, "data": base64_text(picture)}}


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema in Google's words. What they cannot say is validated on this side only."""
    said: dict[str, Any] = {key: value for key, value in schema.items() if key in _KNOWN}
    said |= _type(schema.get("type"))
    if "enum" in schema and all(isinstance(value, str) for value in schema["enum"]):
        said["enum"] = list(schema["enum"])
    if isinstance(properties := schema.get("properties"), Mapping):
        said["properties"] = {name: _schema(part) for name, part in properties.items()}
        said["propertyOrdering"] = list(properties)  # else by name: a reason would come after its score, or before
        said["required"] = list(schema.get("required", ()))
    if isinstance(items := schema.get("items"), Mapping):
        said["items"] = _schema(items)
    if isinstance(choices := schema.get("anyOf"), list | tuple):
        said["anyOf"] = [_schema(part) for part in choices]
    return said


def _type(types: object) -> dict[str, Any]:
    if isinstance(types, str):
        return {"type": types.upper()}
    if isinstance(types, list | tuple):
        named = [str(name).upper() for name in types if name != "null"]
        return {"type": named[0] if named else "NULL", **({"nullable": True} if len(named) < len(types) else {})}
    return {}


def _read(generated: _Generated) -> Found:
    candidate = generated.candidates[0] if generated.candidates else _Candidate()
    parts = (candidate.content.parts or []) if candidate.content else []
    blocked = generated.prompt_feedback.block_reason if generated.prompt_feedback else None
    if blocked is None and candidate.finish_reason in _REFUSALS:
        blocked = candidate.finish_reason
    return Found(
        answer="".join(part.text for part in parts if not part.thought),
        usage=_usage(generated.usage_metadata),
        model=generated.model_version,
        refusal=blocked,
        cut=candidate.finish_reason == "MAX_TOKENS",
    )


def _usage(counts: object) -> Usage:
    cached, thoughts = count(counts, "cachedContentTokenCount"), count(counts, "thoughtsTokenCount")
    output = count(counts, "candidatesTokenCount")
    return Usage(
        input=without(count(counts, "promptTokenCount"), cached),
        output=None if output is None and thoughts is None else (output or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
    )


KIND = http_kind(
    "google",
    WireForm(
        base_url="https://generativelanguage.googleapis.com/v1beta",
        path=_path,
        headers=lambda key: {"x-goog-api-key": key},
        ask=_ask,
        reply=_Generated,
        read=_read,
        price_list="google",
        pictures=frozenset({"image/jpeg", "image/png", "image/webp"}),
    ),
    key="GEMINI_API_KEY",
)

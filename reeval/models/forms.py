"""What is a provider's wire form? Pure functions between a request and the JSON that it sends and gets."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reeval.backends import ModelRequest, Picture
from reeval.usage import Usage

__all__ = ["ALL_PICTURES", "Ask", "Found", "WireForm", "base64_text", "closed", "count", "without"]

ALL_PICTURES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request as a provider spells it."""

    body: dict[str, Any]
    uses: tuple[str, ...] = ()
    """The features in it that can be left out when the model refuses them, by the keys of ``refusals.WORDS``."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What stands in a response."""

    answer: object
    """Data, JSON text, or None when there is none."""
    usage: Usage
    model: str | None = None
    refusal: str | None = None
    """Why the model, or a filter before it, would not answer."""
    failed: str | None = None
    """What went wrong on the provider's side, as it says."""
    cut: bool = False
    """The answer ran into the limit of its tokens."""


@dataclass(frozen=True, kw_only=True)
class WireForm:
    """How one kind of provider is spoken to."""

    base_url: str
    """The provider's own."""
    path: Callable[[str, str], str]
    """Base URL (no slash at its end) and model → the URL to post to."""
    headers: Callable[[str], dict[str, str]]
    """The key → the headers that carry it."""
    ask: Callable[[str, ModelRequest, frozenset[str]], Ask]
    """Model, request and the features that this model refuses → the body. It uses none of the refused ones."""
    reply: type
    """The part of a response that is read, as a ``msgspec.Struct``."""
    read: Callable[[Any], Found]
    """Takes a ``reply``."""
    fixed_headers: Mapping[str, str] = field(default_factory=dict)
    price_list: str | None = None
    """The provider's name in the price list; None: the base URL tells."""
    pictures: frozenset[str] = ALL_PICTURES
    """Media types that it takes."""


def base64_text(picture: Picture) -> str:
    """Return the picture's bytes as text."""
    return base64.b64encode(picture.data).decode()


def count(usage: object, *path: str) -> int | None:
    """Return a number of tokens at ``path``; None when there is none, or one that cannot be."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) and not isinstance(usage, bool) and usage >= 0 else None


def without(total: int | None, part: int | None) -> int | None:
    """Return a total less a known part of it."""
    return total if total is None or part is None else max(0, total - part)


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema as strict servers want it: every object closed, every property of it required.

    What is valid by it is valid by the original too.
    """
    return {key: _closed_part(key, value) for key, value in schema.items()} | _closing(schema)


def _closed_part(key: str, value: Any) -> Any:
    if key in {"properties", "$defs"} and isinstance(value, Mapping):
        return {name: closed(part) if isinstance(part, Mapping) else part for name, part in value.items()}
    if key == "items" and isinstance(value, Mapping):
        return closed(value)
    if key in {"anyOf", "allOf", "oneOf", "prefixItems"} and isinstance(value, list | tuple):
        return [closed(part) if isinstance(part, Mapping) else part for part in value]
    return value


def _closing(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {"required": list(properties), "additionalProperties": False}

"""How are secret values kept out of everything that is written or shown?"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["MINIMUM_SECRET", "Masker", "keys_at_hand"]

MINIMUM_SECRET = 4
"""A shorter value is not masked: it would hide ordinary text everywhere."""
_MINIMUM_LINE = 8
"""Likewise for a line of a longer value, and for what is left of one in base64."""


def keys_at_hand(environ: Mapping[str, str]) -> list[str]:
    """Return the values of variables that are named as keys are: an agent or a body may use one that no plan names."""
    return [value for name, value in environ.items() if name.endswith("_API_KEY") and len(value) >= _MINIMUM_LINE]


class Masker:
    """Replaces known secret values, in their plain and usual encoded forms, by ``***``."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= MINIMUM_SECRET for form in _forms(value)}
        longest_first = sorted(forms, key=len, reverse=True)
        self.longest = len(longest_first[0]) if longest_first else 0
        """Characters of the longest form: what a streaming reader must hold back at a chunk border."""
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def text(self, text: str) -> str:
        """Return ``text`` without any secret."""
        return self._pattern.sub("***", text) if self._pattern else text

    def data(self, data: bytes) -> bytes:
        """Return ``data`` without any secret; bytes that are not text stay as they are."""
        if self._pattern is None:
            return data
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _forms(value: str) -> set[str]:
    return {form for text in _texts(value) for form in _written(text)}


def _texts(value: str) -> set[str]:
    """Return the value and its lines: a diff, a log or a terminal shows a key of several lines one by one."""
    lines = [line.strip() for line in value.splitlines()]
    least = MINIMUM_SECRET if len(lines) == 1 else _MINIMUM_LINE
    return {value, *(line for line in lines if len(line) >= least)}


def _written(text: str) -> set[str]:
    raw = text.encode("utf-8", "surrogateescape")
    quoted = {quote(text, safe=""), quote(text)}
    escaped = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    # Which quote Python escapes depends on the text around it.
    shown = {show(text)[1:-1] for show in (repr, ascii)} | {repr(f"{text}'\"")[1:-4]}
    return {text, *quoted, *escaped, *shown, *_base64(raw)}


def _base64(raw: bytes) -> set[str]:
    """Return the secret in base64, alone, and as it stands inside of something longer, such as ``user:secret``."""
    forms = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(raw).decode().rstrip("="))
        for before in range(3):
            whole = encode(bytes(before) + raw).decode()
            inner = whole[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
            forms |= {inner} if len(inner) >= _MINIMUM_LINE else set()
    return forms

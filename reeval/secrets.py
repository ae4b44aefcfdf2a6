"""How are secret values kept out of everything that is written or shown?"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["MINIMUM_SECRET", "Masker"]

MINIMUM_SECRET = 4
"""A shorter value is not masked: it would hide ordinary text everywhere."""


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
    raw = value.encode("utf-8", "surrogateescape")
    aligned = {base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return {value, quote(value, safe=""), *aligned, *escaped}

"""Which attached files are images that a model can be sent? By their content, never by their name."""

from __future__ import annotations

from reeval.backends import Picture

__all__ = ["MOST_PICTURE", "as_picture"]

MOST_PICTURE = 5 * 1024 * 1024
"""Bytes of one image: what the providers take."""
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def as_picture(name: str, data: bytes) -> Picture | None:
    """Return an image that can be sent; None: it is none of png, jpeg, webp and gif, or too big."""
    if len(data) > MOST_PICTURE:
        return None
    found = next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = "image/webp"
    return Picture(name=name, media_type=found, data=data) if found else None

from __future__ import annotations

import pytest

from reeval.run.asking.pictures import MOST_PICTURE, as_picture

KINDS = [
    (b"\x89PNG\r\n\x1a\n....", "image/png"),
    (b"\xff\xd8\xff\xe0...", "image/jpeg"),
    (b"GIF89a...", "image/gif"),
    (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
]


@pytest.mark.parametrize(("data", "kind"), KINDS)
def test_an_image_is_known_by_its_content(data: bytes, kind: str) -> None:
    picture = as_picture("screen.txt", data)
    assert picture is not None
    assert (picture.name, picture.media_type, picture.data) == ("screen.txt", kind, data)


@pytest.mark.parametrize(
    "data", [b"", b"<svg>", b"%PDF", b"RIFF\x00\x00\x00\x00WAVE", b"\x89PNG\r\n\x1a\n" + bytes(MOST_PICTURE)]
)
def test_anything_else_is_no_image_that_can_be_sent(data: bytes) -> None:
    assert as_picture("screen.png", data) is None

"""How many bytes is a size, written as text such as ``5GB``?"""

from __future__ import annotations

import re

__all__ = ["parse_bytes"]

_TEXT = re.compile(r"(\d+(?:\.\d+)?) ?(kB|KB|MB|GB|TB)")
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def parse_bytes(value: object) -> int:
    """Return the bytes of ``"500MB"``, ``"5GB"`` or ``"1.5 TB"``; raise ``ValueError`` when it is no size."""
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("it should be a size, such as '500MB' or '5GB'")
    return int(float(found[1]) * _UNITS[found[2].lower()])

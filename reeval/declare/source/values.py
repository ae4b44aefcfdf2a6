"""What names a value, the same in every process? A digest of its content."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["value_digest"]

_PLACES = re.compile(r" at 0x[0-9a-fA-F]+|_reeval_[0-9a-f]{12}\.")
"""What a repr says about where an object lies: in memory, or its project on the disk."""
_DEPTH = 50


def value_digest(value: Any) -> str:
    """Return a digest of plain data, dataclasses, models and paths by content, of code by its qualified name."""
    return _digest(value, 0)


def _digest(value: Any, depth: int) -> str:
    if depth > _DEPTH:  # a value inside itself
        return _hash("deep", ())
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return _hash(type(value).__name__, (repr(value),))
    if isinstance(value, Mapping):
        # Order is part of a mapping as a body sees it, and not of a set.
        pairs = (part for pair in value.items() for part in pair)
        return _hash("mapping", (_digest(part, depth + 1) for part in pairs))
    if isinstance(value, list | tuple):
        return _hash("list", (_digest(part, depth + 1) for part in value))
    if isinstance(value, set | frozenset):
        return _hash("set", sorted(_digest(part, depth + 1) for part in value))
    return _object(value, depth)


def _object(value: Any, depth: int) -> str:
    # A module's name may hold where the project lies (see source.modules): its last part is enough.
    kind, content = f"{type(value).__module__.rpartition('.')[2]}.{type(value).__qualname__}", value
    if isinstance(value, FunctionType | type):
        kind, content = "code", value.__qualname__
    elif isinstance(value, ModuleType):
        kind, content = "module", value.__name__
    elif isinstance(value, partial):
        content = (value.func, value.args, value.keywords)
    elif isinstance(value, Enum):
        content = value.name
    elif isinstance(value, PurePath):
        kind, content = "path", value.as_posix()
    elif dataclasses.is_dataclass(value):
        content = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "model_dump"):
        content = value.model_dump()
    else:
        content = _shown(value)
    return _hash(kind, (_digest(content, depth + 1),))


def _shown(value: Any) -> str:
    try:
        return _PLACES.sub("", repr(value))
    except Exception as error:  # noqa: BLE001 - an author's __repr__; its type still names the value
        return type(error).__name__


def _hash(kind: str, parts: Iterable[str]) -> str:
    state = hashlib.sha256(kind.encode())
    for part in parts:
        state.update(b"\0")
        state.update(part.encode("utf-8", "surrogatepass"))
    return state.hexdigest()

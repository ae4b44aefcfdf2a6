"""The public DSL: a sorted table of names, resolved on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reeval.authoring import Attempt as Attempt

_HOMES = {
    "Attempt": "reeval.authoring",
}

__all__ = ["Attempt"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'reeval' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)

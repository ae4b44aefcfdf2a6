"""How is a kind found by its name? Each stands in a module that is loaded when it is asked for: most plans name few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

__all__ = ["KindsByModule"]

Kind = TypeVar("Kind")


class KindsByModule(Mapping[str, Kind]):
    """Kinds by name, each the ``KIND`` of a module."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._found: dict[str, Kind] = {}

    def __getitem__(self, name: str) -> Kind:
        if name not in self._found:  # asked for several times in every attempt
            self._found[name] = import_module(self._modules[name]).KIND
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

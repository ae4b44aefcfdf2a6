"""How do tokens and cost add up, when some of them are unknown?"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Usage"]


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens and US dollars of one spender. Unknown is None, and a sum with an unknown part is unknown."""

    input: int | None = None
    """Prompt tokens, without cache reads and writes."""
    output: int | None = None
    """Answer tokens, reasoning included."""
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    """The part of ``output`` spent on reasoning."""
    cost: float | None = None
    """US dollars."""

    def __add__(self, other: Usage) -> Usage:
        """Add field by field."""
        sums: dict[str, Any] = {
            name: _sum(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__
        }
        return Usage(**sums)

    @property
    def total(self) -> int | None:
        """Input, cache and output tokens together; unknown when input or output is."""
        if self.input is None or self.output is None:
            return None
        return self.input + self.output + (self.cache_read or 0) + (self.cache_write or 0)


def _sum(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right

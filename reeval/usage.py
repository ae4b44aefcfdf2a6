"""How do tokens and cost add up, when some of them are unknown?"""

from __future__ import annotations

from typing import TypeVar

import msgspec

__all__ = ["Usage"]

_Number = TypeVar("_Number", int, float)


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
        # Field by field in words: a long turn adds up for every call of its model.
        return Usage(
            input=_sum(self.input, other.input),
            output=_sum(self.output, other.output),
            cache_read=_sum(self.cache_read, other.cache_read),
            cache_write=_sum(self.cache_write, other.cache_write),
            reasoning=_sum(self.reasoning, other.reasoning),
            cost=_sum(self.cost, other.cost),
        )

    @property
    def total(self) -> int | None:
        """Input, cache and output tokens together; unknown when input or output is."""
        if self.input is None or self.output is None:
            return None
        return self.input + self.output + (self.cache_read or 0) + (self.cache_write or 0)


def _sum(left: _Number | None, right: _Number | None) -> _Number | None:
    return None if left is None or right is None else left + right

"""How do tokens and cost add up, when some of them are unknown, and how will a cost be known?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import msgspec

__all__ = ["ClaimedUsage", "Pricing", "Usage"]

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


@dataclass(frozen=True, kw_only=True)
class ClaimedUsage:
    """What each answer of a scripted agent or model claims to have used; what is not given stays unknown."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    """US dollars."""


class Pricing(msgspec.Struct, frozen=True, kw_only=True):
    """How it will be known what an agent or a model cost. With neither of both it will not."""

    given: bool = False
    """It says so itself."""
    price_list: str | None = None
    """By its tokens, whose price ``reeval.prices`` finds there: a provider's name or URL."""
    model: str | None = None
    """The model that is asked for; None: the agent's own choice."""


def _sum(left: _Number | None, right: _Number | None) -> _Number | None:
    return None if left is None or right is None else left + right

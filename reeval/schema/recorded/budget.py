"""What did a run spend of the budget that it was given?"""

from __future__ import annotations

import msgspec

__all__ = ["BudgetRecord"]


class BudgetRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``--budget``, counted from where the run began, or last went on."""

    limit: float
    """Dollars that might be spent."""
    spent: float
    """Dollars that are known to be spent, by agents, judges and questions."""
    unpriced: int = 0
    """Attempts that cost something which is not known: more was spent."""
    blind: str | None = None
    """What had an unknown cost at which the run stopped, an attempt by its key or an answer; None: nothing had."""
    stopped: bool = False
    """The run ended for it, and did not get to its end."""
    unstarted: int = 0
    """Attempts that were not started."""
    unasked: int = 0
    """Questions about an attempt or a pair that were not asked."""

"""Is there money left for another attempt? What agents, judges and questions cost so far, against ``--budget``."""

from __future__ import annotations

from reeval.grade.cells import attempt_cost
from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.budget import BudgetRecord
from reeval.usage import Usage

__all__ = ["Budget"]

_TRIFLE = 1e-9
"""Dollars: ten times $0.01 spend $0.10, whatever they add up to in binary."""


class Budget:
    """Adds up what is known. Once it says stop, it stays at that."""

    def __init__(self, limit: float, *, allow_unknown: bool) -> None:
        """``limit`` in dollars. Without ``allow_unknown`` what ends well and has no known cost stops it."""
        self._limit = limit
        self._allow_unknown = allow_unknown
        self._spent = 0.0
        self._unpriced = 0
        self._blind: str | None = None

    def attempt(self, record: AttemptRecord) -> None:
        """Count an attempt that ended, with its judges."""
        self._spent += sum(spent.usage.cost or 0.0 for spent in record.usage)
        if attempt_cost(record) is not None:
            return
        self._unpriced += 1
        # What was cut or broke cannot say what it cost; it is rare, while a harness that never says it is not.
        if record.failure is None:
            self._unknown(f"{record.eval}@{record.attempt}")

    def answer(self, model: str, usage: Usage) -> None:
        """Count an answer to a question."""
        self._spent += usage.cost or 0.0
        if usage.cost is None:
            self._unknown(f"an answer of {model}")

    def _unknown(self, what: str) -> None:
        if not self._allow_unknown and self._blind is None:
            self._blind = what

    @property
    def why_stop(self) -> str | None:
        """Say why nothing more may begin; None: it may."""
        if self._blind is not None:
            return f"it is not known what {self._blind} cost"
        return "the budget is spent" if self._spent >= self._limit - _TRIFLE else None

    def record(self, *, unstarted: int, unasked: int, in_order: bool) -> BudgetRecord:
        """Return what came of it; ``in_order``: nothing else ended the run before its end."""
        return BudgetRecord(
            limit=self._limit,
            spent=self._spent,
            unpriced=self._unpriced,
            blind=self._blind,
            stopped=in_order and unstarted + unasked > 0,
            unstarted=unstarted,
            unasked=unasked,
        )

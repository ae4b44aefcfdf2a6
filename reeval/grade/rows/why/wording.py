"""How are rows, columns and values named to people? Bounded, since names and values are the agent's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reeval.grade.observing.display import listing, squeeze
from reeval.schema.data.results import Column, ResultTable

__all__ = ["Tables", "columns_named", "count", "named"]


@dataclass(frozen=True)
class Tables:
    """Both results, for what is said about them."""

    truth: ResultTable
    answer: ResultTable
    answered: str = "The answer has"
    """How a sentence begins that goes on with how many rows the answer has."""

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows each has."""
        return self.truth.row_count, self.answer.row_count


def count(number: int, thing: str) -> str:
    """Return ``1 row``, ``2,000 rows``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def named(column: Column, at: int) -> str:
    """Return a column's name, or its position when it has none."""
    name = squeeze(column.name, 60)
    return f"`{name}`" if name else f"column {at + 1}"


def columns_named(columns: Sequence[Column], at: Sequence[int]) -> str:
    """Return ``column `a` `` or ``columns `a`, `b` ``."""
    names = listing((named(columns[one], one) for one in at), len(at))
    return f"column {names}" if len(at) == 1 else f"columns {names}"

"""What did a query give? A result: columns by position, rows as they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Column", "ResultTable"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column. Names may repeat: a column is addressed by its position."""

    name: str
    type: str
    """In DuckDB's words, upper case: ``BIGINT``, ``DECIMAL(18,2)``, ``TIMESTAMP WITH TIME ZONE``, ``VARCHAR[]``."""


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """The whole result of a query; never a part of it.

    A small one is ``rows`` of Python values (None is NULL), a large one ``arrow``, a ``pyarrow.Table``; exactly one of
    the two is there.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Any, ...]] | None = None
    arrow: Any = None

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        count: int = len(self.rows) if self.rows is not None else self.arrow.num_rows
        return count

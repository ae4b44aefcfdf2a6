"""Which engine reads two results?"""

from __future__ import annotations

from reeval.grade.rows.engines.engine import Engine
from reeval.grade.rows.engines.small import SmallEngine
from reeval.schema.data.results import ResultTable

__all__ = ["open_engine"]


def open_engine(truth: ResultTable, answer: ResultTable, *, exact: bool) -> Engine:
    """Return what reads both results."""
    return SmallEngine(truth, answer, exact=exact)

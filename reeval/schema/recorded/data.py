"""What is kept of a data question's attempt? Both queries, both results (bounded), and why it was no pass."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

__all__ = ["DataRecord", "Reason", "ResultSample"]


class Reason(StrEnum):
    """Why a data question did not pass."""

    ROW_COUNT = "Row count mismatch"
    MISSING_COLUMNS = "Missing columns"
    VALUE = "Value mismatch"
    UNEXPECTED_ROWS = "Unexpected rows"
    QUERY_ERROR = "Query error"
    NO_QUERY = "No query"
    """The agent ran none: a review."""
    UNDECIDED = "Undecided"
    """The comparison could not decide within its budget: a review."""
    AGENT_ERROR = "Agent error"
    TRUTH_FAILED = "Ground truth query failed"
    TRUTH_NOT_FOUND = "Ground truth not found"


class ResultSample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The head of a result, as people read it."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """The first rows, each cell JSON data or a text, bounded."""
    row_count: int = 0
    """Of the whole result."""


class DataRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One data question's answer beside the ground truth."""

    space: str
    question: str
    truth_sql: str | None = None
    certified_query: str | None = None
    agent_sql: str | None = None
    reason: Reason | None = None
    """None: it passed."""
    analysis: str = ""
    """In plain English: what differs, and the near cause where one is recognizable."""
    warnings: tuple[str, ...] = ()
    truth: ResultSample | None = None
    """None: the ground truth was not run, or failed."""
    agent: ResultSample | None = None
    differing: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...] = ()
    """Up to three pairs of expected and answered rows, by the ground truth's columns; an empty row: there is none."""

"""What is kept of a data question's attempt? Both queries, both results (bounded), and why it was no pass."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

__all__ = ["DataRecord", "Reason", "ResultSample"]


class Reason(StrEnum):
    """Why a data question did not pass."""

    ROW_COUNT = "Row count mismatch"
    """Too few or too many rows."""
    MISSING_COLUMNS = "Missing columns"
    """A column of the ground truth has no counterpart in the answer."""
    VALUE = "Value mismatch"
    """As many rows, other values."""
    UNEXPECTED_ROWS = "Unexpected rows"
    """Every expected row is there, and more."""
    QUERY_ERROR = "Query error"
    """The agent's query does not run."""
    NO_QUERY = "No query"
    """The agent ran none: a review."""
    UNDECIDED = "Undecided"
    """The comparison could not decide within its budget: a review."""
    AGENT_ERROR = "Agent error"
    """Its run failed, or took too long."""
    TRUTH_FAILED = "Ground truth query failed"
    """It does not run, whatever the agent did."""
    TRUTH_NOT_FOUND = "Ground truth not found"
    """The certified query that it names is not there."""


class ResultSample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The head of a result, as people read it."""

    columns: tuple[str, ...] = ()
    """Names of the first columns."""
    rows: tuple[tuple[Any, ...], ...] = ()
    """The first rows, each cell JSON data or a text, bounded."""
    row_count: int = 0
    """Of the whole result."""
    column_count: int = 0
    """Of the whole result."""


class DataRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One data question's answer beside the ground truth."""

    space: str
    """Where the question's name is unique."""
    question: str
    """Its name."""
    truth_sql: str | None = None
    """The ground truth; None: there is none."""
    certified_query: str | None = None
    """The certified query that it is from."""
    agent_sql: str | None = None
    """What the agent ran for its answer; None: nothing that could be found."""
    reason: Reason | None = None
    """None: it passed."""
    analysis: str = ""
    """In plain English: what differs, and the near cause where one is recognizable."""
    warnings: tuple[str, ...] = ()
    """What to know about the result: matched only after rounding, a ground truth that may be at fault."""
    truth: ResultSample | None = None
    """None: the ground truth was not run, or failed."""
    agent: ResultSample | None = None
    """None: the agent's query was not run, or failed."""
    differing: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...] = ()
    """Up to three pairs of expected and answered rows, by the ground truth's columns; an empty row: there is none."""

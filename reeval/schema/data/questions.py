"""What is a data question, and what does it ask of which database? Plain data of the plan."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AUTO_SPACE", "DEFAULT_MAX_ROWS", "DEFAULT_STATEMENT_TIMEOUT", "DataQuestion", "PlannedDatabase"]

AUTO_SPACE = "auto"
DEFAULT_STATEMENT_TIMEOUT = 60.0
"""Seconds."""
DEFAULT_MAX_ROWS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class DataQuestion:
    """One question with its ground truth."""

    name: str
    """Unique in its space."""
    space: str = AUTO_SPACE
    question: str
    sql: str | None = None
    """The ground truth; None: ``certified_query`` names none that there is."""
    certified_query: str | None = None
    """The certified query that ``sql`` came from, by name."""
    exact: bool = False
    """Numbers are compared as they are, not to 4 significant figures."""

    @property
    def id(self) -> str:
        """``auto/revenue``: what one can paste after ``reeval run``, whichever file it is in."""
        return f"{self.space}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class PlannedDatabase:
    """Where both queries of a data question run."""

    kind: str
    """``duckdb``, ``sqlite``, ``postgres``."""
    url: str
    """As configured, paths made absolute; a password in it is masked wherever it is shown."""
    statement_timeout: float = DEFAULT_STATEMENT_TIMEOUT
    max_rows: int = DEFAULT_MAX_ROWS
    target: str = "dev"
    """``dev``, ``staging``, ``prod``: a word for people, shown with the run."""

"""Which kinds of databases are there? By the name that a plan gives as its kind."""

from __future__ import annotations

from reeval.backends import DatabaseKind
from reeval.kinds import KindsByModule

__all__ = ["KINDS"]

KINDS: KindsByModule[DatabaseKind] = KindsByModule(
    {
        "duckdb": "reeval.databases.duckdb",
        "postgres": "reeval.databases.postgres",
        "sqlite": "reeval.databases.sqlite",
    }
)
"""Each is only ever read."""

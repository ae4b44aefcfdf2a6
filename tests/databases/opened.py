"""Opens databases the way a run does."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from reeval.backends import Database, QueryError
from reeval.databases.kinds import KINDS
from reeval.databases.urls import plan_database
from reeval.schema.data.results import ResultTable


@asynccontextmanager
async def opened(url: str, root: Path = Path("/"), **options: Any) -> AsyncIterator[Database]:
    planned = plan_database(url, root, os.environ, options=options)
    async with KINDS[planned.kind].open(planned, os.environ) as database:
        yield database


async def asked(database: Database, sql: str) -> ResultTable:
    async with database.snapshot() as snapshot:
        return await snapshot.query(sql)


async def refusal(database: Database, sql: str) -> str:
    """Why a query gives no result; the database answers again afterwards."""
    async with database.snapshot() as snapshot:
        try:
            found = await snapshot.query(sql)
        except QueryError as error:
            said = str(error)
        else:
            raise AssertionError(f"{sql!r} gave {found.row_count} rows")
    again = await asked(database, "SELECT 42 AS answer")
    assert again.rows == [(42,)]
    return said

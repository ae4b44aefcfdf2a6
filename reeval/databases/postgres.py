"""How is PostgreSQL queried, or a server that speaks its protocol? In a read-only transaction, where it has them.

What a server does not know (a semantic layer knows few settings and maybe no transactions) is left out: each is tried
once and its refusal remembered.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from reeval.backends import DatabaseKind, QueryError
from reeval.databases.postgres_types import column_type, plain_loaders
from reeval.databases.reach import refuse_reaching_out
from reeval.databases.schemas import create_tables
from reeval.databases.statements import read_query
from reeval.databases.worker.engine import Found
from reeval.databases.worker.pool import open_pool
from reeval.databases.worker.wire import Limits
from reeval.schema.data.results import Column

if TYPE_CHECKING:
    import psycopg

__all__ = ["KIND", "connect"]

_CONNECTING = 30
"""Seconds."""
_BATCH = 1_000
_BEGINNINGS = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN READ ONLY", "BEGIN")
"""From the best one on: one state for all queries, and no writing."""
_SAVE, _BACK = "SAVEPOINT reeval_query", "ROLLBACK TO SAVEPOINT reeval_query"
_READER = "SET ROLE pg_read_all_data"
"""A superuser may read the server's files and run its programs: queries run as somebody who may only read tables."""
_COLUMNS = """
    SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
    ORDER BY table_schema, table_name, ordinal_position
"""


def connect(url: str, limits: Limits) -> _Connection:
    """Connect to a server; raise ``QueryError`` when that cannot be done."""
    import psycopg

    try:
        connection = psycopg.connect(
            url, autocommit=True, connect_timeout=_CONNECTING, application_name="reeval", prepare_threshold=None
        )
    except psycopg.Error as error:
        said = str(error).strip().removeprefix("connection failed: ")
        raise QueryError(f"the database cannot be reached: {said}") from None
    return _Connection(connection, limits)


class _Connection:
    """Implements ``worker.engine.Connection``."""

    def __init__(self, connection: psycopg.Connection[Any], limits: Limits) -> None:
        import psycopg

        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self._connection = connection
        self._unknown: set[str] = set()
        self._beginning: str | None = None
        self._is_set = False
        self._is_saved = False
        for loader in plain_loaders(connection):
            connection.adapters.register_loader(*loader)
        # A little more than what the run itself waits, so that there is one message for it.
        self._try(f"SET statement_timeout = {int(limits.seconds * 1000) + 1000}")
        self._try("SET default_transaction_read_only = on")
        if connection.info.parameter_status("is_superuser") == "on":
            self._try(_READER)

    def begin(self) -> None:
        self._beginning = next((one for one in _BEGINNINGS if self._try(one)), None)

    def end(self) -> None:
        if self._beginning is not None:
            self._connection.execute("ROLLBACK")

    def query(self, sql: str) -> Found:
        query = read_query(sql, "postgres")
        refuse_reaching_out(query.statement, reads_only=self._beginning in _BEGINNINGS[:2])
        self._is_set = bool(query.settings)
        self._save()
        for setting in query.settings:
            self._connection.execute(setting.encode())
        cursor = self._connection.cursor()
        rows = _rows(cursor, query.statement.text)
        first = next(rows, [])
        if not first:
            # Nothing came, not even the names of the columns. In the binary form a text is one statement, as above.
            cursor.execute(query.statement.text.encode(), binary=True)
        columns = tuple(Column(name=one.name, type=column_type(self._connection, one)) for one in _described(cursor))
        return Found(columns=columns, rows=_from(first, rows))

    def settle(self, *, failed: bool) -> None:
        """Go back to before the query, with its settings undone; a server without savepoints begins anew."""
        if self._beginning is None:
            if self._is_set:
                self._try("RESET ALL")
            return
        if self._is_saved:
            self._connection.execute(_BACK)
            self._is_saved = False
        elif failed or self._is_set:
            self._begin_anew()

    def describe(self) -> str:
        return create_tables(self._connection.execute(_COLUMNS).fetchall(), default="public")

    def cancel(self) -> None:
        with suppress(Exception):
            self._connection.cancel_safe(timeout=1.0)

    def is_broken(self, _error: Exception) -> bool:
        return self._connection.closed or self._connection.broken

    def _save(self) -> None:
        if self._beginning is None or _SAVE in self._unknown:
            return
        self._is_saved = self._try(_SAVE)
        if not self._is_saved:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._connection.execute("ROLLBACK")
        self.begin()

    def _try(self, statement: str) -> bool:
        """Run what a server may not know; say whether it does."""
        import psycopg

        if statement in self._unknown:
            return False
        try:
            self._connection.execute(statement.encode())
        except psycopg.Error:
            if self._connection.closed or self._connection.broken:
                raise
            self._unknown.add(statement)
            return False
        return True


def _rows(cursor: psycopg.Cursor[Any], sql: str) -> Generator[Sequence[tuple[Any, ...]]]:
    """Yield rows as they come: the whole result stands nowhere, with or without cursors on the server's side."""
    rows: list[tuple[Any, ...]] = []
    # Also the protocol's own safeguard: a text that is streamed is one statement.
    for row in cursor.stream(sql.encode(), size=_BATCH):
        rows.append(row)
        if len(rows) == _BATCH:
            yield rows
            rows = []
    yield rows


def _described(cursor: psycopg.Cursor[Any]) -> Sequence[Any]:
    if not cursor.description:
        raise QueryError("the text asks nothing: it gives no columns")
    return cursor.description


def _from(first: Sequence[Any], rest: Generator[Sequence[Any]]) -> Generator[Sequence[tuple[Any, ...]]]:
    yield first
    yield from rest


KIND = DatabaseKind(name="postgres", open=partial(open_pool, __name__))
"""A PostgreSQL server, or another that speaks its protocol."""

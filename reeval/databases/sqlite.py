"""How is an SQLite file queried? Read-only, with an authorizer that lets nothing but reading through."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reeval.backends import DatabaseKind, QueryError
from reeval.databases.statements import read_query
from reeval.databases.worker.engine import Found
from reeval.databases.worker.pool import open_pool
from reeval.databases.worker.wire import Limits
from reeval.schema.data.results import Column

__all__ = ["KIND", "connect"]

_LONGEST_VALUE = 256 << 20
"""Bytes of one text: SQLite makes a value whole before it gives it."""
_BATCH = 1_000
_LOCK_WAIT = 5.0
"""Seconds to wait for a program that writes."""
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_PRAGMAS = frozenset({"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"})
_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
"""Functions that reach out of the database, where an SQLite has them."""
_STEPS = 10_000
"""Instructions between two looks at whether the query was ended."""


def connect(url: str, _limits: Limits) -> _Connection:
    """Open a file; raise ``QueryError`` when that cannot be done."""
    path = Path(url.partition(":")[2])
    if not path.is_file():
        raise QueryError(f"there is no file {str(path)!r}")
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_LOCK_WAIT, isolation_level=None,
            check_same_thread=False,
        )  # fmt: skip
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        raise QueryError(f"{str(path)!r} cannot be opened: {error}") from None
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return _Connection(connection)


class _Connection:
    """Implements ``worker.engine.Connection``."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ended = False
        connection.set_progress_handler(lambda: self._ended, _STEPS)

    def begin(self) -> None:
        self._connection.execute("BEGIN")
        # A transaction sees one state from its first read on: this is it.
        self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        self._connection.set_authorizer(_allowed)

    def end(self) -> None:
        self._connection.set_authorizer(None)
        self._connection.execute("ROLLBACK")

    def query(self, sql: str) -> Found:
        query = read_query(sql, "sqlite")
        cursor = self._connection.execute(query.statement.text)
        if cursor.description is None:
            raise QueryError("the text asks nothing: it gives no columns")
        columns = tuple(Column(name=name, type="") for name, *_ in cursor.description)
        return Found(columns=columns, rows=_rows(cursor))

    def settle(self, *, failed: bool) -> None:
        """Nothing is left of a query."""

    def describe(self) -> str:
        found = self._connection.execute(
            "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') AND sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        return "\n\n".join(f"{sql};" for (sql,) in found)

    def cancel(self) -> None:
        self._ended = True
        self._connection.interrupt()

    def is_broken(self, _error: Exception) -> bool:
        return isinstance(_error, sqlite3.InternalError)


def _allowed(action: int, first: str | None, second: str | None, _database: str | None, _view: str | None) -> int:
    if action in _READING:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _PRAGMAS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _rows(cursor: sqlite3.Cursor) -> Generator[Sequence[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(_BATCH):
        yield rows


KIND = DatabaseKind(name="sqlite", open=partial(open_pool, __name__))
"""An SQLite file."""

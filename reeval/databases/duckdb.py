"""How is a DuckDB file queried, or a folder of CSV and Parquet files? Read-only, and shut off from everything else."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb

from reeval.backends import DatabaseKind, QueryError
from reeval.databases.files import tables_of
from reeval.databases.schemas import create_tables
from reeval.databases.statements import QUERIES, WRITES, check_text, no_query, one_query, refusal, split
from reeval.databases.worker.engine import Found
from reeval.databases.worker.gather import SMALL
from reeval.databases.worker.pool import open_pool
from reeval.databases.worker.wire import Limits
from reeval.schema.data.results import Column

__all__ = ["KIND", "connect"]

_SHUT = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
}
_LOADED_BYTES = 256 << 20
"""CSV files up to this size together are read once; what is larger stays in its file."""
_BATCH = 20_000
"""Rows of a batch of Arrow's."""
_SETTINGS = (("set", "schema"), ("set", "search_path"))
_ALLOWED = "USE, and SET of schema or search_path,"
_QUERIES = QUERIES | {"from", "pivot", "unpivot", "describe", "summarize"}
_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()
    WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index
"""


def connect(url: str, limits: Limits) -> _Connection:
    """Open a file or a folder; raise ``QueryError`` when that cannot be done."""
    path = Path(url.partition(":")[2])
    memory = f"{limits.memory >> 20}MiB"
    config: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": limits.directory,
        "max_temp_directory_size": "16GiB",
    }
    try:
        if path.is_dir():
            connection = duckdb.connect(":memory:", config=config)
            _load(connection, path)
        elif path.is_file():
            connection = duckdb.connect(str(path), read_only=True, config=config)
        else:
            raise QueryError(f"there is no {str(path)!r}")
        for name, value in (*_SHUT.items(), ("lock_configuration", "true")):
            connection.execute(f"SET {name} = {value}")
    except duckdb.Error as error:
        raise QueryError(f"{str(path)!r} cannot be opened: {error}") from None
    return _Connection(connection)


def _load(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make a table of each CSV file and a view of each larger or Parquet file, which stay the only readable files."""
    tables = tables_of(folder)
    small = sum(one.size for one in tables if one.is_csv) <= _LOADED_BYTES
    connection.execute(f"SET allowed_paths = [{', '.join(_quoted(str(one.path)) for one in tables)}]")
    for one in tables:
        # Every row decides a column's type: a number in a million that is none is found here, not in a query.
        reader = f"read_csv({_quoted(str(one.path))}, sample_size = -1)" if one.is_csv else _quoted(str(one.path))
        kind = "TABLE" if one.is_csv and small else "VIEW"
        connection.execute(f"CREATE {kind} {_name(one.name)} AS SELECT * FROM {reader}")  # noqa: S608 - quoted


class _Connection:
    """Implements ``worker.engine.Connection``."""

    errors: tuple[type[Exception], ...] = (duckdb.Error,)

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._is_set = False

    def begin(self) -> None:
        self._connection.execute("BEGIN TRANSACTION READ ONLY")

    def end(self) -> None:
        self._connection.execute("ROLLBACK")

    def query(self, sql: str) -> Found:
        *before, last = _checked(sql)
        self._is_set = bool(before)
        for one in before:
            self._connection.execute(one)
        result = self._connection.execute(last)
        columns = tuple(Column(name=name, type=str(kind).upper().strip('"')) for name, kind, *_ in result.description)
        return Found(columns=columns, rows=_rows(result), arrow=lambda: self._arrow(last))

    def _arrow(self, sql: str) -> Any:
        # Again from the start: rows that were taken as Python's values cannot be given back.
        self._connection.abort()
        return self._connection.sql(sql).to_arrow_reader(_BATCH)

    def settle(self, *, failed: bool) -> None:
        """Undo settings, and leave a transaction that an error ended: nothing could be asked in it any more."""
        if failed:
            self._connection.abort()
            self._connection.execute("ROLLBACK")
        if self._is_set:
            self._connection.execute("RESET schema")
            self._is_set = False
        if failed:
            self.begin()

    def describe(self) -> str:
        return create_tables(self._connection.execute(_COLUMNS).fetchall(), default="main")

    def cancel(self) -> None:
        self._connection.interrupt()

    def is_broken(self, _error: Exception) -> bool:
        return isinstance(_error, duckdb.FatalException | duckdb.InternalException | duckdb.ConnectionException)


def _rows(result: duckdb.DuckDBPyConnection) -> Generator[Sequence[tuple[Any, ...]]]:
    while rows := result.fetchmany(SMALL + 1):
        yield rows


def _checked(sql: str) -> list[str]:
    """Return the statements to run; raise ``QueryError`` unless they are one query after harmless settings."""
    check_text(sql)
    kinds = duckdb.StatementType
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.ParserException:
        if not _QUERIES.union(WRITES).intersection(_words(sql)[:1]):
            raise no_query(sql) from None
        raise
    before, last = one_query(statements, lambda one: one.type == kinds.SET and _is_harmless(one.query), _ALLOWED)
    words = _words(last.query)
    # A PIVOT that looks for its values is several statements to the engine: it makes a type of them first.
    reads = {kinds.SELECT, kinds.EXPLAIN} if WRITES.intersection(words) else {kinds.SELECT, kinds.EXPLAIN, kinds.MULTI}
    if last.type not in reads:
        raise refusal(words[0].upper() if words[0] in WRITES else last.type.name)  # INSTALL is a LOAD to the engine
    if last.type == kinds.EXPLAIN and "analyze" in takewhile(lambda word: word not in _QUERIES, words[1:]):
        raise refusal("EXPLAIN ANALYZE")
    return [one.query for one in (*before, last)]


def _is_harmless(sql: str) -> bool:
    words = tuple(word for word in _words(sql) if word != "session")
    return words[:1] == ("use",) or words[:2] in _SETTINGS


def _words(sql: str) -> tuple[str, ...]:
    return next((one.words for one in split(sql, "postgres")), ())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


KIND = DatabaseKind(name="duckdb", open=partial(open_pool, __name__))
"""A DuckDB file, or a folder of CSV and Parquet files."""

"""What does SQL say about all runs? The history, brought up to date, then read with no way to anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import _duckdb as duckdb  # the engine: with the package around it, loading takes five times as long

from reeval.errors import RecordError, UsageError
from reeval.record.history_file import (
    BusyError,
    Connection,
    Runs,
    attach,
    bring_in,
    create,
    first_line,
    is_current,
    literal,
    locked,
    mark_of,
    memory,
    problems,
    update,
)
from reeval.record.store import RunDirectory, RunStore
from reeval.record.tables import TABLES, VIEWS, table_list

__all__ = ["Answer", "history_path", "index_run", "query"]

Say = Callable[[str], None]

_AT_RUN_END = 2.0
_AT_QUERY = 10.0
"""Seconds to wait for another process."""
_READS = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_DAMAGE = (
    duckdb.Error,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.IOException,
    duckdb.SerializationException,
)
"""What a query raises when it reads a block that is damaged; everything else is the query's own fault."""
_NO_TABLE = re.compile(r"Table with name (\S+) does not exist")
_NAMES = (*(table.name for table in TABLES), *(view.name for view in VIEWS))


@dataclass(frozen=True)
class Answer:
    """The result of a query; its rows are read while the query's block is open."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def history_path(store: RunStore) -> Path:
    """Return where the history of a project is."""
    return store.directory / "history.duckdb"


def index_run(store: RunStore, run: RunDirectory, say: Say, *, patience: float = _AT_RUN_END) -> bool:
    """Bring a run that has ended into the history; False when that is left to the next query.

    It never raises for a history that cannot be written: the records are whole without it.
    """
    path = history_path(store)
    if not _can_hold(store):
        return False
    try:
        with locked(path, write=True, patience=patience):
            for text in update(path, _marked([run]), whole=False):
                say(text)
    except BusyError:
        return False
    except (RecordError, duckdb.Error) as error:
        say(f"the history was not brought up to date, the next query will do it: {first_line(error)}")
        return False
    return True


@contextmanager
def query(
    store: RunStore, text: str, say: Say, *, run: RunDirectory | None = None, parquet: Path | None = None
) -> Iterator[Answer]:
    """Answer one read statement, or show one table, of all runs or of one.

    ``say`` gets what a person should know besides: a history that was built again, runs that are left out. With
    ``parquet`` the answer goes into that file, and has one row: how many rows that were. Raises ``UsageError`` for a
    statement that cannot be answered, ``RecordError`` for records that cannot be read.
    """
    sql, say = _statement(text), _once(say)
    for again in (False, True):
        with _opened(store, run, say, rebuild=again) as connection:
            _restrict(connection, run, parquet)
            try:
                answer = _answer(connection, sql, parquet)
            except duckdb.Error as error:
                if again:
                    raise RecordError(f"{history_path(store)}: cannot be read: {first_line(error)}") from error
                continue
            yield answer
            return


# --- the statement ------------------------------------------------------------------------------------


def _statement(text: str) -> str:
    """Return the one read statement in ``text``; a table's name is short for all of it."""
    name = text.strip().rstrip(";").strip()
    if re.fullmatch(r"\w+", name):
        if name.lower() not in _NAMES:
            raise UsageError(_unknown(name))
        return f'FROM "{name.lower()}"'
    with memory() as connection:
        try:
            statements = connection.extract_statements(text)
        except duckdb.Error as error:
            raise UsageError(f"the query is no SQL that DuckDB reads: {error}") from error
    if len(statements) != 1 or statements[0].type not in _READS:
        what = "nothing" if not statements else " and ".join(one.type.name for one in statements)
        raise UsageError(f"query takes one SELECT (or FROM, WITH, DESCRIBE, EXPLAIN) or a table's name, not {what}")
    return text.strip().rstrip(";")


def _unknown(name: str) -> str:
    near = get_close_matches(name.lower(), _NAMES, n=1)
    meant = f"; did you mean {near[0]}?" if near else "."
    return f"there is no table {name!r}{meant} These are the tables and their columns:\n{table_list()}"


def _answer(connection: Connection, sql: str, parquet: Path | None) -> Answer:
    try:
        if parquet is None:
            connection.execute(sql)
        else:
            # The end of the line ends a comment at the end of the statement.
            connection.execute(f"COPY ({sql}\n) TO {literal(str(parquet))} (FORMAT parquet, USE_TMP_FILE false)")
    except duckdb.Error as error:
        if type(error) in _DAMAGE:
            raise
        raise _refusal(error) from error
    return Answer(tuple(column[0] for column in connection.description or ()), _rows(connection))


def _rows(connection: Connection) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := connection.fetchmany(1000):
            yield from rows
    except duckdb.Error as error:
        raise _refusal(error) from error


def _refusal(error: duckdb.Error) -> UsageError:
    missing = _NO_TABLE.search(str(error)) if isinstance(error, duckdb.CatalogException) else None
    return UsageError(_unknown(missing[1]) if missing else str(error))


# --- the history, open --------------------------------------------------------------------------------


def _restrict(connection: Connection, run: RunDirectory | None, parquet: Path | None) -> None:
    """Put the tables and views in reach, of one run only when there is one, and everything else out of it."""
    where = "" if run is None else f" WHERE run_id = {literal(run.id)}"
    for table in TABLES:
        connection.execute(f'CREATE VIEW "{table.name}" AS FROM history."{table.name}"{where}')
    for view in VIEWS:
        connection.execute(f'CREATE VIEW "{view.name}" AS {view.sql}')
    if parquet is not None:
        connection.execute(f"SET allowed_paths = [{literal(str(parquet))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _can_hold(store: RunStore) -> bool:
    """Say whether a history can be in this project: DuckDB takes what follows a ``?`` in a path for options."""
    return "?" not in str(history_path(store))


@contextmanager
def _opened(store: RunStore, run: RunDirectory | None, say: Say, *, rebuild: bool) -> Iterator[Connection]:
    """Yield a connection with the history attached, every run in it."""
    outside = run is not None and run.path.parent.resolve() != store.runs.resolve()
    if outside or not store.directory.is_dir() or not _can_hold(store):
        with _in_memory(_marked([run]) if outside and run else _wanted(store, say), say) as connection:
            yield connection
        return
    with ExitStack() as stack:
        try:
            connection = _from_file(store, say, stack, rebuild=rebuild)
        except RecordError as error:
            if isinstance(error, BusyError) or not isinstance(error.__cause__, OSError | duckdb.Error):
                raise
            say(f"{error}; this answer comes from memory")
            connection = stack.enter_context(_in_memory(_wanted(store, say), say))
        yield connection


def _from_file(store: RunStore, say: Say, stack: ExitStack, *, rebuild: bool) -> Connection:
    path = history_path(store)
    for _ in range(3):  # between two locks another process may have its turn
        runs = _wanted(store, say)
        with ExitStack() as trial:
            trial.enter_context(locked(path, write=False, patience=_AT_QUERY))
            connection = trial.enter_context(memory())
            if not rebuild and is_current(connection, path, runs):
                stack.push(trial.pop_all())
                for text in problems(connection):
                    say(text)
                return connection
        with locked(path, write=True, patience=_AT_QUERY):
            for text in update(path, runs, whole=True, rebuild=rebuild):
                say(text)
        rebuild = False
    raise BusyError(f"{path}: other processes keep changing it; try again")


@contextmanager
def _in_memory(runs: Runs, say: Say) -> Iterator[Connection]:
    with memory() as connection, TemporaryDirectory(prefix="reeval-") as staging:
        attach(connection, None, write=True)
        create(connection)
        for text in bring_in(connection, runs, [], Path(staging)):
            say(text)
        yield connection


def _wanted(store: RunStore, say: Say) -> Runs:
    """Return the runs that an answer is about, the oldest first."""
    ended = []
    for run in reversed(store.list()):
        if run.is_alive():
            say(f"{run.id} is still running: what it finished is not in this answer")
        else:
            ended.append(run)
    return _marked(ended)


def _marked(runs: Iterable[RunDirectory]) -> Runs:
    return [(run, mark) for run in runs if (mark := mark_of(run))]


def _once(say: Say) -> Say:
    """Return a ``say`` that does not repeat itself."""
    said: set[str] = set()

    def new(text: str) -> None:
        if text not in said:
            said.add(text)
            say(text)

    return new

"""How is the DuckDB file opened, filled and kept whole, when several processes want it at once?

One process writes at a time, under a lock of its own beside the file; readers share that lock. The file is an index:
whatever is wrong with it (missing, damaged, of another version) is mended by building it again from the records.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import _duckdb as duckdb  # the engine: with the package around it, loading takes five times as long

from reeval.errors import RecordError
from reeval.record.compile import load_record
from reeval.record.history_rows import MAX_ROW, RowFiles
from reeval.record.store import RunDirectory
from reeval.record.tables import TABLES, create_statements
from reeval.record.writer import writing

__all__ = [
    "BusyError",
    "Connection",
    "Mark",
    "Runs",
    "attach",
    "bring_in",
    "create",
    "first_line",
    "is_current",
    "literal",
    "locked",
    "mark_of",
    "memory",
    "problems",
    "update",
]

Connection = duckdb.DuckDBPyConnection
Mark = tuple[int, int]
"""Size and time of a journal: another one means that the run went on."""
Runs = list[tuple[RunDirectory, Mark]]

_BATCH = 20_000
"""Attempts that are brought in by one transaction."""
_AGAIN = "ask again: reeval query"
_STAGING = "indexing-"
_ABOUT = (
    "CREATE SCHEMA about",
    "CREATE TABLE about.indexed (run_id VARCHAR, size BIGINT, changed BIGINT, problem VARCHAR)",
    "CREATE TABLE about.version (definition VARCHAR)",
)


class BusyError(RecordError):
    """Another process holds the history."""


# --- who may -----------------------------------------------------------------------------------------


@contextmanager
def locked(history: Path, *, write: bool, patience: float) -> Iterator[None]:
    """Hold the history's lock; raise ``BusyError``, naming the holder, after ``patience`` seconds."""
    path = history.with_suffix(".lock")
    with writing(path, _AGAIN):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _wait(fd, history, fcntl.LOCK_EX if write else fcntl.LOCK_SH, patience)
        if write:
            with writing(path, _AGAIN):
                os.ftruncate(fd, 0)
                os.pwrite(fd, f"pid {os.getpid()} ({_command()})".encode("utf-8", "replace"), 0)
        yield
    finally:
        os.close(fd)


def _wait(fd: int, history: Path, kind: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(fd, 500, 0).decode("utf-8", "replace") or "another process"
                raise BusyError(f"{history}: {holder} holds it for more than {patience:g} s; try again") from None
            time.sleep(0.02)
        except OSError:
            return  # a file system without locks


def _command() -> str:
    words = [Path(sys.argv[0]).name, *sys.argv[1:3]] if sys.argv else ["python"]
    return " ".join(words)[:200]


# --- opening -----------------------------------------------------------------------------------------


def memory(*, threads: int | None = None) -> Connection:
    """Return a connection that keeps to itself: nothing is loaded, and no Python variable is a table."""
    options: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "temp_directory": "",
    }
    if threads:
        options["threads"] = str(threads)
    return duckdb.connect(config=options)


def attach(connection: Connection, path: Path | None, *, write: bool) -> None:
    """Attach a history as ``history``; None is an empty one in memory. Raises ``duckdb.Error`` for a damaged one."""
    place = ":memory:" if path is None else str(path)
    options = "BLOCK_SIZE 16384" if write else "READ_ONLY"
    try:
        connection.execute(f"ATTACH {literal(place)} AS history ({options})")
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise BusyError(f"{path}: another program has it open; close that, then try again ({error})") from error
        raise


def create(connection: Connection) -> None:
    """Make the empty tables in an attached ``history``."""
    connection.execute("USE history")
    with _transaction(connection):
        for statement in create_statements():
            connection.execute(statement)
        for statement in _ABOUT:
            connection.execute(statement)
        connection.execute("INSERT INTO about.version VALUES (?)", [_version()])
    connection.execute("USE memory")


def mark_of(run: RunDirectory) -> Mark | None:
    """Return the mark of a run; None when its journal is gone."""
    try:
        stat = run.journal.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


def is_current(connection: Connection, path: Path, runs: Runs) -> bool:
    """Attach a history for reading and say whether it holds exactly these runs; if not, ``update`` is due."""
    if not path.is_file():
        return False
    try:
        attach(connection, path, write=False)
        return _indexed(connection) == {run.id: mark for run, mark in runs}
    except duckdb.Error:
        return False


def _indexed(connection: Connection) -> dict[str, Mark] | None:
    """Return the runs that are in the attached ``history``; None when it is of another version."""
    found = connection.execute("SELECT definition FROM history.about.version").fetchall()
    if found != [(_version(),)]:
        return None
    rows = connection.execute("SELECT run_id, size, changed, problem FROM history.about.indexed").fetchall()
    return {run_id: (size, changed) for run_id, size, changed, _ in rows}


def _version() -> str:
    """Return what a history of this reeval says of itself: another one has other tables."""
    return sha256("\n".join([*create_statements(), *_ABOUT]).encode()).hexdigest()[:16]


def problems(connection: Connection) -> list[str]:
    """Return what is wrong with runs that are left out of the attached ``history``."""
    rows = connection.execute("SELECT problem FROM history.about.indexed WHERE problem IS NOT NULL").fetchall()
    return [text for (text,) in rows]


# --- filling -----------------------------------------------------------------------------------------


def update(path: Path, runs: Runs, *, whole: bool, rebuild: bool = False) -> list[str]:
    """Bring runs into the history file, under its write lock, and return what is to be said.

    With ``whole`` these are all runs: others in it are gone. A file that cannot be read is built again from ``runs``.
    """
    reason = "was damaged" if rebuild else "is not there"
    if path.is_file() and not rebuild:
        try:
            with memory(threads=1) as connection:
                attach(connection, path, write=True)
                known = _indexed(connection)
                if known is not None:
                    new = [(run, mark) for run, mark in runs if known.get(run.id) != mark]
                    gone = known.keys() - {run.id for run, _ in runs} if whole else set()
                    changed = {run.id for run, _ in new if run.id in known}
                    said = bring_in(connection, new, sorted(gone | changed), path.parent)
                    connection.execute("DETACH history")
                    return said
            reason = "is of another version"
        except duckdb.Error as error:
            reason = f"is damaged ({first_line(error)})"
    said = _build(path, runs)
    if whole or reason != "is not there":
        said.insert(0, f"{path.name} {reason}: built again from {len(runs)} run{'' if len(runs) == 1 else 's'}")
    return said


def _build(path: Path, runs: Runs) -> list[str]:
    """Make a history beside the old one, then put it in its place."""
    new = path.with_suffix(".new")
    for old in (new, _log(new)):
        old.unlink(missing_ok=True)
    try:
        with memory(threads=1) as connection:
            attach(connection, new, write=True)
            create(connection)
            said = bring_in(connection, runs, [], path.parent)
            connection.execute("DETACH history")
        _log(path).unlink(missing_ok=True)
        new.replace(path)
    except (duckdb.Error, OSError) as error:
        raise RecordError(f"{path}: cannot be written: {first_line(error)}") from error
    finally:
        for old in (new, _log(new)):
            old.unlink(missing_ok=True)
    return said


def _log(path: Path) -> Path:
    """Return where DuckDB keeps what it did not yet write into the file."""
    return path.with_name(f"{path.name}.wal")


def bring_in(connection: Connection, runs: Runs, stale: list[str], staging: Path) -> list[str]:
    """Take the rows of ``stale`` run ids out of an attached ``history``, then put runs in, a batch at a time.

    Returns what is to be said: runs that could not be read. They are not tried again until they change.
    """
    said: list[str] = []
    _delete(connection, stale)
    rest = list(reversed(runs))
    while rest:
        with _staging(staging) as directory, RowFiles(directory) as rows:
            batch: list[list[object]] = []
            while rest and rows.attempts < _BATCH:
                run, mark = rest.pop()
                problem = _add(rows, run)
                said += [problem] if problem else []
                batch.append([run.id, *mark, problem])
            _insert(connection, batch, rows.done())
    return said


def _add(rows: RowFiles, run: RunDirectory) -> str | None:
    try:
        rows.add(run, load_record(run))
    except RecordError as error:
        return f"left out of the history: {error}"
    return None


def _insert(connection: Connection, runs: list[list[object]], files: dict[str, Path]) -> None:
    with _transaction(connection):
        for table in TABLES:
            if table.name in files:
                connection.execute(_copy(table.name, files[table.name]))
        connection.executemany("INSERT INTO history.about.indexed VALUES (?, ?, ?, ?)", runs)


def _delete(connection: Connection, run_ids: list[str]) -> None:
    if not run_ids:
        return
    with _transaction(connection):
        for name in (*(f'"{table.name}"' for table in TABLES), "about.indexed"):
            connection.execute(f"DELETE FROM history.{name} WHERE run_id IN (SELECT unnest(?))", [run_ids])  # noqa: S608


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN TRANSACTION")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise


def _copy(name: str, file: Path) -> str:
    (table,) = (table for table in TABLES if table.name == name)
    columns, values = [], []
    for column in table.columns:
        is_time = column.type == "TIMESTAMP"
        columns.append(f"'{column.name}': '{'BIGINT' if is_time else column.type}'")
        values.append(f'make_timestamp_ms("{column.name}")' if is_time else f'"{column.name}"')
    return (  # every name is one of TABLES
        f'INSERT INTO history."{name}" SELECT {", ".join(values)} FROM read_json({literal(_no_pattern(file))}, '  # noqa: S608
        f"format = 'newline_delimited', columns = {{{', '.join(columns)}}}, maximum_object_size = {MAX_ROW})"
    )


def _no_pattern(path: Path) -> str:
    """Return a path of which DuckDB takes nothing for a pattern."""
    return re.sub(r"([\[*?])", r"[\1]", str(path))


@contextmanager
def _staging(parent: Path) -> Iterator[Path]:
    """Make a directory for row files; a killed process's is removed by the next one."""
    for old in parent.glob(f"{_STAGING}*"):
        shutil.rmtree(old, ignore_errors=True)
    with writing(parent, _AGAIN):
        directory = Path(tempfile.mkdtemp(prefix=_STAGING, dir=parent))
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: Exception) -> str:
    """Return what an error says, without its details."""
    return str(error).partition("\n")[0]

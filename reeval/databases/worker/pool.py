"""How does a run query a database? Through processes that each hold a connection and serve one snapshot at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from reeval.backends import Database, QueryError, Snapshots
from reeval.databases.urls import database_secrets, expanded
from reeval.databases.worker.process import WorkerProcess
from reeval.databases.worker.wire import Limits, Opening, Request, ResultFile, ResultRows
from reeval.schema.data.questions import PlannedDatabase
from reeval.schema.data.results import ResultTable
from reeval.secrets import Masker

__all__ = ["open_pool"]

_AT_ONCE = max(2, min(4, os.cpu_count() or 1))
"""Snapshots at once: each may take a processor and its memory."""
_MAX_BYTES = 1_900 << 20
_ENGINE_MEMORY = 2 << 30
_OPENING = 60.0
"""Seconds that a connection may take."""
_ENDING = 10.0
_BEGUN = f"the database began no transaction within {_OPENING:g} s"
_TOLD = f"the database gave no schema within {_OPENING:g} s"
_DESCRIBED = 60_000
"""Characters of a schema: what a prompt can hold."""


@asynccontextmanager
async def open_pool(module: str, planned: PlannedDatabase, environ: Mapping[str, str]) -> AsyncIterator[Database]:
    """Open a database whose connections are made by ``connect`` of a module; nothing is started yet."""
    masker = Masker(database_secrets(planned, environ))
    with tempfile.TemporaryDirectory(prefix="reeval-", ignore_cleanup_errors=True) as directory:
        limits = Limits(
            max_rows=planned.max_rows,
            max_bytes=_MAX_BYTES,
            memory=_ENGINE_MEMORY,
            seconds=planned.statement_timeout,
            directory=directory,
        )
        url = expanded(planned.url, environ, "[data]: database")
        pool = _Pool(Opening(module=module, url=url, limits=limits), environ, masker)
        try:
            yield pool
        finally:
            with anyio.CancelScope(shield=True):
                await pool.close()


class _Pool:
    """Implements ``backends.Database``."""

    def __init__(self, opening: Opening, environ: Mapping[str, str], masker: Masker) -> None:
        self._opening = opening
        self._environ = environ
        self._masker = masker
        self._places = anyio.CapacityLimiter(_AT_ONCE)
        self._idle: list[WorkerProcess] = []

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshots]:
        """Take a connection that is free, or make one, and begin a transaction."""
        async with self._places, self._worker(Request(what="begin"), _BEGUN) as (worker, _):
            try:
                yield _Snapshot(worker, self._opening.limits.seconds)
            finally:
                with anyio.CancelScope(shield=True):
                    await _ended(worker)

    async def describe(self) -> str:
        """Return the schema, and say how much of it was left out."""
        async with self._places, self._worker(Request(what="describe"), _TOLD) as (_, value):
            text = str(value)
        if len(text) <= _DESCRIBED:
            return text
        whole = text[:_DESCRIBED].rpartition("\n\n")[0]
        left = text.count("CREATE ") - whole.count("CREATE ")
        return f"{whole}\n\n-- {left} more tables are left out"

    async def close(self) -> None:
        """End every process."""
        async with anyio.create_task_group() as tasks:
            while self._idle:
                tasks.start_soon(self._idle.pop().stop)

    @asynccontextmanager
    async def _worker(self, first: Request, late: str) -> AsyncIterator[tuple[WorkerProcess, Any]]:
        """Yield a process with its answer to a first request, and keep it for others if it still lives then."""
        worker, value = await self._answering(first, late)
        try:
            yield worker, value
        finally:
            if worker.is_alive:
                self._idle.append(worker)

    async def _answering(self, first: Request, late: str) -> tuple[WorkerProcess, Any]:
        while True:
            is_new = not self._idle
            worker = await self._started() if is_new else self._idle.pop()
            try:
                return worker, await worker.ask(first, _OPENING, late)
            except QueryError:
                if worker.is_alive:
                    self._idle.append(worker)
                if worker.is_alive or is_new:
                    raise
                # Its connection ended while nobody used it; the next one, or a new one, tells whether the server did.

    async def _started(self) -> WorkerProcess:
        worker = await WorkerProcess.start(self._environ, self._masker)
        await worker.ask(self._opening, _OPENING, f"the database could not be opened within {_OPENING:g} s")
        return worker


class _Snapshot:
    """Implements ``backends.Snapshots``."""

    def __init__(self, worker: WorkerProcess, seconds: float) -> None:
        self._worker = worker
        self._seconds = seconds

    async def query(self, sql: str) -> ResultTable:
        """Run one query in the snapshot."""
        request = Request(what="query", sql=sql.encode("utf-8", "replace").decode())
        late = f"the query did not end within {self._seconds:g} s (statement_timeout of [data])"
        value = await self._worker.ask(request, self._seconds, late)
        if isinstance(value, ResultFile):
            return ResultTable(columns=value.columns, arrow=await anyio.to_thread.run_sync(_mapped, value.path))
        assert isinstance(value, ResultRows)
        return ResultTable(columns=value.columns, rows=value.rows)


async def _ended(worker: WorkerProcess) -> None:
    """End the snapshot; a connection that cannot is dropped, and nobody waits for it."""
    if not worker.is_alive:
        return
    try:
        await worker.ask(Request(what="end"), _ENDING, "the database did not end its transaction")
    except QueryError:
        await worker.stop()


def _mapped(path: str) -> Any:
    """Read an Arrow file without a copy: its pages are the system's to drop. The name goes, the content stays."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(path)).read_all()
    finally:
        Path(path).unlink()

"""Where do the queries of a run's data questions run? In one database, opened by the first that needs it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from contextvars import Context
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio

from reeval.backends import Database, DatabaseKind, QueryError, Snapshots
from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Catalog
from reeval.run.room.keeper import Keeper
from reeval.schema.data.questions import PlannedDatabase
from reeval.schema.plan import Plan

__all__ = ["AT_ONCE", "RunDatabase"]

T = TypeVar("T")

AT_ONCE = max(2, min(8, os.cpu_count() or 2))
"""Questions that are graded at once: each holds two whole results in memory."""
OPENING = 60.0
"""Seconds that opening may take."""


class RunDatabase:
    """The database of a plan. ``async with`` it; nothing is opened before the first question."""

    def __init__(self, plan: Plan, catalog: Catalog, environ: Mapping[str, str]) -> None:
        """``environ`` are the host's variables."""
        self._planned = plan.database
        self._catalog = catalog
        self._environ = environ
        self._keeper: Keeper[Database] | None = None
        self._limiter: anyio.CapacityLimiter | None = None
        self._once: dict[tuple[str, str], asyncio.Task[Any]] = {}

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still runs and close what was opened."""
        with anyio.CancelScope(shield=True):
            for task in self._once.values():
                task.cancel()
            await asyncio.gather(*self._once.values(), return_exceptions=True)
            if self._keeper is not None:
                await self._keeper.close()

    @property
    def kind(self) -> str:
        """Which of the kinds of databases it is."""
        return self._planned.kind if self._planned else ""

    @property
    def grading(self) -> anyio.CapacityLimiter:
        """What to hold while results are in memory."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(AT_ONCE)
        return self._limiter

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshots]:
        """Begin to read one state of the database; raise ``QueryError`` when it cannot be had."""
        database = await self._opened()
        async with database.snapshot() as snapshot:
            yield snapshot

    async def schema(self) -> str:
        """Return its tables, for a prompt; asked for once a run. Raises ``QueryError``."""

        async def describe() -> str:
            return await (await self._opened()).describe()

        return await self.once("schema", "", describe)

    async def once(self, what: str, of: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what ``make`` returned or raised for the first who asked for ``what`` of ``of`` in this run."""
        task = self._once.get((what, of))
        if task is None:
            # A task of its own: the attempt that asks first may be cancelled while others wait.
            task = self._once[what, of] = asyncio.get_running_loop().create_task(make(), context=Context())
            task.add_done_callback(_retrieved)
        result: T = task.result() if task.done() else await asyncio.shield(task)
        return result

    async def _opened(self) -> Database:
        if self._planned is None:
            raise QueryError("no database is configured; write `database` into [data] of the config")
        if self._keeper is None:
            planned, kind = self._planned, self._catalog.databases[self._planned.kind]
            self._keeper = Keeper(
                lambda _clock: _open(kind, planned, self._environ),
                phase=Phase.TRUTH,
                what="the database",
                limit=OPENING,
            )
        try:
            return await self._keeper.value()
        except InfrastructureError as error:
            raise QueryError(error.reason) from error


@asynccontextmanager
async def _open(kind: DatabaseKind, planned: PlannedDatabase, environ: Mapping[str, str]) -> AsyncIterator[Database]:
    try:
        opened = kind.open(planned, environ)
        database = await opened.__aenter__()
    except QueryError as error:
        raise InfrastructureError(Phase.TRUTH, f"the database cannot be opened: {error}") from error
    try:
        yield database
    finally:
        await opened.__aexit__(None, None, None)


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()

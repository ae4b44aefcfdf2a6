"""How does something stay open while those who use it come and go? A task of its own holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from typing import Generic, TypeVar

from reeval.errors import InfrastructureError, Phase
from reeval.run.room.clock import Clock
from reeval.run.room.faults import infrastructure_error

__all__ = ["Keeper"]

T = TypeVar("T")

CLEAN_UP = 30.0
"""Seconds that closing may take before it is cancelled."""


class Keeper(Generic[T]):
    """Opens a context manager at once, in a task, and closes it in that same task.

    The first user may be a subtask of a body, or a call that the body gives up: entering there would tie the resource
    to a cancel scope that ends before it. ``asyncio`` tasks and not a task group for the same reason.
    """

    def __init__(
        self, open: Callable[[Clock], AbstractAsyncContextManager[T]], *, phase: Phase, what: str, limit: float
    ) -> None:
        self.clock = Clock(limit)
        """Runs while it opens; when it expires, opening has failed."""
        self._phase = phase
        self._what = what
        self._ready: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # A context of its own: what a resource prints or starts is not the body's.
        self._task = asyncio.get_running_loop().create_task(self._hold(open), context=Context())

    @property
    def opened(self) -> T | None:
        """What is open; None while it is not, or when it failed."""
        if self._ready.done() and not self._ready.cancelled() and self._ready.exception() is None:
            return self._ready.result()
        return None

    async def value(self) -> T:
        """Wait until it is open; raise what kept it from opening, to everyone who waits."""
        if self._ready.done():
            return self._ready.result()
        return await asyncio.shield(self._ready)

    async def close(self) -> BaseException | None:
        """End it, also while it still opens; return what went wrong after it was open."""
        if not self._closing.done():
            self._closing.set_result(None)
        if not self._ready.done():
            self._task.cancel()
        if not self._task.done():
            await asyncio.wait({self._task}, timeout=CLEAN_UP)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLEAN_UP)
            return TimeoutError(f"{self._what} did not close within {CLEAN_UP:g} s")
        return None if self._task.cancelled() else self._task.exception()

    async def _hold(self, open: Callable[[Clock], AbstractAsyncContextManager[T]]) -> None:
        self.clock.start(self._task_cancel)
        try:
            async with open(self.clock) as value:
                self.clock.stop()
                self._ready.set_result(value)
                await self._closing
        except BaseException as error:
            self.clock.stop()
            if self._ready.done():
                raise
            self._ready.set_exception(self._failure(error))
            self._ready.exception()  # Retrieved: there may be nobody left who waits.

    def _task_cancel(self) -> None:
        self._task.cancel()

    def _failure(self, error: BaseException) -> InfrastructureError:
        if self.clock.expired or isinstance(error, asyncio.CancelledError):
            late = f"{self._what} did not start within {self.clock.limit:g} s; raise its start_timeout if it is slow"
            reason = late if self.clock.expired else f"{self._what} was closed before it started"
            return InfrastructureError(self._phase, reason, retryable=self.clock.expired)
        return infrastructure_error(error, self._phase, f"{self._what} did not start")

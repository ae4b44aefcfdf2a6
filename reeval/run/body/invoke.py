"""How is a body run to its end, whatever it does? In a task or a thread of its own, which can be given up."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import anyio
import msgspec
from anyio.from_thread import BlockingPortal

from reeval.declare.asserts import recording
from reeval.errors import UsageError
from reeval.grade.ledger import Ledger
from reeval.run.body.blocking import BlockingContext, Waiter
from reeval.run.body.calls import Calls
from reeval.run.body.context import Context
from reeval.run.room.clock import Clock
from reeval.run.stage.process import current_tasks
from reeval.run.stage.routing import current_log
from reeval.run.stage.text import Excerpt

__all__ = ["BodyEnd", "BodyRun", "drive_body", "run_body"]

PATIENCE = (1.0, 0.5, 0.5, 1.0, 2.0)
"""Seconds to wait after each cancellation of a body that does not end; the first leaves it time to clean up."""


class BodyRun(msgspec.Struct, frozen=True, kw_only=True):
    """A body that is about to run."""

    name: str
    """The attempt's key."""
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    """What it gets after ``c``: the case, if there is one."""
    context: Context[Any]
    calls: Calls
    clock: Clock
    log: Excerpt
    ledger: Ledger
    agent_acts: Callable[[], bool]


class BodyEnd(msgspec.Struct, kw_only=True):
    """How a body ended."""

    error: BaseException | None = None
    """What escaped it."""
    timed_out: bool = False
    agent_acted: bool = False
    """The timeout fell into the agent's own turn."""
    during: str | None = None
    """The call that the timeout fell into."""
    left: str | None = None
    """What it left behind, in words: a call never awaited, a task still running."""
    given_up: bool = False
    """It did not end when it was cancelled."""


async def run_body(run: BodyRun, *, blocking: bool) -> BodyEnd:
    """Run the body until it ends or its time is over; what it still does after that has no effect."""
    running = _Running(run)
    await (running.run_in_thread() if blocking else running.run_in_task())
    return running.end


async def drive_body(run: BodyRun, context: Context[Any]) -> BaseException | None:
    """Run an ``async def`` body and return what escapes it.

    The watchdog knows this function by its code and reads ``context`` from its frame. Nothing is raised: a task that
    raises ``SystemExit`` would end the event loop.
    """
    try:
        with recording(_PassedAsserts(run.ledger)):
            await run.function(context, *run.arguments)
    except BaseException as error:  # noqa: BLE001 - whatever a body raises ends this body only
        return error
    return None


class _PassedAsserts:
    """Puts the asserts that hold into the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def passed(self, label: str, line: int) -> None:
        self._ledger.passed_assert(label, line)


class _Running:
    """One body and what becomes of it."""

    def __init__(self, run: BodyRun) -> None:
        self.end = BodyEnd()
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._tasks: dict[asyncio.Task[Any], str] = {}
        # A context of its own: its output, its tasks and its asserts are told apart from those of every other body.
        self._variables = copy_context()
        self._variables.run(current_log.set, run.log)
        self._variables.run(current_tasks.set, self._tasks)

    async def run_in_task(self) -> None:
        """Run an ``async def`` body."""
        # The loop's own task, not a child of a task group: a group cannot give up a body that swallows cancellation.
        body = self._loop.create_task(drive_body(self._run, self._run.context), context=self._variables)
        body.add_done_callback(self._finish)
        self._run.clock.start(self._expire)
        try:
            await self._over
        finally:
            self._close(cancelled=not body.done())
            self._note_what_is_left(body)
            if self._tasks or not body.done():
                with anyio.CancelScope(shield=True):
                    self.end.given_up = not await _end_tasks({body, *self._tasks})
        if body.done() and not body.cancelled():
            self.end.error = body.result()

    async def run_in_thread(self) -> None:
        """Run a plain ``def`` body.

        A daemon thread, as many as attempts run: one that never ends holds up neither another body nor the exit.
        """
        async with BlockingPortal() as portal:
            waiter = Waiter(portal, self._run.calls)
            self._run.calls.wait = waiter.wait
            context = BlockingContext(self._run.context, waiter)
            thread = threading.Thread(
                target=self._variables.run, args=(self._drive_blocking, context), name=self._run.name, daemon=True
            )
            thread.start()
            self._run.clock.start(self._expire)
            try:
                await self._over
            finally:
                self._close(cancelled=True)
                with anyio.CancelScope(shield=True):
                    await portal.stop(cancel_remaining=True)

    def _drive_blocking(self, context: BlockingContext[Any]) -> None:
        try:
            with recording(_PassedAsserts(self._run.ledger)):
                result = self._run.function(context, *self._run.arguments)
            self._refuse_awaitable(result)
        except BaseException as error:  # noqa: BLE001 - whatever a body raises ends this body only
            if not self.end.timed_out:
                self.end.error = error
        with suppress(RuntimeError):  # The loop is gone: nobody waits for a body that was given up.
            self._loop.call_soon_threadsafe(self._finish)

    def _refuse_awaitable(self, result: object) -> None:
        if not inspect.isawaitable(result):
            return
        if inspect.iscoroutine(result):
            result.close()
        raise UsageError(
            f"the body returned {type(result).__name__} for somebody to await, and nobody does; make it `async def`"
        )

    def _finish(self, *_: object) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _expire(self) -> None:
        if self._over.done():
            return  # The body ended in the same moment.
        running = self._run.calls.running
        self._run.ledger.close()
        self.end.timed_out, self.end.agent_acted = True, self._run.agent_acts()
        self.end.during = str(running) if running else None
        self._finish()

    def _close(self, *, cancelled: bool) -> None:
        self._run.clock.stop()
        self._run.calls.ended = True
        self._run.calls.cancelled = cancelled

    def _note_what_is_left(self, body: asyncio.Task[Any]) -> None:
        """Say what a body that ended by itself left behind."""
        never, running = self._run.calls.never_ran, self._run.calls.running
        if not body.done() or body.result() is not None:
            return  # What ended it early explains what it did not reach.
        if never is not None:
            self.end.left = never
        elif running is not None:
            self.end.left = f"the body ended while a task of its own was in {running}; await the task before that"
        elif self._tasks:
            names = ", ".join(sorted(self._tasks.values())[:3])
            self.end.left = f"the body ended while a task of its own was running: {names}; await it before that"


async def _end_tasks(tasks: set[asyncio.Task[Any]]) -> bool:
    """Cancel ``tasks`` until they end; give up those that swallow every cancellation, and return False."""
    pending = {task for task in tasks if not task.done()}
    for patience in PATIENCE:
        if not pending:
            return True
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=patience)
    for task in pending:
        # Otherwise the loop would wait for it for ever when it closes.
        asyncio._unregister_task(task)  # noqa: SLF001 - documented, for those who make tasks of their own
        _keep_for_ever(task)
    return not pending


def _keep_for_ever(task: asyncio.Task[Any]) -> None:
    """Never let a task be collected, not even as the interpreter ends.

    Collecting one throws into it once more, and a body that swallows that as well would never let the process end.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))

"""Was every call of a body awaited, and did each end before the body did?"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar

from reeval.errors import BodySkip, BodyStop, InfrastructureError, UsageError
from reeval.run.stage.process import current_tasks

__all__ = ["Block", "Call", "Calls"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

FRAMES = 40
"""How far up the stack the body's own file is looked for."""


class Calls:
    """The calls of one attempt: what they led to stays, even when the body catches it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.unfinished: set[Call[Any]] = set()
        self.unentered: set[Block[Any]] = set()
        self.failure: InfrastructureError | None = None
        """The first one; an infrastructure error stays one when the body catches it."""
        self.stopped = False
        """``or_stop`` or a file that is not there ended the body."""
        self.skipped: str | None = None
        """Why ``c.skip`` ended the body."""
        self.ended = False
        """The body is over: nothing can be called any more."""
        self.cancelled = False
        """The body was ended from outside; whoever still calls is held until its cancellation arrives."""
        self.wait: Callable[[Call[Any]], Any] = _nobody_waits
        """Runs a call in the event loop while the thread of a plain ``def`` body waits."""

    def new(self, name: str, function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> Call[T]:
        """Return an awaitable that runs ``function`` and is remembered until it has ended."""
        self.check_open(name)
        call = Call(self, f"c.{name}", self.line(3), function, args)
        self.unfinished.add(call)
        return call

    def check_open(self, name: str) -> None:
        """Refuse a call after the body's end."""
        if self.ended and not self.cancelled:
            raise UsageError(f"c.{name} was called after the body had ended; await everything inside the body")

    def line(self, above: int = 2) -> int | None:
        """Return the line of the eval file that is running, ``above`` frames up or more; None: not on the stack."""
        frame = sys._getframe(above)  # noqa: SLF001 - what the function is for; a traceback would cost 20 times as much
        for _ in range(FRAMES):
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno
            if frame.f_back is None:
                break
            frame = frame.f_back
        return None

    def stop(self) -> BodyStop:
        """Latch a stop and return what to raise."""
        self.stopped = True
        return BodyStop()

    def skip(self, reason: str) -> BodySkip:
        """Latch a skip and return what to raise; the first reason stays."""
        self.skipped = self.skipped if self.skipped is not None else reason
        return BodySkip(reason)

    def failed(self, failure: InfrastructureError) -> None:
        """Latch an infrastructure error."""
        self.failure = self.failure or failure

    def block(self, name: str, manager: AbstractAsyncContextManager[T]) -> Block[T]:
        """Return ``manager``, remembered until it is entered."""
        self.check_open(name)
        block = Block(self, f"c.{name}", self.line(3), manager)
        self.unentered.add(block)
        return block

    @property
    def never_ran(self) -> str | None:
        """Say which call never ran, the first in the file."""
        call = min((call for call in self.unfinished if not call.begun), key=_place, default=None)
        if call is not None:
            return f"{call} was never awaited, so it never ran; write `await {call.name}(…)`"
        block = min(self.unentered, key=_place, default=None)
        return f"{block} was never entered, so it never ran; write `async with {block.name}(…)`" if block else None

    @property
    def running(self) -> Call[Any] | None:
        """A call that runs, the first in the file."""
        return min((call for call in self.unfinished if call.begun), key=_place, default=None)


class Call(Coroutine[Any, Any, T_co], Generic[T_co]):
    """One call of a body: a coroutine that is made when it is awaited, so that one can tell when it never was."""

    __slots__ = ("_args", "_calls", "_coroutine", "_function", "begun", "line", "name")

    def __init__(
        self,
        calls: Calls,
        name: str,
        line: int | None,
        function: Callable[..., Coroutine[Any, Any, T_co]],
        args: tuple[object, ...],
    ) -> None:
        self._calls = calls
        self.name = name
        self.line = line
        self._function = function
        self._args = args
        self._coroutine: Coroutine[Any, Any, T_co] | None = None
        self.begun = False

    def __str__(self) -> str:
        return f"{self.name} on line {self.line}" if self.line else self.name

    def __getattr__(self, name: str) -> NoReturn:
        # An AttributeError: asyncio and inspect ask a coroutine with hasattr what it is.
        raise AttributeError(f"{self} has no {name!r} before it is awaited; write `await {self.name}(…)`")

    def __await__(self) -> Generator[Any, Any, T_co]:
        if self.begun:
            raise UsageError(f"{self} was awaited twice; keep its result in a variable")
        return self._begin().__await__()

    def send(self, value: Any) -> Any:
        """Run it one step, as a task does."""
        return (self._coroutine or self._begin()).send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an exception where it waits, as a task does when it is cancelled."""
        return (self._coroutine or self._begin()).throw(*error)

    def close(self) -> None:
        """End it where it waits."""
        if self._coroutine is None:
            self._finish()
        else:
            self._coroutine.close()

    def _begin(self) -> Coroutine[Any, Any, T_co]:
        self.begun = True
        self._coroutine = self._run()
        return self._coroutine

    def _finish(self) -> None:
        self.begun = True
        self._calls.unfinished.discard(self)

    async def _run(self) -> T_co:
        try:
            return await _guarded(self._calls, self._function, *self._args)
        finally:
            self._calls.unfinished.discard(self)


class Block(AbstractAsyncContextManager[T_co], Generic[T_co]):
    """A call that is entered with ``async with``, remembered until then."""

    __slots__ = ("_calls", "_manager", "line", "name")

    def __init__(self, calls: Calls, name: str, line: int | None, manager: AbstractAsyncContextManager[T_co]) -> None:
        self._calls = calls
        self.name = name
        self.line = line
        self._manager = manager

    def __str__(self) -> str:
        return f"{self.name} on line {self.line}" if self.line else self.name

    async def __aenter__(self) -> T_co:
        self._calls.unentered.discard(self)
        return await _guarded(self._calls, self._manager.__aenter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._manager.__aexit__(kind, error, trace)


async def _guarded(calls: Calls, function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T:
    """Run a call, unless the body is over; remember an infrastructure error."""
    tasks = current_tasks.get()
    current_tasks.set(None)  # What a call starts on its way is not the body's to await.
    try:
        if calls.ended:
            await _held(calls)
        return await function(*args)
    except InfrastructureError as failure:
        calls.failed(failure)
        raise
    finally:
        # Not a reset by token: the collector may close a call in another context.
        current_tasks.set(tasks)


async def _held(calls: Calls) -> None:
    """Never let a call through after the end.

    A body that swallows its cancellation and calls again would spin for ever if this raised at once.
    """
    if not calls.cancelled:
        raise UsageError("a call ran after the body had ended; await everything inside the body")
    await asyncio.get_running_loop().create_future()


def _nobody_waits(call: Call[Any]) -> NoReturn:
    raise UsageError(f"{call} is waited for outside of a plain def body")


def _place(call: Call[Any] | Block[Any]) -> tuple[int, str]:
    return call.line or 0, call.name

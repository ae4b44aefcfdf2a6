"""What must be in place in the process while bodies run? Their streams, their logging and the record of their tasks."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TextIO, TypeVar, cast

from reeval.run.stage.routing import LogHandler, RoutedStream

__all__ = ["current_tasks", "staged"]

T = TypeVar("T")
Tasks = dict["asyncio.Task[Any]", str]
"""Unfinished tasks and the names of what they run."""

current_tasks: ContextVar[Tasks | None] = ContextVar("current_tasks", default=None)
"""The unfinished tasks of the body that runs here, so that one it leaves behind is found."""


_REQUESTS = "httpx2"
"""Logs a line for every request to an agent, which no body logged."""


class _Stage:
    """Installed while at least one attempt of this process runs."""

    def __init__(self) -> None:
        self.users = 0
        self._streams: tuple[TextIO, TextIO] | None = None
        self._handler = LogHandler()
        self._level = self._requests_level = logging.NOTSET
        self._factory: Any = None

    def set_up(self) -> None:
        self._streams = (sys.stdout, sys.stderr)
        sys.stdout = cast("TextIO", RoutedStream(sys.stdout))
        sys.stderr = cast("TextIO", RoutedStream(sys.stderr))
        root = logging.getLogger()
        self._level = root.level
        root.addHandler(self._handler)
        if root.level == logging.WARNING:  # Python's default: nobody has chosen a level.
            root.setLevel(logging.INFO)
        requests = logging.getLogger(_REQUESTS)
        self._requests_level = requests.level
        if requests.level == logging.NOTSET:
            requests.setLevel(logging.WARNING)
        loop = asyncio.get_running_loop()
        self._factory = loop.get_task_factory()
        loop.set_task_factory(cast("Any", _make_task))  # The type demands names that the interpreter passes by place.

    def tear_down(self) -> None:
        asyncio.get_running_loop().set_task_factory(self._factory)
        root = logging.getLogger()
        root.removeHandler(self._handler)
        root.setLevel(self._level)
        logging.getLogger(_REQUESTS).setLevel(self._requests_level)
        if self._streams:
            sys.stdout, sys.stderr = self._streams


_stage = _Stage()


@contextmanager
def staged() -> Iterator[None]:
    """Put everything in place on first use, and back after the last."""
    if not _stage.users:
        _stage.set_up()
    _stage.users += 1
    try:
        yield
    finally:
        _stage.users -= 1
        if not _stage.users:
            _stage.tear_down()


def _make_task(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
    context = options.get("context")
    tasks = current_tasks.get() if context is None else context.get(current_tasks)
    if tasks is None:
        return asyncio.Task(coro, loop=loop, **options)
    task: asyncio.Task[Any] = asyncio.Task(_contained(coro), loop=loop, **options)
    tasks[task] = getattr(coro, "__qualname__", None) or str(coro)
    task.add_done_callback(partial(_forget, tasks, coro))
    return task


def _forget(tasks: Tasks, coro: Coroutine[Any, Any, Any], task: asyncio.Task[Any]) -> None:
    tasks.pop(task, None)
    coro.close()  # A task that was cancelled before its first step never awaited it.


async def _contained(coro: Coroutine[Any, Any, T]) -> T:
    """Keep ``sys.exit()`` in a task of a body from ending the event loop, and the run with it."""
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"{type(error).__name__} was raised in a task of the body") from error

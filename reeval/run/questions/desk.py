"""How does work on the disk go on beside the loop? In a thread, a few pieces with each change of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, TypeVar

import anyio.to_thread

__all__ = ["Desk"]

T = TypeVar("T")
_TOGETHER = 8
"""A change of threads costs as much as one small piece; more of them would keep the first one waiting."""
_HANDS = 2
"""While the disk makes one of them wait, the other goes on; more would only be in the way of the loop."""
_Work = Callable[[], Any]
_Outcome = tuple[Any, BaseException | None]


class Desk:
    """Does pieces of work, begun in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: list[tuple[_Work, asyncio.Future[Any]]] = []
        self._hands: set[asyncio.Task[None] | None] = set()

    async def done(self, work: Callable[[], T]) -> T:
        """Do a piece of work and return its result, or raise what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.append((work, future))
        if len(self._hands) < _HANDS:
            # Tasks of their own: whoever brings a piece may be cancelled while others wait for theirs.
            self._hands.add(loop.create_task(self._work(), context=Context()))
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting:
                self._waiting, batch = self._waiting[_TOGETHER:], self._waiting[:_TOGETHER]
                outcomes = await anyio.to_thread.run_sync(_all, [work for work, _ in batch])
                for (_, future), (result, error) in zip(batch, outcomes, strict=True):
                    if future.done():  # cancelled: nobody waits any more
                        continue
                    if error is None:
                        future.set_result(result)
                    else:
                        future.set_exception(error)
        finally:  # before anything else runs: whoever brings a piece now needs another hand
            self._hands.discard(asyncio.current_task())


def _all(works: Sequence[_Work]) -> list[_Outcome]:
    return [_one(work) for work in works]


def _one(work: _Work) -> _Outcome:
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 - it is raised where the work is awaited
        return None, error

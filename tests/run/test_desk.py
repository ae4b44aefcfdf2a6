"""Work on the disk beside the loop: each piece once, with its own end."""

from __future__ import annotations

import threading
import time
from functools import partial

import anyio
import pytest

from reeval.errors import RecordError
from reeval.run.questions.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_each_of_many_pieces_is_done_once() -> None:
    desk, done = Desk(), []
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(desk.done, partial(done.append, number))
    assert sorted(done) == list(range(50))


async def test_a_piece_that_comes_as_the_last_ones_end_is_done() -> None:
    desk, go, done = Desk(), threading.Event(), []

    async def two_pieces() -> None:
        await desk.done(partial(go.wait, 10))
        done.append(await desk.done(lambda: True))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(two_pieces)
            await anyio.sleep(0.01)
            tasks.start_soon(desk.done, partial(go.wait, 10))
            await anyio.sleep(0.01)
            go.set()
            time.sleep(0.1)  # noqa: ASYNC251 - so that the loop learns of both ends at once
    assert done == [True]


async def test_a_piece_that_the_disk_holds_up_holds_up_no_other() -> None:
    desk, go = Desk(), threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.done, partial(go.wait, 10))
        await anyio.sleep(0.01)
        for number in range(50):
            assert await desk.done(partial(int, number)) == number
        assert not go.is_set()
        go.set()


async def test_the_loop_goes_on_meanwhile() -> None:
    desk, go = Desk(), threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.done, partial(go.wait, 10))
        await anyio.sleep(0.01)
        go.set()


async def test_what_a_piece_raises_is_raised_where_it_is_awaited_and_nowhere_else() -> None:
    desk = Desk()

    def fail() -> None:
        raise RecordError("full")

    results = []

    async def fine() -> None:
        results.append(await desk.done(lambda: 1))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fine)
        with pytest.raises(RecordError, match="full"):
            await desk.done(fail)
        tasks.start_soon(fine)
    assert results == [1, 1]


async def test_who_stops_waiting_keeps_nobody_else_from_an_end() -> None:
    desk, go = Desk(), threading.Event()
    with anyio.move_on_after(0.05) as scope:
        await desk.done(partial(go.wait, 10))
    assert scope.cancelled_caught
    go.set()
    assert await desk.done(lambda: 2) == 2

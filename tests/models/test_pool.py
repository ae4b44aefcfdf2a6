"""How a run's questions share its providers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from reeval.backends import Model, ModelKind, ModelReply, ModelRequest, Picture
from reeval.errors import BodyStop, InfrastructureError
from reeval.models.kinds import KINDS
from reeval.models.options import HttpOptions
from reeval.models.pool import ModelPool
from reeval.schema.plan import PlannedModel
from reeval.usage import Usage
from tests.models.bench import JUDGE, Bench, ask
from tests.servers.models import ANSWER, Act, ModelServer

pytestmark = pytest.mark.anyio


class Counting:
    """A kind that counts how often it is opened and closed, and how many calls there are at once."""

    def __init__(self, **changes: Any) -> None:
        self.opened = self.closed = self.most = self.now = 0
        self.kind = ModelKind(name="counting", options=HttpOptions, open=self._open, **changes)

    @asynccontextmanager
    async def _open(self, planned: PlannedModel, environ: Mapping[str, str], root: Path) -> AsyncIterator[Model]:
        async with anyio.create_task_group():  # as a real one may: the same task must enter and leave it
            self.opened += 1
            await anyio.sleep(0.01)
            yield self
            self.closed += 1

    async def answer(self, request: ModelRequest) -> ModelReply:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.005)
        self.now -= 1
        return ModelReply(data={}, usage=Usage())

    def pool(self, tmp_path: Path, max_concurrent: int | None = None, names: tuple[str, ...] = ("it",)) -> ModelPool:
        planned = {
            name: PlannedModel(name=name, provider="p", kind="counting", model=name, max_concurrent=max_concurrent)
            for name in names
        }
        return ModelPool(planned, {"counting": self.kind}, {}, tmp_path)


async def ask_often(pool: ModelPool, count: int, names: tuple[str, ...] = ("it",)) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(pool.answer, names[number % len(names)], ask())


async def test_a_model_is_opened_once_when_it_is_first_asked_and_closed_at_the_end(tmp_path: Path) -> None:
    counting = Counting()
    async with counting.pool(tmp_path) as pool:
        assert counting.opened == 0
        await ask_often(pool, 30)
        assert (counting.opened, counting.closed) == (1, 0)
    assert counting.closed == 1


async def test_a_pool_that_is_never_asked_opens_nothing(tmp_path: Path) -> None:
    counting = Counting()
    async with counting.pool(tmp_path):
        pass
    assert counting.opened == 0


@pytest.mark.parametrize(("most", "seen"), [(3, 3), (None, 20)])
async def test_a_provider_has_a_limit_over_all_its_models(tmp_path: Path, most: int | None, seen: int) -> None:
    counting = Counting()
    names = ("a", "b")
    async with counting.pool(tmp_path, most, names) as pool:
        await ask_often(pool, 50, names)
    assert counting.most == seen


async def test_a_kind_may_have_no_limit(tmp_path: Path) -> None:
    counting = Counting(max_concurrent=None)
    async with counting.pool(tmp_path) as pool:
        await pool.answer("it", ask())
        await ask_often(pool, 300)
    assert counting.most == 300


async def test_the_server_sees_no_more_calls_than_the_limit(remote: Bench) -> None:
    remote.max_concurrent = 4
    remote.server.delay = 0.02
    async with remote.pool() as pool:
        await ask_often(pool, 24)
    assert remote.asked == 24
    assert 1 < remote.server.most_at_once <= 4


async def test_more_than_a_hundred_calls_go_at_once_when_the_table_says_so(chat: Bench) -> None:
    chat.max_concurrent = 150
    chat.server.delay = 2.0
    async with chat.pool() as pool:
        await ask_often(pool, 130)
    assert chat.server.most_at_once > 100


async def test_a_429_pauses_every_call_to_its_provider_and_no_other(chat: Bench, tmp_path: Path) -> None:
    with ModelServer() as other:
        neighbor = Bench(kind="anthropic", server=other, root=tmp_path)
        models = {"slow": chat.planned(), "quick": neighbor.planned()}
        chat.server.acts = [Act(status=429, headers={"Retry-After": "2"})]
        began = time.monotonic()
        ended: dict[str, float] = {}

        async def timed(name: str, model: str) -> None:
            await pool.answer(model, ask())
            ended[name] = time.monotonic() - began

        async with ModelPool(models, KINDS, chat.environ, tmp_path) as pool, anyio.create_task_group() as tasks:
            tasks.start_soon(timed, "paused", "slow")
            while not chat.asked:  # noqa: ASYNC110 - the server runs in a thread of its own
                await anyio.sleep(0.01)
            await anyio.sleep(0.05)
            tasks.start_soon(timed, "held back", "slow")
            tasks.start_soon(timed, "free", "quick")
            while "free" not in ended:  # noqa: ASYNC110 - ends with the call
                await anyio.sleep(0.01)
            assert set(ended) == {"free"}
            assert chat.asked == 1
        assert min(ended["paused"], ended["held back"]) >= 2.0


async def test_a_cancelled_call_gives_its_place_back(chat: Bench) -> None:
    chat.max_concurrent = 1
    chat.server.acts = [Act(fault="hang")]
    async with chat.pool() as pool:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.answer, "it", ask())
            while not chat.asked:  # noqa: ASYNC110 - the server runs in a thread of its own
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        assert (await pool.answer("it", ask())).data == ANSWER


async def test_a_cancelled_run_closes_its_models(tmp_path: Path) -> None:
    counting = Counting()
    with anyio.move_on_after(0.1) as scope:
        async with counting.pool(tmp_path) as pool:
            await pool.answer("it", ask())
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert counting.opened == 1


async def test_a_call_that_is_cancelled_while_its_model_opens_leaves_the_model_to_the_next(tmp_path: Path) -> None:
    counting = Counting()
    async with counting.pool(tmp_path) as pool:
        with anyio.move_on_after(0.001) as scope:
            await pool.answer("it", ask())
        assert scope.cancelled_caught
        await pool.answer("it", ask())


@pytest.mark.parametrize("error", [BodyStop(), ValueError("mine")])
async def test_an_error_of_the_block_is_not_wrapped(tmp_path: Path, error: BaseException) -> None:
    counting = Counting()

    async def run() -> None:
        async with counting.pool(tmp_path) as pool:
            await pool.answer("it", ask())
            raise error

    with pytest.raises(type(error)) as caught:
        await run()
    assert caught.value is error
    assert counting.closed == 1


async def test_an_unknown_model_is_named(tmp_path: Path) -> None:
    async with Counting().pool(tmp_path) as pool:
        with pytest.raises(InfrastructureError, match="there is no model 'other/x' in this run"):
            await pool.answer("other/x", ask())


async def test_a_model_can_be_added_while_the_run_goes_on(chat: Bench, tmp_path: Path) -> None:
    async with ModelPool({}, KINDS, chat.environ, tmp_path) as pool:
        planned = chat.planned()
        assert planned.name not in pool
        pool.add(planned)
        assert planned.name in pool
        assert (await pool.answer(planned.name, ask())).data == ANSWER


async def test_a_kind_without_sight_says_so(tmp_path: Path) -> None:
    picture = Picture(name="p", media_type="image/png", data=b"")
    counting = Counting(takes_pictures=False)
    async with counting.pool(tmp_path) as pool:
        with pytest.raises(InfrastructureError, match="'it' of kind 'counting' takes no pictures"):
            await pool.answer("it", ask(JUDGE, picture))
    assert counting.opened == 0

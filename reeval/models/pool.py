"""How are a run's questions spread over its models? Each opened once, each provider limited, tries repeated."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskStatus

from reeval.backends import Model, ModelKind, ModelReply, ModelRequest
from reeval.errors import InfrastructureError, Phase
from reeval.models.failures import TryError
from reeval.models.lanes import Lane
from reeval.schema.plan import PlannedModel
from reeval.usage import Usage

__all__ = ["ModelPool"]


class ModelPool:
    """The models of one run. ``async with`` it; what it opened is closed with it."""

    def __init__(
        self,
        models: Mapping[str, PlannedModel],
        kinds: Mapping[str, ModelKind],
        environ: Mapping[str, str],
        root: Path,
        *,
        first_wait: float = 1.0,
    ) -> None:
        """``models`` is the plan's. ``first_wait``: seconds before a second try when the provider names none."""
        self._planned = dict(models)
        self._kinds = kinds
        self._environ = environ
        self._root = root
        self._first_wait = first_wait
        self._lanes: dict[str, Lane] = {}
        self._open: dict[str, Model] = {}
        self._opening = anyio.Lock()

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        self._tasks = await anyio.create_task_group().__aenter__()
        self._closing = anyio.Event()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every model. An error of the block goes on as it is, in no group."""
        self._closing.set()
        await self._tasks.__aexit__(None, None, None)

    def __contains__(self, name: str) -> bool:
        """Say whether there is a model of this name."""
        return name in self._planned

    def add(self, planned: PlannedModel) -> None:
        """Know one more model, such as one that only a body names; a known name stays what it is."""
        self._planned.setdefault(planned.name, planned)

    async def answer(self, name: str, request: ModelRequest) -> ModelReply:
        """Ask a model; raise ``InfrastructureError`` (phase ``model``) that names it when it gives no valid answer.

        A try that may go better is repeated, three tries at most. The usage is that of every try.
        """
        planned = self._planned.get(name)
        if planned is None:
            raise InfrastructureError(Phase.MODEL, f"there is no model {name!r} in this run; name it in the config")
        kind = self._kinds[planned.kind]
        if request.pictures and not kind.takes_pictures:
            raise InfrastructureError(
                Phase.MODEL, f"model {name!r} of kind {planned.kind!r} takes no pictures; name another, or show none"
            )
        if planned.provider not in self._lanes:
            self._lanes[planned.provider] = Lane(planned.max_concurrent or kind.max_concurrent)
        return await self._tried(planned, self._lanes[planned.provider], request)

    async def _tried(self, planned: PlannedModel, lane: Lane, request: ModelRequest) -> ModelReply:
        spent: Usage | None = None
        tries = 0
        while True:
            tries += 1
            try:
                async with lane.place():
                    reply = await (await self._model(planned)).answer(request)
            except TryError as failure:
                if tries >= failure.tries:
                    raise _final(planned, failure, tries) from None
                spent = _added(spent, failure.usage)
                await self._wait(lane, failure, tries)
            else:
                return replace(reply, tries=tries, usage=_added(spent, reply.usage) or reply.usage)

    async def _model(self, planned: PlannedModel) -> Model:
        if planned.name not in self._open:
            async with self._opening:
                if planned.name not in self._open:
                    self._open[planned.name] = await self._tasks.start(self._keep, planned)
        return self._open[planned.name]

    async def _keep(self, planned: PlannedModel, *, task_status: TaskStatus[Model]) -> None:
        """Hold a model open to the end: what one task enters, the same task must leave."""
        async with self._kinds[planned.kind].open(planned, self._environ, self._root) as model:
            task_status.started(model)
            await self._closing.wait()

    async def _wait(self, lane: Lane, failure: TryError, tries: int) -> None:
        """Wait as the provider asked, else longer each time. A pause is waited out in the lane, by all alike."""
        seconds = failure.wait
        if seconds is None:
            seconds = self._first_wait * 2 ** (tries - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load
        if failure.pauses:
            lane.pause(seconds)
        else:
            await anyio.sleep(seconds)


def _added(spent: Usage | None, more: Usage | None) -> Usage | None:
    """Add what is there: a try that was turned away spent nothing."""
    if spent is None or more is None:
        return more if spent is None else spent
    return spent + more


def _final(planned: PlannedModel, failure: TryError, tries: int) -> InfrastructureError:
    after = f" (after {tries} tries)" if tries > 1 else ""
    return InfrastructureError(Phase.MODEL, f"model {planned.name!r} {failure.reason}{after}", detail=failure.detail)

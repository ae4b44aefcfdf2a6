"""Which models answer in a run? Those of the plan, and those that only a body names, opened when first asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import Phase, UsageError, did_you_mean
from reeval.protocols import Catalog
from reeval.run.room.keeper import Keeper
from reeval.schema.plan import Plan, PlannedModel

if TYPE_CHECKING:
    from reeval.models.pool import ModelPool

__all__ = ["Models"]

OPENING = 60.0
"""Seconds that getting ready to ask may take."""


class Models:
    """Asks models by name. ``async with`` it; nothing is loaded before the first question."""

    def __init__(self, plan: Plan, catalog: Catalog, environ: Mapping[str, str], root: Path) -> None:
        self._plan = plan
        self._catalog = catalog
        self._environ = environ
        self._root = root
        self._pool: Keeper[ModelPool] | None = None
        self._limiters: dict[tuple[str, int], anyio.CapacityLimiter] = {}

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what was opened."""
        if self._pool is not None:
            with anyio.CancelScope(shield=True):
                await self._pool.close()

    def planned(self, name: str) -> PlannedModel:
        """Return what a name stands for; raise ``UsageError`` when there is no such provider."""
        known = self._plan.models.get(name)
        if known is not None:
            return known
        provider, _, model = name.partition("/")
        template = self._plan.providers.get(provider) or self._unconfigured(provider)
        if template is None:
            names = [*self._plan.providers, *self._catalog.models]
            near = did_you_mean(provider, names) if names else ""
            raise UsageError(f"the model {name!r}: there is no provider {provider!r}{near}")
        if not model and template.kind != "fake":
            raise UsageError(f"the model {name!r} is only a provider; write {provider + '/…'!r}")
        return replace(template, name=name, model=model)

    def problem(self, name: str) -> str | None:
        """Say why a model cannot be asked, such as a key that is not set; None when it can."""
        from reeval.models.checks import key_problem, url_problem

        planned = self.planned(name)
        return key_problem(planned, self._environ) or url_problem(planned)

    async def answer(self, name: str, request: ModelRequest, at_once: int | None = None) -> ModelReply:
        """Ask a model, at most ``at_once`` such calls at a time; raise what ``Model.answer`` raises."""
        if at_once is None:
            return await self._answer(name, request)
        limiter = self._limiters.setdefault((name, at_once), anyio.CapacityLimiter(at_once))
        async with limiter:
            return await self._answer(name, request)

    async def _answer(self, name: str, request: ModelRequest) -> ModelReply:
        if self._pool is None:
            from reeval.models.pool import ModelPool

            # A task of its own holds it: whoever asks first may be cancelled while others wait for answers.
            pool = ModelPool(self._plan.models, self._catalog.models, self._environ, self._root)
            self._pool = Keeper(lambda _clock: pool, phase=Phase.MODEL, what="the models", limit=OPENING)
        pool = await self._pool.value()
        if name not in pool:
            pool.add(self.planned(name))
        return await pool.answer(name, request)

    def _unconfigured(self, provider: str) -> PlannedModel | None:
        kind = self._catalog.models.get(provider)
        if kind is None:
            return None
        return PlannedModel(
            name=provider,
            provider=provider,
            kind=kind.name,
            model="",
            key=kind.key,
            max_concurrent=kind.max_concurrent,
        )

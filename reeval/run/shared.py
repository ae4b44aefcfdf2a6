"""What do the attempts of a cell share? The prepared environment and the digest of the subject, made once a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from contextvars import Context
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
import msgspec

from reeval.environments.subject import Subject, subject_digest
from reeval.protocols import Catalog, SandboxRequest
from reeval.run.room.variables import declared_variables
from reeval.schema.environment import Egress, Environment, Layout, PreparedTree
from reeval.schema.plan import Plan, PlannedAttempt
from reeval.shelf import Held, hold

__all__ = ["Shared", "SharedParts"]

T = TypeVar("T")


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What every attempt of a cell starts from."""

    environment: Environment | None
    tree: PreparedTree | None
    egress: Egress | None
    subject: str
    programs: tuple[str, ...] = ()
    """Host directories of the agent's program, installed."""


class SharedParts:
    """Makes each part once, however many attempts wait for it; what failed stays failed for all of them."""

    def __init__(self, plan: Plan, catalog: Catalog, root: Path, cache: Path) -> None:
        self._plan = plan
        self._catalog = catalog
        self._root = root
        self._cache = cache
        self._cells: dict[Hashable, asyncio.Task[Shared]] = {}
        self._trees: dict[Hashable, asyncio.Task[PreparedTree]] = {}
        self._programs: dict[Hashable, asyncio.Task[tuple[str, ...]]] = {}
        self._held: list[Held] = []
        self._ready: dict[Hashable, asyncio.Task[object]] = {}

    async def of(self, attempt: PlannedAttempt) -> Shared:
        """Return what the attempt's cell starts from; raise what ``prepare`` raises."""
        cell, planned = attempt.cell, attempt.eval
        # Not by cell: evals that differ only in their task have the same subject.
        key = (cell.harness, cell.environment, cell.sandbox, planned.egress, *sorted(planned.env.items()))
        return await _once(self._cells, key, lambda: self._make(attempt))

    def _prepared(self, environment: Environment, layout: Layout) -> PreparedTree:
        """Prepare the environment's tree, and hold it for the run: another one may tidy the cache meanwhile."""
        from reeval.environments.prepare import prepare

        while True:
            tree = prepare(environment, layout, self._root, self._cache, self._plan.commits)
            part = tree.workspace or tree.home
            if part is None:
                return tree
            held = hold(Path(part).parent)
            if held is not None:
                self._held.append(held)
                return tree

    async def ready(self, request: SandboxRequest) -> None:
        """Let the sandbox's kind make what attempts with such a request share; raise what it raises."""
        made_of = (request.tree, request.egress, request.cached, *sorted(request.cached_env.items()), request.programs)
        kind = self._catalog.sandboxes[request.sandbox.kind]
        await _once(self._ready, (request.sandbox.id, *made_of), lambda: kind.prepare(request))

    async def _make(self, attempt: PlannedAttempt) -> Shared:
        cell, planned = attempt.cell, attempt.eval
        environment = self._plan.environments.get(cell.environment)
        harness = self._plan.harnesses[cell.harness]
        kind = self._catalog.harnesses[harness.kind]
        tree = None
        if environment is not None:
            layout = kind.layout(harness.options)
            tree = await _once(
                self._trees,
                (cell.environment, layout),
                lambda: anyio.to_thread.run_sync(self._prepared, environment, layout, abandon_on_cancel=True),
            )
        egress = (environment and environment.egress) or planned.egress
        subject = Subject(
            harness=harness,
            sandbox=self._plan.sandboxes[cell.sandbox],
            tree=tree,
            environment=environment,
            env=declared_variables(environment, planned.env),
            egress=egress,
            fingerprint=kind.fingerprint(harness, self._root),
        )
        programs = await _once(
            self._programs,
            harness.id,
            lambda: anyio.to_thread.run_sync(kind.programs, harness, abandon_on_cancel=True),
        )
        digest = subject_digest(subject)
        return Shared(environment=environment, tree=tree, egress=egress, subject=digest, programs=programs)


async def _once(made: dict[Hashable, asyncio.Task[T]], key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    task = made.get(key)
    if task is None:
        # A task of its own: the attempt that asks first may be cancelled while others wait.
        task = made[key] = asyncio.get_running_loop().create_task(make(), context=Context())
        task.add_done_callback(_retrieved)
    return task.result() if task.done() else await asyncio.shield(task)


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()

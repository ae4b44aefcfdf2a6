"""What does an attempt have at its disposal? A sandbox and a session, each started by the first call that needs it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from time import monotonic
from typing import Any, TypeVar

import msgspec

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import Phase
from reeval.protocols import Harness, Sandbox, SandboxKind, SandboxRequest, Session, Snapshot
from reeval.run.room.clock import Clock
from reeval.run.room.keeper import Keeper
from reeval.run.room.variables import Variables, filled_in, values_for
from reeval.sandboxes.steps import run_step
from reeval.schema.environment import McpServer, SetupStep
from reeval.schema.plan import PlannedHarness
from reeval.schema.recorded.network import RefusedRecord

__all__ = ["AttemptRoom", "RoomRequest"]

T = TypeVar("T")


class RoomRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt's room is made of."""

    sandbox: SandboxRequest
    sandbox_kind: SandboxKind
    harness: Harness
    planned_harness: PlannedHarness
    setup: tuple[SetupStep, ...]
    variables: Variables
    mcp: Mapping[str, McpServer] = {}
    host: Mapping[str, str]
    ask: Callable[[str, ModelRequest], Awaitable[ModelReply]]
    """Asks a model of the plan."""


class AttemptRoom:
    """Implements ``protocols.Room``, and keeps what was opened until ``close``."""

    def __init__(self, request: RoomRequest, clock: Clock) -> None:
        self._request = request
        self._clock = clock
        self._sandbox: Keeper[Sandbox] | None = None
        self._session: Keeper[Session] | None = None
        self._servers: list[Keeper[Any]] = []
        self.start_duration: float | None = None
        """Seconds until the sandbox was ready, setup included."""
        self.agent_acts = False
        """The agent's turn runs: a sandbox that starts now is looked at first, so that no change is missed."""
        self.refused: list[RefusedRecord] = []
        """What the sandbox let no process connect to; whole once it is closed."""
        self.first_look: Snapshot | None = None
        """The workspace as it was when the sandbox started in a turn."""

    @property
    def key(self) -> str:
        """The attempt's key."""
        return self._request.sandbox.key

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of the agent's processes."""
        return values_for("agent", self._request.variables, self._request.host)

    @property
    def checks_env(self) -> Mapping[str, str]:
        """The variables of the body's own commands."""
        return values_for("checks", self._request.variables, self._request.host)

    @property
    def skills(self) -> tuple[str, ...]:
        """Names of the skills in the environment."""
        tree = self._request.sandbox.tree
        return tree.skills if tree else ()

    @property
    def mcp(self) -> Mapping[str, McpServer]:
        """The MCP servers in the environment, secrets filled in."""
        return filled_in(self._request.mcp, self._request.host)

    @property
    def started(self) -> Sandbox | None:
        """The sandbox, if it is there."""
        return self._sandbox.opened if self._sandbox else None

    async def sandbox(self) -> Sandbox:
        """Return the sandbox, started on the first call."""
        if self._sandbox is None:
            planned = self._request.sandbox.sandbox
            what = f"the sandbox {planned.id}"
            self._sandbox = Keeper(self._open_sandbox, phase=Phase.SANDBOX, what=what, limit=planned.start_timeout)
        return await self._sandbox.value()

    async def session(self) -> Session:
        """Return the agent's session, started on the first call."""
        if self._session is None:
            planned = self._request.planned_harness
            what = f"a session of {planned.id}"
            self._session = Keeper(self._open_session, phase=Phase.HARNESS, what=what, limit=planned.start_timeout)
        return await self._session.value()

    async def ask(self, model: str, request: ModelRequest) -> ModelReply:
        """Ask a model of the plan."""
        return await self._request.ask(model, request)

    def serve(self, open: Callable[[Clock], AbstractAsyncContextManager[T]], limit: float) -> Keeper[T]:
        """Hold a server, which ends with the attempt at the latest."""
        server = Keeper(open, phase=Phase.SANDBOX, what="a server", limit=limit)
        self._servers.append(server)
        return server

    async def close(self) -> list[str]:
        """Close everything that is open and return what went wrong, as diagnostics."""
        in_order = (*reversed(self._servers), self._session, self._sandbox)
        problems = [await keeper.close() for keeper in in_order if keeper is not None]
        return [f"clean-up: {type(one).__name__}: {one}" for one in problems if one is not None]

    @asynccontextmanager
    async def _open_sandbox(self, clock: Clock) -> AsyncIterator[Sandbox]:
        request, began = self._request, monotonic()
        heard = dataclasses.replace(request.sandbox, refused=self.refused.append)
        async with AsyncExitStack() as stack:
            with self._not_counted(clock):
                sandbox = await stack.enter_async_context(request.sandbox_kind.open(heard))
                clock.stop()  # Setup steps have limits of their own.
                env = values_for("setup", request.variables, request.host) if request.setup else {}
                for step in request.setup:
                    await run_step(sandbox, step, env)
                if self.agent_acts:
                    self.first_look = await sandbox.snapshot()
            self.start_duration = monotonic() - began
            yield sandbox

    @asynccontextmanager
    async def _open_session(self, clock: Clock) -> AsyncIterator[Session]:
        async with AsyncExitStack() as stack:
            with self._not_counted(clock):
                session = await stack.enter_async_context(self._request.harness.session(self))
            yield session

    @contextmanager
    def _not_counted(self, own: Clock) -> Iterator[None]:
        """Pause the attempt's time, and that of a session which starts and needs the sandbox for it."""
        with ExitStack() as stack:
            stack.enter_context(self._clock.paused())
            if self._session is not None and self._session.clock is not own:
                stack.enter_context(self._session.clock.paused())
            yield

"""What does a plain ``def`` body see? The same attempt, whose calls wait in the body's own thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

from anyio.from_thread import BlockingPortal

from reeval.authoring import ChangeStatus, Command, Match
from reeval.errors import BodyStop, ControlFlow
from reeval.run.body.calls import Call, Calls
from reeval.run.body.context import Context
from reeval.run.body.handles import PointsHandle
from reeval.run.room.server import BackgroundServer
from reeval.schema.plan import PlannedCell
from reeval.schema.spec import Judge
from reeval.schema.transcript import CommandResult, Turn

__all__ = ["BlockingContext", "Waiter"]

H = TypeVar("H")
T = TypeVar("T")


class Waiter:
    """Runs calls in the event loop while the body's thread waits; refuses everything once the body was given up."""

    def __init__(self, portal: BlockingPortal, calls: Calls) -> None:
        self._portal = portal
        self._calls = calls

    def wait(self, call: Call[T]) -> T:
        """Return what ``call`` returns."""
        outcome: Callable[[], T] = self.run(_outcome, call)
        return outcome()

    def run(self, function: Callable[..., Any], *args: object) -> Any:
        """Return what ``function`` returns in the event loop's thread."""
        try:
            return self._portal.call(function, *args)
        except (CancelledError, RuntimeError):
            self.check_open()
            raise

    def check_open(self) -> None:
        """Raise when the body was given up: there is no other way to end its thread."""
        if self._calls.ended:
            raise BodyStop

    def enter(self, manager: AbstractAsyncContextManager[T]) -> AbstractContextManager[T]:
        """Hold an asynchronous context manager from the thread."""
        return self._portal.wrap_async_context_manager(manager)


async def _outcome(call: Call[T]) -> Callable[[], T]:
    """Hand control flow over as a value: raised here it would end the portal, and every other call with it."""
    try:
        value = await call
    except ControlFlow as ended:
        return partial(_raise, ended)
    return lambda: value


def _raise(ended: ControlFlow) -> NoReturn:
    raise ended


class BlockingServer:
    """Implements ``authoring.BlockingServer``."""

    def __init__(self, server: BackgroundServer) -> None:
        self._server = server

    @property
    def port(self) -> int:
        """The port it was told to listen on."""
        return self._server.port

    @property
    def url(self) -> str:
        """``http://127.0.0.1:<port>``."""
        return self._server.url

    def log(self) -> str:
        """Return what it has printed so far, bounded."""
        return self._server.printed()


class BlockingContext(Generic[H]):
    """Implements ``authoring.BlockingAttempt`` or ``BlockingScoredAttempt``, over the same attempt."""

    def __init__(self, context: Context[H], waiter: Waiter) -> None:
        self._context = context
        self._waiter = waiter

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far."""
        return self._context.turns

    @property
    def cell(self) -> PlannedCell:
        """Harness, environment and sandbox of this attempt."""
        return self._context.cell

    @property
    def run(self) -> int:
        """Its run number, from 1."""
        return self._context.run

    @property
    def case(self) -> Any:
        """The case's value; None for an eval without cases."""
        return self._context.case

    def send(self, prompt: str) -> Turn:
        """Send one prompt to the agent's session."""
        return self._waiter.wait(self._open().send(prompt))

    def exec(
        self, command: Command, *, retries: int = 0, interval: float = 1, env: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command in the workspace."""
        return self._waiter.wait(self._open().exec(command, retries=retries, interval=interval, env=env))

    @contextmanager
    def serve(self, command: Command, port: int | None = None) -> Iterator[BlockingServer]:
        """Run a process in the background."""
        with self._waiter.enter(self._open().serve(command, port)) as server:
            yield BlockingServer(server)

    def read_text(self, path: str) -> str:
        """Read a text file of the workspace."""
        return self._waiter.wait(self._open().read_text(path))

    def read_bytes(self, path: str) -> bytes:
        """Read a file of the workspace."""
        return self._waiter.wait(self._open().read_bytes(path))

    def write_file(self, path: str, content: str | bytes) -> None:
        """Write a file of the workspace."""
        self._waiter.wait(self._open().write_file(path, content))

    def exists(self, path: str) -> bool:
        """Say whether the workspace has a file or directory there."""
        return self._waiter.wait(self._open().exists(path))

    def check(self, value: object, match: Match) -> H:
        """Register one check."""
        return self._open().check(value, match)

    def file_changed(self, path: str, *, status: ChangeStatus | None = None) -> H:
        """Check that the agent changed a file."""
        return self._open().file_changed(path, status=status)

    def file_deleted(self, path: str) -> H:
        """Check that the agent deleted a file."""
        return self._open().file_deleted(path)

    def changed_paths(self, paths: Sequence[str]) -> H:
        """Check that the agent changed exactly these paths."""
        return self._open().changed_paths(paths)

    def no_changes(self) -> H:
        """Check that the agent changed nothing."""
        return self._open().no_changes()

    def judge(
        self, judge: Judge | str, material: Mapping[str, Any] | None = None, *, on: Any = ..., **options: Any
    ) -> H:
        """Register one measurement by a model."""
        return self._open().judge(judge, material, on=on, **options)

    def score(self, points: float) -> PointsHandle:
        """Contribute points directly."""
        return self._open().score(points)

    def observe(self, name: str, value: Any) -> None:
        """Record a JSON value."""
        self._open().observe(name, value)

    def diagnostic(self, text: str, data: Any = None) -> None:
        """Record an explanation."""
        self._open().diagnostic(text, data)

    def attach(self, name: str, data: bytes | str) -> None:
        """Keep a file beside the record."""
        self._waiter.run(self._open().attach, name, data)

    def skip(self, reason: str) -> NoReturn:
        """End the attempt as skipped."""
        self._open().skip(reason)

    def _open(self) -> Context[H]:
        """Return the attempt; raise when the body has been given up, since its thread cannot be stopped otherwise."""
        self._waiter.check_open()
        return self._context

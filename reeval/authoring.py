"""What does the body of an eval see? The attempt ``c``, its checks and its servers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal, NoReturn, Protocol, Self, TypeVar

from reeval.schema.observation import Observation
from reeval.schema.plan import PlannedCell
from reeval.schema.spec import Judge
from reeval.schema.transcript import CommandResult, Turn

__all__ = [
    "Attempt",
    "BlockingAttempt",
    "BlockingCheck",
    "BlockingScoredAttempt",
    "BlockingScoredCheck",
    "BlockingServer",
    "ChangeStatus",
    "Check",
    "Command",
    "Match",
    "ScoreHandle",
    "ScoredAttempt",
    "ScoredCheck",
    "Server",
]

Command = str | Sequence[str]
"""A shell string, or an argv list."""

ChangeStatus = Literal["added", "modified", "deleted"]

Handle_co = TypeVar("Handle_co", covariant=True)

MYPY = False
"""mypy takes a name ``MYPY`` for true."""


class Match(Protocol):
    """Observes one value: immutable, reusable, and never guesses."""

    @property
    def name(self) -> str:
        """The match's public name, such as ``includes``."""
        ...

    @property
    def argument(self) -> str:
        """What it was made with, as shown in the default label; empty when there is nothing to show."""
        ...

    @property
    def measures(self) -> bool:
        """True: it settles as a number from 0 to 1. False: as matched or mismatched."""
        ...

    def observe(self, value: object) -> Observation:
        """Evaluate ``value``. What is raised here makes the check an error."""
        ...


class _Handle(Protocol):
    """Configures one registered check; each method at most once, in any order."""

    # Pyright refuses an operand whose __bool__ returns no bool; mypy (code truthy-bool) one that has no __bool__.
    if not MYPY:

        def __bool__(self) -> NoReturn:
            """Refuse: a check has no truth value, so ``assert c.check(…)`` cannot pass by accident."""
            ...

    def key(self, key: str) -> Self:
        """Give it a stable identity."""
        ...

    def label(self, text: str) -> Self:
        """Say what it is about, at most 256 characters."""
        ...

    def gate(self, minimum: float | None = None) -> Self:
        """Make it decide. ``minimum`` is for measurements, 0 to 1; a judge's defaults to ``judge.threshold``."""
        ...


class Check(_Handle, Protocol):
    """A registered check of a pass/fail eval."""

    def optional(self) -> Self:
        """Show it and never let it decide."""
        ...

    def or_stop(self) -> Awaitable[None]:
        """Await it to end the body here, cleanly, unless this check holds."""
        ...


class BlockingCheck(_Handle, Protocol):
    """A registered check of a pass/fail eval with a plain ``def`` body."""

    def optional(self) -> Self:
        """Show it and never let it decide."""
        ...

    def or_stop(self) -> None:
        """End the body here, cleanly, unless this check holds."""
        ...


class ScoredCheck(_Handle, Protocol):
    """A registered check of a scored eval."""

    def score(self, points: float) -> Self:
        """Contribute ``points`` when it matches, ``measurement * points`` for a measurement; finite, not negative."""
        ...

    def or_stop(self) -> Awaitable[None]:
        """Await it to end the body here, cleanly, unless this check holds; earned points stay."""
        ...


class BlockingScoredCheck(_Handle, Protocol):
    """A registered check of a scored eval with a plain ``def`` body."""

    def score(self, points: float) -> Self:
        """Contribute ``points`` when it matches, ``measurement * points`` for a measurement; finite, not negative."""
        ...

    def or_stop(self) -> None:
        """End the body here, cleanly, unless this check holds; earned points stay."""
        ...


class ScoreHandle(Protocol):
    """A direct contribution, ``c.score(points)``."""

    def key(self, key: str) -> Self:
        """Give it a stable identity."""
        ...

    def label(self, text: str) -> Self:
        """Say what it is about, at most 256 characters."""
        ...


class Server(Protocol):
    """A background process of an attempt, ``c.serve``."""

    @property
    def port(self) -> int:
        """The port it was told to listen on (``PORT`` in its environment)."""
        ...

    @property
    def url(self) -> str:
        """``http://127.0.0.1:<port>``, as seen in the sandbox."""
        ...

    async def log(self) -> str:
        """Return what it has printed so far, bounded."""
        ...


class BlockingServer(Protocol):
    """A background process of an attempt with a plain ``def`` body."""

    @property
    def port(self) -> int:
        """The port it was told to listen on."""
        ...

    @property
    def url(self) -> str:
        """``http://127.0.0.1:<port>``, as seen in the sandbox."""
        ...

    def log(self) -> str:
        """Return what it has printed so far, bounded."""
        ...


class _AttemptFacts(Protocol):
    """What is the same in every kind of body."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far."""
        ...

    @property
    def cell(self) -> PlannedCell:
        """Harness, environment and sandbox of this attempt."""
        ...

    @property
    def run(self) -> int:
        """Its run number, from 1."""
        ...

    @property
    def case(self) -> Any:
        """The case's value; None for an eval without cases."""
        ...

    def observe(self, name: str, value: Any) -> None:
        """Record a JSON value that is shown and never decides."""
        ...

    def diagnostic(self, text: str, data: Any = None) -> None:
        """Record an explanation."""
        ...

    def attach(self, name: str, data: bytes | str) -> None:
        """Keep a file beside the record."""
        ...

    def skip(self, reason: str) -> NoReturn:
        """End the attempt as skipped, unless something worse already happened."""
        ...


class _AsyncCalls(_AttemptFacts, Protocol):
    """The calls of an ``async def`` body."""

    async def send(self, prompt: str) -> Turn:
        """Send one prompt to the agent's session and return its turn. A failed turn is data."""
        ...

    async def exec(
        self, command: Command, *, retries: int = 0, interval: float = 1, env: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a shell string or an argv list in the workspace; try again ``retries`` times while it fails."""
        ...

    def serve(self, command: Command, port: int | None = None) -> AbstractAsyncContextManager[Server]:
        """Run a process in the background, ended with the block or the attempt."""
        ...

    async def read_text(self, path: str) -> str:
        """Read a file of the workspace. Not there, or not text: a failed check, and the body ends."""
        ...

    async def read_bytes(self, path: str) -> bytes:
        """Read a file of the workspace. Not there: a failed check, and the body ends."""
        ...

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Write a file of the workspace; never counted as the agent's change."""
        ...

    async def exists(self, path: str) -> bool:
        """Say whether the workspace has a file or directory at ``path``."""
        ...


class _BlockingCalls(_AttemptFacts, Protocol):
    """The calls of a plain ``def`` body: the same, without ``await``."""

    def send(self, prompt: str) -> Turn:
        """Send one prompt to the agent's session and return its turn. A failed turn is data."""
        ...

    def exec(
        self, command: Command, *, retries: int = 0, interval: float = 1, env: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a shell string or an argv list in the workspace; try again ``retries`` times while it fails."""
        ...

    def serve(self, command: Command, port: int | None = None) -> AbstractContextManager[BlockingServer]:
        """Run a process in the background, ended with the block or the attempt."""
        ...

    def read_text(self, path: str) -> str:
        """Read a file of the workspace. Not there, or not text: a failed check, and the body ends."""
        ...

    def read_bytes(self, path: str) -> bytes:
        """Read a file of the workspace. Not there: a failed check, and the body ends."""
        ...

    def write_file(self, path: str, content: str | bytes) -> None:
        """Write a file of the workspace; never counted as the agent's change."""
        ...

    def exists(self, path: str) -> bool:
        """Say whether the workspace has a file or directory at ``path``."""
        ...


class _Registers(Protocol[Handle_co]):
    """The calls that register a check. The handle they return only configures that same check."""

    def check(self, value: object, match: Match) -> Handle_co:
        """Register one check of ``value``."""
        ...

    def file_changed(self, path: str, *, status: ChangeStatus | None = None) -> Handle_co:
        """Check that the agent added or modified ``path``, a plain path or a gitignore-style pattern."""
        ...

    def file_deleted(self, path: str) -> Handle_co:
        """Check that the agent deleted ``path``, a plain path or a gitignore-style pattern."""
        ...

    def changed_paths(self, paths: Sequence[str]) -> Handle_co:
        """Check that the agent changed exactly these paths."""
        ...

    def no_changes(self) -> Handle_co:
        """Check that the agent changed nothing."""
        ...

    def judge(
        self, judge: Judge | str, material: Mapping[str, Any] | None = None, *, on: Any = ..., **options: Any
    ) -> Handle_co:
        """Register one measurement by a model, which is made once: at ``or_stop``, or when the body has ended.

        ``material`` is shown in place of what the state shows. ``on``: the turn that is judged, or a JSON value that is
        judged as if it were the output; without it the latest turn. ``options``: ``model``, ``threshold``, ``votes``
        (an odd number: the median counts), ``state`` and ``artifacts`` (``True``, or names of attached images).
        """
        ...


class _Scores(Protocol):
    """What only a scored eval has."""

    def score(self, points: float) -> ScoreHandle:
        """Contribute ``points`` directly; finite, not negative."""
        ...


class Attempt(_AsyncCalls, _Registers[Check], Protocol):
    """What the ``async def`` body of a pass/fail eval gets."""


class ScoredAttempt(_AsyncCalls, _Registers[ScoredCheck], _Scores, Protocol):
    """What the ``async def`` body of a scored eval gets."""


class BlockingAttempt(_BlockingCalls, _Registers[BlockingCheck], Protocol):
    """What the plain ``def`` body of a pass/fail eval gets."""


class BlockingScoredAttempt(_BlockingCalls, _Registers[BlockingScoredCheck], _Scores, Protocol):
    """What the plain ``def`` body of a scored eval gets."""

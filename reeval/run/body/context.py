"""What does an ``async def`` body see? The attempt ``c``: its calls, its checks and what it is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import msgspec

from reeval.authoring import ChangeStatus, Command, Match
from reeval.errors import UsageError
from reeval.grade import workspace
from reeval.grade.checks.entry import Entry
from reeval.grade.ledger import Ledger
from reeval.grade.observing.observe import observe
from reeval.run.body.calls import Call, Calls
from reeval.run.body.handles import PointsHandle
from reeval.run.body.notes import Notes
from reeval.run.body.workspace import FileFault, WorkspaceCalls
from reeval.run.room.conversation import Conversation
from reeval.run.room.server import BackgroundServer
from reeval.schema.plan import PlannedAttempt, PlannedCell
from reeval.schema.spec import Judge
from reeval.schema.transcript import CommandResult, Turn

if TYPE_CHECKING:
    from reeval.run.judging.judges import Judges

__all__ = ["Body", "Context"]

H = TypeVar("H")
T = TypeVar("T")


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What a running body works on: all that one attempt collects."""

    attempt: PlannedAttempt
    case: Any
    calls: Calls
    ledger: Ledger
    notes: Notes
    conversation: Conversation
    workspace: WorkspaceCalls
    judges: Callable[[], Judges]
    """The attempt's judges, made with the first."""


class Context(Generic[H]):
    """Implements ``authoring.Attempt`` or ``ScoredAttempt``: ``make_handle`` decides which."""

    def __init__(self, body: Body, make_handle: Callable[..., H]) -> None:
        self._body = body
        self._calls = body.calls
        self._ledger = body.ledger
        self._make_handle = make_handle
        self._on_changes: list[tuple[Entry, Match]] = []

    # --- what this attempt is -------------------------------------------------------------------------

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far."""
        return self._body.conversation.turns

    @property
    def cell(self) -> PlannedCell:
        """Harness, environment and sandbox of this attempt."""
        return self._body.attempt.cell

    @property
    def run(self) -> int:
        """Its run number, from 1."""
        return self._body.attempt.run

    @property
    def case(self) -> Any:
        """The case's value; None for an eval without cases."""
        return self._body.case

    # --- calls that wait ------------------------------------------------------------------------------

    def send(self, prompt: str) -> Call[Turn]:
        """Send one prompt to the agent's session."""
        return self._calls.new("send", self._send, prompt)

    def exec(
        self, command: Command, *, retries: int = 0, interval: float = 1, env: Mapping[str, str] | None = None
    ) -> Call[CommandResult]:
        """Run a command in the workspace."""
        return self._calls.new("exec", self._body.workspace.exec, command, retries, interval, env)

    def serve(self, command: Command, port: int | None = None) -> AbstractAsyncContextManager[BackgroundServer]:
        """Run a process in the background."""
        return self._calls.block("serve", self._body.workspace.serve(command, port))

    def read_text(self, path: str) -> Call[str]:
        """Read a text file of the workspace."""
        return self._read("read_text", self._body.workspace.read_text, path)

    def read_bytes(self, path: str) -> Call[bytes]:
        """Read a file of the workspace."""
        return self._read("read_bytes", self._body.workspace.read_bytes, path)

    def write_file(self, path: str, content: str | bytes) -> Call[None]:
        """Write a file of the workspace."""
        return self._calls.new("write_file", self._body.workspace.write_file, path, content)

    def exists(self, path: str) -> Call[bool]:
        """Say whether the workspace has a file or directory there."""
        return self._calls.new("exists", self._body.workspace.exists, path)

    # --- checks ---------------------------------------------------------------------------------------

    def check(self, value: object, match: Match) -> H:
        """Register one check."""
        return self._make_handle(self._ledger.check(match, value, self._calls.line()), self._calls)

    def file_changed(self, path: str, *, status: ChangeStatus | None = None) -> H:
        """Check that the agent changed a file."""
        return self._on_end(workspace.file_changed(path, status=status), self._calls.line())

    def file_deleted(self, path: str) -> H:
        """Check that the agent deleted a file."""
        return self._on_end(workspace.file_deleted(path), self._calls.line())

    def changed_paths(self, paths: Sequence[str]) -> H:
        """Check that the agent changed exactly these paths."""
        return self._on_end(workspace.changed_paths(paths), self._calls.line())

    def no_changes(self) -> H:
        """Check that the agent changed nothing."""
        return self._on_end(workspace.no_changes(), self._calls.line())

    def judge(
        self, judge: Judge | str, material: Mapping[str, Any] | None = None, *, on: Any = ..., **options: Any
    ) -> H:
        """Register one measurement by a model."""
        from reeval.run.judging.call import judge_call

        self._calls.check_open("judge")
        line, judges = self._calls.line(), self._body.judges()
        try:
            call = judge_call(judge, material, on, options, self._body.attempt.eval.judge, self.turns)
            judges.check(call)
        except UsageError as error:
            raise UsageError(f"{self._ledger.place(line)}{error}") from None
        entry = self._ledger.pending("judge", call.question, line, measures=True, threshold=call.threshold)
        return self._make_handle(entry, self._calls, judges.add(call, entry))

    def score(self, points: float) -> PointsHandle:
        """Contribute points directly."""
        return PointsHandle(self._ledger.points(points, self._calls.line()), self._calls)

    # --- what never decides ---------------------------------------------------------------------------

    def observe(self, name: str, value: Any) -> None:
        """Record a JSON value."""
        self._calls.check_open("observe")
        self._body.notes.observe(name, value)

    def diagnostic(self, text: str, data: Any = None) -> None:
        """Record an explanation."""
        self._calls.check_open("diagnostic")
        self._body.notes.diagnostic(text, data)

    def attach(self, name: str, data: bytes | str) -> None:
        """Keep a file beside the record."""
        self._calls.check_open("attach")
        self._body.notes.attach(name, data)

    def skip(self, reason: str) -> NoReturn:
        """End the attempt as skipped."""
        self._calls.check_open("skip")
        if not _is_text(reason):
            raise UsageError(f"c.skip takes a reason, got {reason!r:.80}")
        self._ledger.close()
        raise self._calls.skip(reason)

    # --- for the attempt ------------------------------------------------------------------------------

    @property
    def attempt(self) -> PlannedAttempt:
        """Whose body it is."""
        return self._body.attempt

    def note(self, text: str) -> None:
        """Add a diagnostic of the run's own; any thread may."""
        self._body.notes.diagnostics.append(text)

    def settle(self) -> None:
        """Settle the checks on what the agent changed."""
        changes = [turn.changes for turn in self.turns]
        for entry, match in self._on_changes:
            entry.settle(observe(match, changes))

    async def _send(self, prompt: str) -> Turn:
        if not _is_text(prompt):
            raise UsageError(f"c.send takes a prompt that is not blank, got {prompt!r:.80}")
        return await self._body.conversation.send(prompt)

    def _read(self, name: str, read: Callable[[str], Coroutine[Any, Any, T]], path: str) -> Call[T]:
        line = self._calls.line(3)

        async def run() -> T:
            try:
                return await read(path)
            except FileFault as fault:
                self._ledger.failed(fault.claim, name, str(fault), line)
                raise self._calls.stop() from None

        return self._calls.new(name, run)

    def _on_end(self, match: Match, line: int | None) -> H:
        entry = self._ledger.pending(match.name, match.argument, line)
        self._on_changes.append((entry, match))
        return self._make_handle(entry, self._calls)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())

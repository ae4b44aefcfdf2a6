"""What plugs into a run? Every seam on one page (what a body sees is ``reeval.authoring``)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from reeval.authoring import Command
from reeval.backends import DatabaseKind, ModelKind, ModelReply, ModelRequest
from reeval.schema.environment import Egress, Layout, McpServer, PreparedTree, SetupStep
from reeval.schema.plan import Plan, PlannedAttempt, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import AttemptRecord, FileRef, RunRecord, RunStart
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.schema.recorded.network import RefusedRecord
from reeval.schema.transcript import Changes, Channel, CommandResult, Turn
from reeval.usage import Pricing

__all__ = [
    "Catalog",
    "Executor",
    "Harness",
    "HarnessKind",
    "Process",
    "Readiness",
    "Recorder",
    "Reporter",
    "Room",
    "Sandbox",
    "SandboxKind",
    "SandboxRequest",
    "Session",
    "Snapshot",
]

# --- where an attempt runs ----------------------------------------------------------------------------


class Snapshot(Protocol):
    """The workspace at one moment; only its sandbox can read it."""


class Process(Protocol):
    """A running process of a sandbox."""

    def stdout(self) -> AsyncIterator[bytes]:
        """Yield its output as it comes. It must be read, or the process may block."""
        ...

    def stderr_text(self) -> str:
        """Return what it wrote to standard error so far, bounded."""
        ...

    async def send(self, data: bytes) -> None:
        """Write to the standard input of one that was started with ``stdin="open"``, one sender at a time.

        Waits until it has read enough; ``OSError`` when it reads no more.
        """
        ...

    async def wait(self) -> int:
        """Return its exit code, minus the signal's number when a signal ended it."""
        ...

    async def kill(self) -> None:
        """End it with everything it started."""
        ...


class Sandbox(Protocol):
    """One started sandbox of an attempt. Paths are relative to the workspace, or ``~/…``."""

    @property
    def workspace(self) -> str:
        """The workspace's path, as processes in it see it."""
        ...

    async def exec(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        """Run a command to its end. Cancelling ends it with everything it started; output is bounded."""
        ...

    def start(
        self,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | Literal["open"] | None = None,
    ) -> AbstractAsyncContextManager[Process]:
        """Start a process whose output is read while it runs; leaving the block ends it.

        With ``stdin="open"`` it is talked to through ``Process.send``.
        """
        ...

    async def read(self, path: str, limit: int | None = None) -> bytes:
        """Read a file; ``FileNotFoundError``, ``IsADirectoryError`` or ``PermissionError`` when it cannot be."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Write a file, making its directories."""
        ...

    async def exists(self, path: str) -> bool:
        """Say whether there is a file or directory."""
        ...

    async def snapshot(self) -> Snapshot:
        """Remember the workspace as it is now."""
        ...

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """Return what differs between two snapshots."""
        ...


@dataclass(frozen=True, kw_only=True)
class SandboxRequest:
    """What one attempt asks of a sandbox."""

    key: str
    """The attempt's key, for labels and for finding leftovers."""
    run_id: str
    sandbox: PlannedSandbox
    tree: PreparedTree | None = None
    egress: Egress | None = None
    root: Path
    """The project's root on the host."""
    cached: tuple[SetupStep, ...] = ()
    """Setup steps that must have run in it when it opens, and may be what an earlier sandbox left of them."""
    cached_env: Mapping[str, str] = field(default_factory=dict)
    """The variables that those steps run with; no value is a secret's."""
    programs: tuple[str, ...] = ()
    """Host directories that stand in it at the same path, read-only; the ``bin`` of each is on ``PATH``."""
    hosts: tuple[str, ...] = ()
    """Of the agent's models: what may be reached where no policy says otherwise."""
    refused: Callable[[RefusedRecord], None] = lambda _: None
    """Is told, before the sandbox is gone, what it let no process connect to."""
    keep: bool = False
    """Leave it behind when the attempt ends, for a person to look into."""
    kept: Callable[[str], None] = lambda _: None
    """Is told where a kept sandbox is."""


class SandboxKind(Protocol):
    """A way to run attempts."""

    @property
    def name(self) -> str:
        """``local``, ``docker``."""
        ...

    def plan(self, id: str, options: Mapping[str, Any], harness: HarnessKind, root: Path) -> PlannedSandbox:
        """Resolve a config table of the project at ``root``; raise ``PlanError`` when this machine cannot."""
        ...

    def refuse(self, sandbox: PlannedSandbox, egress: Egress | None) -> str | None:
        """Say why this sandbox cannot hold this policy; None when it can."""
        ...

    def describe(self, sandbox: PlannedSandbox) -> str:
        """Say in a few words what it is, for the run's header."""
        ...

    async def prepare(self, request: SandboxRequest) -> object:
        """Make what attempts with such a request share, unless it is there: an image, what ``cached`` steps leave.

        Called once in a run for all of them, with a key of theirs, and outside every limit of an attempt. What it
        returns is kept as long as they may start: an object that holds what was made. Raises ``InfrastructureError``.
        """
        ...

    def open(self, request: SandboxRequest) -> AbstractAsyncContextManager[Sandbox]:
        """Start one; raise ``InfrastructureError`` (phase ``sandbox``) when it does not start."""
        ...

    async def finish(self, root: Path, room: int) -> None:
        """End what attempts shared, and keep what later runs may reuse of it below ``room`` bytes.

        Called when a run of the project at ``root`` ends, however it does.
        """
        ...

    async def sweep(self, root: Path) -> list[str]:
        """Remove what killed runs of this project left, never a live run's; return what was removed."""
        ...


# --- the agents ---------------------------------------------------------------------------------------


class Room(Protocol):
    """What a session may use of its attempt."""

    @property
    def key(self) -> str:
        """The attempt's key: a seed, a session's name."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of the agent's processes, secrets included."""
        ...

    @property
    def skills(self) -> tuple[str, ...]:
        """Names of the skills that the environment gives."""
        ...

    @property
    def mcp(self) -> Mapping[str, McpServer]:
        """The MCP servers that the environment gives, secrets filled in: no value of them is a ``Secret``."""
        ...

    async def sandbox(self) -> Sandbox:
        """Return the attempt's sandbox, started on the first call."""
        ...

    async def ask(self, model: str, request: ModelRequest) -> ModelReply:
        """Ask a model of the plan (see ``HarnessKind.models``); raise what ``Model.answer`` raises."""
        ...


class Session(Protocol):
    """A conversation with an agent."""

    async def send(self, prompt: str) -> Turn:
        """Send one prompt. A turn that never reached the agent is an ``InfrastructureError``."""
        ...


class Harness(Protocol):
    """One configured agent."""

    def session(self, room: Room) -> AbstractAsyncContextManager[Session]:
        """Start a conversation; raise ``InfrastructureError`` (phase ``harness``) when it does not start."""
        ...


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """Whether something that runs need is there."""

    ready: bool
    text: str
    """Where it is, or what is missing."""
    mend: str = ""
    """The next step when it is not ready."""


@dataclass(frozen=True, kw_only=True)
class HarnessKind:
    """A way to drive agents: what the planner may ask about it, and how to make one."""

    name: str
    options: type
    """A frozen dataclass: the options of a ``[harness.NAME]`` table beside the common ones."""
    open: Callable[[PlannedHarness, Path], Harness]
    """Takes the planned harness and the project's root."""
    layout: Callable[[Mapping[str, Any]], Layout] = field(default=lambda _: Layout())
    """Where its agent reads rules and skills, from its options."""
    unreported: Callable[[Mapping[str, Any]], frozenset[Channel]] = field(default=lambda _: frozenset())
    """The kinds of evidence it cannot report."""
    fingerprint: Callable[[PlannedHarness, Path], str] = field(default=lambda _harness, _root: "")
    """Digest of what decides how it works and stands on the host only, such as its own program's files."""
    in_process: bool = False
    """A scripted agent of the project's own, or one that works elsewhere: it needs no isolation."""
    mcp: Callable[[Mapping[str, Any]], frozenset[Literal["stdio", "http"]]] = field(default=lambda _: frozenset())
    """The kinds of MCP servers that its agent can be given."""
    resumes: bool = True
    """Whether a second send goes on with the same conversation; False: it is refused."""
    hosts: Callable[[PlannedHarness, Mapping[str, str]], tuple[str, ...]] = field(default=lambda _harness, _env: ())
    """Hosts (``api.example.com``) of its models, which its attempts may reach; takes the agent's variables too."""
    models: Callable[[PlannedHarness], tuple[str, ...]] = field(default=lambda _: ())
    """Models (``anthropic/…``) that its sessions ask through ``Room.ask``: they are planned, and their keys needed."""
    pricing: Callable[[PlannedHarness, Mapping[str, str]], Pricing] = field(default=lambda _harness, _env: Pricing())
    """How it will be known what its agent cost, but for ``models``; takes the agent's variables too."""
    needs_schema: bool = False
    """Its agent cannot look at the database: the prompt of a data question tells it the tables."""
    login: Callable[[PlannedHarness, Mapping[str, str]], str | None] = field(default=lambda _harness, _env: None)
    """Say why its agent is not logged in with these variables of its own; None: it is, or needs no login."""
    readiness: Callable[[PlannedHarness], Readiness | None] = field(default=lambda _: None)
    """Say whether its agent's program is ready on this host, without starting anything; None: it needs none."""
    programs: Callable[[PlannedHarness], tuple[str, ...]] = field(default=lambda _: ())
    """Install its agent's program into the user's cache on this host, unless it is there, and return the directories
    for ``SandboxRequest.programs``. Blocks, maybe for minutes: meant for a thread. Raises ``InfrastructureError``."""


# --- the run ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Every kind of harness, sandbox and model there is, by name."""

    harnesses: Mapping[str, HarnessKind]
    sandboxes: Mapping[str, SandboxKind]
    models: Mapping[str, ModelKind] = field(default_factory=dict)
    databases: Mapping[str, DatabaseKind] = field(default_factory=dict)


class Recorder(Protocol):
    """Puts results on disk. Every text it writes is masked."""

    def attempt(self, record: AttemptRecord) -> AttemptRecord:
        """Append a finished attempt, big parts as files; return it as it stands in the journal."""
        ...

    def artifact(self, attempt: PlannedAttempt, name: str, data: bytes) -> FileRef:
        """Keep one file of an attempt."""
        ...

    def document(self, of: PlannedAttempt | PlannedEval, path: str, data: bytes) -> FileRef:
        """Keep what a model was sent and answered: ``questions/1.json`` below the attempt or eval it is about."""
        ...

    def answer(self, record: AnswerRecord | PairRecord) -> None:
        """Append what a model answered to a question, after the attempts it is about; the last of a key counts."""
        ...

    def recall(self, attempt: PlannedAttempt) -> AttemptRecord:
        """Return a finished attempt of an eval with questions as it was recorded, every part read back.

        Any thread may call it. Raises ``RecordError`` when the attempt has no line, or a part of it is damaged.
        """
        ...

    def part(self, ref: FileRef) -> bytes:
        """Return the content of a file of this run; raise ``RecordError`` when it is not what was recorded."""
        ...

    def supersede(self, eval_id: str, reason: str) -> None:
        """Say that earlier attempts of this eval no longer count."""
        ...


class Executor(Protocol):
    """Runs one attempt of a plan."""

    async def execute(
        self, plan: Plan, key: str, recorder: Recorder, collected: Callable[[], None] = lambda: None
    ) -> AttemptRecord:
        """Run the attempt ``key`` (``EVAL@ATTEMPT``) and record it.

        ``collected`` is called at most once, from the event loop: when its evidence is collected and its sandbox is
        gone, and only judges are still to answer. From then on it takes no room from other attempts; an executor that
        never calls it holds its room to the end. Imports the eval file again and raises ``PlanError`` when its task
        digest differs from the plan's.
        """
        ...


class Reporter(Protocol):
    """Is told what happens in a run and decides nothing."""

    def run_started(self, plan: Plan, start: RunStart, facts: Sequence[str]) -> None:
        """The run begins; ``facts`` are lines of the header (sandboxes, what was left out, resumed)."""
        ...

    def attempt_started(self, attempt: PlannedAttempt) -> None:
        """An attempt begins."""
        ...

    def attempt_judging(self, attempt: PlannedAttempt) -> None:
        """Only judges are still to answer about an attempt, which takes no room from others any more."""
        ...

    def attempt_finished(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        """An attempt is on disk."""
        ...

    def attempts_left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """These attempts of one eval or more will not start: what they were for is known without them."""
        ...

    def question_answered(self, record: AnswerRecord | PairRecord, waiting: int) -> None:
        """A model answered a question, or failed to; ``waiting`` more attempts or pairs are to be asked about."""
        ...

    def warning(self, text: str) -> None:
        """Something worth saying that decides nothing."""
        ...

    def run_finished(self, record: RunRecord, failures: Sequence[AttemptRecord]) -> None:
        """The run is over and recorded; ``failures`` are the attempts to show in detail, bounded in number."""
        ...

"""A project in a directory, a plan of its one eval file, and the smallest recorder, reporter, sandbox and harness."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from msgspec.structs import replace

from reeval.authoring import Command
from reeval.backends import ModelKind, ModelReply, ModelRequest
from reeval.declare.loader import load_file
from reeval.plan.build import planned_task
from reeval.protocols import Catalog, HarnessKind, Room, Sandbox, SandboxRequest
from reeval.run.runner import RunOutcome, run_plan
from reeval.run.tools import Tools
from reeval.schema.environment import Environment, Layout
from reeval.schema.options import JudgeOptions, ResolvedGate
from reeval.schema.plan import (
    Plan,
    PlannedAttempt,
    PlannedCell,
    PlannedEval,
    PlannedHarness,
    PlannedModel,
    PlannedSandbox,
)
from reeval.schema.record import AttemptRecord, FileRef
from reeval.schema.spec import Declared, EvalSpec, GroupSpec
from reeval.schema.transcript import Changes, CommandResult, FileChange, Turn
from reeval.secrets import Masker
from reeval.usage import Usage

FILE = "evals/it.eval.py"


class MemoryRecorder:
    """Keeps records; ``fail_after`` records it raises ``error``."""

    def __init__(self, fail_after: int | None = None, error: Exception | None = None) -> None:
        self.records: list[AttemptRecord] = []
        self.artifacts: dict[str, bytes] = {}
        self.documents: dict[str, bytes] = {}
        self._fail_after = fail_after
        self._error = error

    def attempt(self, record: AttemptRecord) -> AttemptRecord:
        if self._error is not None and len(self.records) == self._fail_after:
            raise self._error
        self.records.append(record)
        return record

    def artifact(self, attempt: PlannedAttempt, name: str, data: bytes) -> FileRef:
        self.artifacts[name] = data
        return FileRef(file=f"it/{attempt.run}/{name}", bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def document(self, of: PlannedAttempt | PlannedEval, path: str, data: bytes) -> FileRef:
        self.documents[path] = data
        return FileRef(file=f"it/{path}", bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def supersede(self, eval_id: str, reason: str) -> None:
        raise AssertionError("a run never supersedes")


class MemoryReporter:
    def __init__(self) -> None:
        self.started: list[str] = []
        self.finished: list[str] = []
        self.judging: list[str] = []
        self.left_out: list[str] = []
        self.warnings: list[str] = []

    def run_started(self, plan: Any, start: Any, facts: Any) -> None: ...

    def attempt_started(self, attempt: PlannedAttempt) -> None:
        self.started.append(attempt.key)

    def attempt_judging(self, attempt: PlannedAttempt) -> None:
        self.judging.append(attempt.key)

    def attempt_finished(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        self.finished.append(attempt.key)

    def attempts_left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        self.left_out += [attempt.key for attempt in attempts]

    def warning(self, text: str) -> None:
        self.warnings.append(text)

    def run_finished(self, record: Any, failures: Any) -> None: ...


class PlainSandbox:
    """A directory, real processes, and snapshots that read every file."""

    def __init__(self, workspace: Path) -> None:
        self.directory = workspace

    @property
    def workspace(self) -> str:
        return str(self.directory)

    async def exec(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        process = await anyio.open_process(
            argv, cwd=self.directory, env={**os.environ, **(env or {})}, start_new_session=True
        )
        try:
            async with process:
                out = b"".join([chunk async for chunk in process.stdout or ()])
                err = b"".join([chunk async for chunk in process.stderr or ()])
                code = await process.wait()
        finally:
            end_group(process)
        shown = command if isinstance(command, str) else " ".join(command)
        return CommandResult(command=shown, exit_code=code, stdout=out.decode(), stderr=err.decode())

    @asynccontextmanager
    async def start(
        self, command: Command, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> AsyncIterator[PlainProcess]:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        variables = {**os.environ, **(env or {})}
        async with await anyio.open_process(argv, cwd=self.directory, env=variables, start_new_session=True) as process:
            try:
                yield PlainProcess(process)
            finally:
                end_group(process)

    async def read(self, path: str, limit: int | None = None) -> bytes:
        return (self.directory / path).read_bytes()[:limit]

    async def write(self, path: str, data: bytes) -> None:
        (self.directory / path).parent.mkdir(parents=True, exist_ok=True)
        (self.directory / path).write_bytes(data)

    async def exists(self, path: str) -> bool:
        return (self.directory / path).exists()

    async def snapshot(self) -> dict[str, bytes]:
        files = (path for path in self.directory.rglob("*") if path.is_file())
        return {str(path.relative_to(self.directory)): path.read_bytes() for path in files}

    async def changes(self, before: dict[str, bytes], after: dict[str, bytes]) -> Changes:
        changed = [
            FileChange(
                path=path, status="added" if path not in before else "deleted" if path not in after else "modified"
            )
            for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path)
        ]
        return Changes(files=tuple(changed), patch="".join(f"{one.status} {one.path}\n" for one in changed))


def end_group(process: anyio.abc.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class PlainProcess:
    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process

    async def stdout(self) -> AsyncIterator[bytes]:
        async for chunk in self._process.stdout or ():
            yield chunk

    def stderr_text(self) -> str:
        return ""

    async def wait(self) -> int:
        return await self._process.wait()

    async def kill(self) -> None:
        self._process.kill()


@dataclass
class PlainSandboxKind:
    """Opens ``PlainSandbox``es below ``base``; ``trouble`` is awaited before each is ready, with its number."""

    base: Path
    trouble: Callable[[int], Awaitable[None]] | None = None
    close_error: Exception | None = None
    opened: int = 0
    closed: int = 0
    requests: list[SandboxRequest] = field(default_factory=list)
    prepared: list[SandboxRequest] = field(default_factory=list)
    name: str = "plain"

    def plan(self, id: str, options: Any, harness: Any, root: Any) -> PlannedSandbox:
        return PlannedSandbox(id=id, kind="plain", isolated=False)

    def refuse(self, sandbox: Any, egress: Any) -> None: ...

    def describe(self, sandbox: Any) -> str:
        return "plain"

    async def prepare(self, request: SandboxRequest) -> None:
        self.prepared.append(request)

    @asynccontextmanager
    async def open(self, request: SandboxRequest) -> AsyncIterator[Sandbox]:
        self.opened += 1
        self.requests.append(request)
        if self.trouble is not None:
            await self.trouble(self.opened)
        self.base.mkdir(exist_ok=True)
        directory = Path(tempfile.mkdtemp(dir=self.base))
        if request.tree is not None and request.tree.workspace is not None:
            shutil.copytree(request.tree.workspace, directory, dirs_exist_ok=True, symlinks=True)
        async with anyio.create_task_group():  # As a real one may: entering and leaving must happen in one task.
            yield PlainSandbox(directory)
        self.closed += 1
        if self.close_error is not None:
            raise self.close_error

    async def finish(self, root: Path, room: int) -> None: ...

    async def sweep(self, root: Path) -> list[str]:
        return []


Answer = Callable[[str, Room], Awaitable[Turn]]


async def done(prompt: str, room: Room) -> Turn:
    return Turn(prompt=prompt, message="Done.")


@dataclass
class ScriptedHarness:
    """Answers with ``answer``; ``trouble`` is awaited before each session is ready, with its number."""

    answer: Answer = done
    trouble: Callable[[int, Room], Awaitable[None]] | None = None
    sessions: int = 0
    closed: int = 0

    @asynccontextmanager
    async def session(self, room: Room) -> AsyncIterator[ScriptedSession]:
        self.sessions += 1
        async with anyio.create_task_group():
            if self.trouble is not None:
                await self.trouble(self.sessions, room)
            yield ScriptedSession(self.answer, room)
        self.closed += 1


@dataclass
class ScriptedSession:
    answer: Answer
    room: Room

    async def send(self, prompt: str) -> Turn:
        return await self.answer(prompt, self.room)


Reply = Callable[[ModelRequest], Awaitable[Mapping[str, Any]]]


async def kind_words(request: ModelRequest) -> Mapping[str, Any]:
    return {"reason": "It is kind.", "score": 0.8}


@dataclass
class ScriptedModel:
    """Answers with ``reply`` and remembers what it was asked."""

    reply: Reply = kind_words
    requests: list[ModelRequest] = field(default_factory=list)
    now: int = 0
    most_at_once: int = 0

    @asynccontextmanager
    async def open(self, planned: PlannedModel, environ: Mapping[str, str], root: Path) -> AsyncIterator[ScriptedModel]:
        yield self

    async def answer(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            data = await self.reply(request)
        finally:
            self.now -= 1
        return ModelReply(data=data, usage=Usage(input=10, output=2, cost=0.25), model="scripted-1")


@dataclass
class Stage:
    """Everything a test may set before it runs, and look at afterwards."""

    root: Path
    harnesses: dict[str, ScriptedHarness] = field(default_factory=lambda: {"terse": ScriptedHarness()})
    limits: dict[str, int] = field(default_factory=dict)
    start_timeout: float = 10.0
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    reporter: MemoryReporter = field(default_factory=MemoryReporter)
    environments: dict[str, Environment] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    max_concurrent: int = 10
    runs: int = 1
    timeout: float = 20.0
    env: dict[str, Any] = field(default_factory=dict)
    judge: JudgeOptions = field(default_factory=JudgeOptions)
    model: ScriptedModel = field(default_factory=ScriptedModel)
    """The model ``fake``."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of ``Tools`` that differ."""

    def __post_init__(self) -> None:
        self.sandbox = PlainSandboxKind(self.root / "sandboxes")

    def write(self, source: str, file: str = FILE) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"from reeval import *\n{source}")

    def plan(self, *files: str) -> Plan:
        evals = [
            planned
            for file in files or (FILE,)
            for planned in self._evals(file, (), load_file(self.root, file).children)
        ]
        return Plan(
            kind=evals[0].kind,
            evals=tuple(evals),
            harnesses={
                id: PlannedHarness(id=id, kind=id, max_concurrent=self.limits.get(id), start_timeout=self.start_timeout)
                for id in self.harnesses
            },
            sandboxes={
                "plain": PlannedSandbox(id="plain", kind="plain", isolated=False, start_timeout=self.start_timeout)
            },
            environments=self.environments,
            max_concurrent=self.max_concurrent,
        )

    def tools(self) -> Tools:
        kinds = {
            id: HarnessKind(
                name=id,
                options=dict,
                open=lambda _planned, _root, it=it: it,
                layout=lambda _: Layout(),
                in_process=True,
            )
            for id, it in self.harnesses.items()
        }
        return replace(
            Tools(
                catalog=Catalog(
                    harnesses=kinds,
                    sandboxes={"plain": self.sandbox},
                    models={
                        "fake": ModelKind(name="fake", options=dict, open=self.model.open, max_concurrent=None),
                        "keyed": ModelKind(name="keyed", options=dict, open=self.model.open, key="KEYED_API_KEY"),
                    },
                ),
                root=self.root,
                run_id="20261130-000000-test",
                recorder=self.recorder,
                reporter=self.reporter,
                environ=self.environ,
                masker=Masker(),
            ),
            **self.changes,
        )

    def run(self, source: str) -> RunOutcome:
        self.write(source)
        return anyio.run(run_plan, self.plan(), self.tools())

    def record(self, source: str) -> AttemptRecord:
        """Run an eval file that has one attempt and return its record."""
        self.run(source)
        (record,) = self.recorder.records
        return record

    def _evals(self, file: str, above: tuple[str, ...], children: Sequence[Declared]) -> list[PlannedEval]:
        found: list[PlannedEval] = []
        for child in children:
            if isinstance(child, GroupSpec):
                found += self._evals(file, (*above, child.name), child.children)
            elif isinstance(child, EvalSpec):
                found.append(self._eval(file, (*above, child.name), child))
        return found

    def _eval(self, file: str, path: tuple[str, ...], spec: EvalSpec) -> PlannedEval:
        gate, environments = ResolvedGate(rule="all"), tuple(self.environments) or ("-",)
        return PlannedEval(
            id="::".join((file, *path)),
            file=file,
            path=path,
            slug=path[-1].replace(" ", "-"),
            line=spec.line,
            kind=spec.kind,
            mode="run",
            blocking=spec.blocking,
            cases=tuple(case.key for case in spec.cases or ()),
            cells=tuple(
                PlannedCell(key=f"{id}/{name}/plain", harness=id, environment=name, sandbox="plain")
                for id in self.harnesses
                for name in environments
            ),
            runs=self.runs,
            gate=gate,
            timeout=self.timeout,
            env=self.env,
            judge=self.judge,
            task=planned_task(spec.task, gate, self.judge),
        )

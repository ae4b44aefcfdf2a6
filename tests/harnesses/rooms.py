"""A room with a sandbox that is a plain directory: real processes and real files, nothing else."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from reeval.schema.transcript import CommandResult

ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


class PlainProcess:
    def __init__(self, process: anyio.abc.Process, errors: Path) -> None:
        self.process = process
        self.errors = errors

    async def stdout(self) -> AsyncIterator[bytes]:
        assert self.process.stdout is not None
        with suppress(anyio.EndOfStream):
            while True:
                yield await self.process.stdout.receive()

    async def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            await self.process.stdin.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise BrokenPipeError from error

    def stderr_text(self) -> str:
        return self.errors.read_text(errors="replace")

    async def wait(self) -> int:
        return await self.process.wait()

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class PlainSandbox:
    """The parts of a sandbox that harnesses use."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "home"
        self.commands: list[Any] = []
        for name in ("workspace", "home"):
            (top / name).mkdir()

    @property
    def workspace(self) -> str:
        return str(self.top / "workspace")

    def path(self, path: str) -> Path:
        return self.home / path[2:] if path.startswith("~/") else Path(self.workspace) / path

    async def exec(
        self, command: Any, *, env: Mapping[str, str] | None = None, stdin: bytes | None = None
    ) -> CommandResult:
        self.commands.append(command)
        done = await anyio.run_process(
            command,
            cwd=self.workspace,
            env={**ENV, "HOME": str(self.home), **(env or {})},
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            check=False,
        )
        return CommandResult(
            command=command if isinstance(command, str) else shlex.join(command),
            exit_code=done.returncode,
            stdout=done.stdout.decode("utf-8", "replace"),
            stderr=done.stderr.decode("utf-8", "replace"),
        )

    @asynccontextmanager
    async def start(
        self, command: Any, *, env: Mapping[str, str] | None = None, stdin: Any = None
    ) -> AsyncIterator[PlainProcess]:
        given = self.top / "stdin"
        given.write_bytes(b"" if stdin == "open" else stdin or b"")
        errors = self.top / "stderr"
        with given.open("rb") as source, errors.open("wb") as err:
            process = await anyio.open_process(
                command,
                cwd=self.workspace,
                env={**ENV, "HOME": str(self.home), **(env or {})},
                stdin=subprocess.PIPE if stdin == "open" else source,
                stderr=err,
                start_new_session=True,
            )
        started = PlainProcess(process, errors)
        try:
            yield started
        finally:
            with anyio.CancelScope(shield=True):
                await started.kill()
                await process.aclose()

    async def read(self, path: str, limit: int | None = None) -> bytes:
        return self.path(path).read_bytes()[:limit]

    async def write(self, path: str, data: bytes) -> None:
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    async def exists(self, path: str) -> bool:
        return self.path(path).exists()

    async def snapshot(self) -> Any:
        raise NotImplementedError

    async def changes(self, before: Any, after: Any) -> Any:
        raise NotImplementedError


class PlainRoom:
    """A room that counts how often its sandbox was asked for."""

    def __init__(
        self,
        top: Path,
        *,
        key: str = "evals/a.eval.py::a@fake/-/fake#1",
        env: Mapping[str, str] | None = None,
        skills: tuple[str, ...] = (),
    ) -> None:
        self.key = key
        self.env = env or {}
        self.skills = skills
        self.started = 0
        self._top = top
        self._sandbox: PlainSandbox | None = None

    async def sandbox(self) -> Any:
        if self._sandbox is None:
            self.started += 1
            self._sandbox = PlainSandbox(self._top)
        return self._sandbox

    def file(self, path: str) -> str:
        assert self._sandbox is not None
        return self._sandbox.path(path).read_text()

"""A place to open local sandboxes in, away from those of everybody else."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import pytest

from reeval.protocols import HarnessKind, Sandbox, SandboxRequest
from reeval.sandboxes.local import bubblewrap
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.schema.environment import Egress, PreparedTree

needs_bubblewrap = pytest.mark.skipif(
    bubblewrap.problem() is not None, reason=f"isolation cannot be tested here: {bubblewrap.problem()}"
)

AGENT = HarnessKind(name="agent", options=object, open=lambda *_: None)  # type: ignore[arg-type,return-value]


class Site:
    """Opens sandboxes of one kind below a temporary directory of its own."""

    def __init__(self, root: Path, isolation: str) -> None:
        self.root = root
        self.isolation = isolation
        self.kind = LocalSandboxKind()

    @classmethod
    def at(cls, root: Path, isolation: str, monkeypatch: pytest.MonkeyPatch) -> Site:
        (root / "tmp").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(root / "tmp"))
        return cls(root, isolation)

    @property
    def isolated(self) -> bool:
        return self.isolation != "none"

    def request(self, **given: Any) -> SandboxRequest:
        options = given.pop("options", {})
        planned = self.kind.plan("local", {"isolation": self.isolation, **options}, AGENT, self.root)
        return SandboxRequest(
            key="evals/a.eval.py::a@x/-/local#1", run_id="run", sandbox=planned, root=self.root, **given
        )

    def open(
        self,
        *,
        tree: PreparedTree | None = None,
        egress: Egress | None = None,
        keep: bool = False,
        options: dict[str, Any] | None = None,
    ) -> AbstractAsyncContextManager[Sandbox]:
        return self.kind.open(self.request(tree=tree, egress=egress, keep=keep, options=options or {}))

    def tree(self, files: dict[str, str]) -> PreparedTree:
        """Write a prepared tree: ``workspace/…`` and ``home/…`` paths to text."""
        top = self.root / "prepared"
        for name in ("workspace", "home"):
            (top / name).mkdir(parents=True)
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        return PreparedTree(digest="0", workspace=str(top / "workspace"), home=str(top / "home"))

    def attempts(self) -> list[Path]:
        """The attempts' directories on the host that are there now."""
        return sorted(path for path in (self.root / "tmp").glob("reeval-*/[0-9]*"))

    def host_workspace(self) -> Path:
        (attempt,) = self.attempts()
        return attempt / "workspace"


def open_files() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def processes_with(word: str) -> list[int]:
    """The live processes of this machine whose command line holds a word."""
    return [pid for pid, line in _command_lines() if word in line]


def wait_until_gone(word: str, seconds: float = 5.0) -> list[int]:
    """The processes with a word that are left after a while."""
    deadline = time.monotonic() + seconds
    while (left := processes_with(word)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _command_lines() -> Iterator[tuple[int, str]]:
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            with suppress(OSError):
                yield int(path.name), (path / "cmdline").read_bytes().decode("utf-8", "replace")

"""A project in a directory of its own, and the real command run in it as a person's shell would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONG = 90
"""Seconds after which a command counts as hanging, on a machine however busy."""
CONFIG = """
[harness.terse]
kind = "fake"
"""
PASSING = """
from reeval import Attempt, equals, evaluate

@evaluate("passes")
async def passes(c: Attempt) -> None:
    c.check(1, equals(1))
"""
COMMAND = (sys.executable, "-m", "reeval")


@dataclass(frozen=True)
class Done:
    """What a command did."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """What ``--json`` printed."""
        return [json.loads(line) for line in self.stdout.splitlines()]


@dataclass(frozen=True)
class Shell:
    """A project, and a place outside of it where bodies leave traces that no sandbox removes."""

    directory: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.directory / "project"

    @property
    def temporary(self) -> Path:
        """Where sandboxes are made."""
        return self.directory / "tmp"

    @property
    def traces(self) -> Path:
        """A file that bodies append to."""
        return self.directory / "traces"

    @property
    def mark(self) -> str:
        """A number of seconds that no other process sleeps: ``sleep MARK`` is seen in every namespace below."""
        return f"9{zlib.crc32(str(self.directory).encode())}"

    @property
    def env(self) -> dict[str, str]:
        told = {"CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}
        kept = {name: value for name, value in os.environ.items() if name not in told}
        mine = {"TERM": "xterm", "TMPDIR": str(self.temporary), "TRACES": str(self.traces), "MARK": self.mark}
        return {**kept, **mine, **self.variables}

    def set_up(self, config: str = CONFIG, **files: str) -> Shell:
        """Make the project; a keyword is a file of ``evals``, by its stem."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.write("reeval.config.toml", config)
        for stem, text in files.items():
            self.write(f"evals/{stem}.eval.py", text)
        return self

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def run(self, *arguments: str, prefix: Sequence[str] = (), **env: str) -> Done:
        """Run ``reeval ARGUMENTS``; ``prefix`` is a command that runs it."""
        return self.run_program(*prefix, *COMMAND, *arguments, **env)

    def run_program(self, *command: str, **env: str) -> Done:
        """Run any command in the project."""
        done = subprocess.run(
            command,
            capture_output=True,
            cwd=self.root,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            timeout=LONG,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str, prefix: Sequence[str] = (), **options: Any) -> subprocess.Popen[bytes]:
        """Start ``reeval ARGUMENTS`` and return while it runs."""
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen([*prefix, *COMMAND, *arguments], cwd=self.root, env=self.env, **given)

    # --- what was recorded ----------------------------------------------------------------------------

    @property
    def runs(self) -> list[Path]:
        """The directories of all runs, the oldest first."""
        return sorted((self.root / ".reeval" / "runs").glob("*"))

    @property
    def last(self) -> Path:
        return self.runs[-1]

    def record(self) -> dict[str, Any]:
        """Return the last run's ``record.json``."""
        return json.loads((self.last / "record.json").read_text())

    def totals(self) -> dict[str, int]:
        """Return how many attempts of the last run ended as what."""
        return {name: count for name, count in self.record()["totals"].items() if name != "cost"}

    def journal(self, run: Path | None = None) -> list[dict[str, Any]]:
        """Return the lines of a run's journal; each must be whole."""
        return [json.loads(line) for line in ((run or self.last) / "events.ndjson").read_bytes().splitlines()]

    def attempts(self, run: Path | None = None) -> list[dict[str, Any]]:
        return [line for line in self.journal(run) if line["type"] == "attempt"]

    def attempt(self, name: str) -> dict[str, Any]:
        """Return the one attempt of the last run whose eval has this name."""
        (found,) = [one for one in self.attempts() if one["eval"].rpartition("::")[2] == name]
        return found

    def traced(self) -> list[str]:
        """Return what bodies appended to the traces."""
        return self.traces.read_text().splitlines() if self.traces.exists() else []

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return what ``reeval query`` answers."""
        done = self.run("query", sql, "--format", "json")
        assert done.exit_code == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def nothing_written(self) -> bool:
        return not (self.root / ".reeval").exists()

    def no_sandbox_left(self) -> bool:
        return not list(self.temporary.glob("reeval-*"))

    def survivors(self) -> list[str]:
        """Return the command lines of processes that hold the mark."""
        found = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                line = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [line] if self.mark in line else []
        return found


def wait_for(condition: Callable[[], object], what: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until something holds; fail when it does not in a long time, or when the process that should do it ends."""
    deadline = time.monotonic() + LONG
    while not condition():
        if process is not None and process.poll() is not None and not condition():
            out, err = process.communicate()
            raise AssertionError(f"{what}: the process ended with {process.returncode}: {out!r} {err!r}")
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def needs(program: str) -> str | None:
    """Return why a test cannot be run here: a program is not installed."""
    return None if shutil.which(program) else f"{program} is not installed"

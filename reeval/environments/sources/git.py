"""How is git asked about a source that nobody vouches for? Without prompts, hooks, helpers and the user's index."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reeval.errors import PlanError

__all__ = ["GitError", "call", "located", "piped", "unusable"]

TIMEOUT = 300.0
"""Seconds for one call: a fetch that takes longer has stopped."""

_SAFE = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "credential.interactive": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "init.defaultBranch": "main",
    "maintenance.auto": "false",
}
_ENVIRONMENT = {
    "GCM_INTERACTIVE": "never",
    # Beside these, git has helpers that run any program: ext::, fd::, and what is on PATH as git-remote-NAME.
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_ASKPASS": "",
    "GIT_HTTP_LOW_SPEED_LIMIT": "1",
    "GIT_HTTP_LOW_SPEED_TIME": "60",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS_REQUIRE": "never",
}
_OF_A_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Set where reeval itself runs in a hook; they would lead git to the project's own repository."""
_NEXT = {
    "reeval never asks for a password: set up a credential helper or an ssh key for it": (
        "could not read username",
        "could not read password",
        "terminal prompts disabled",
        "authentication failed",
        "permission denied",
        "http basic: access denied",
        "the requested url returned error: 401",
        "the requested url returned error: 403",
        "host key verification failed",
    ),
    "correct the URL": ("not found", "does not exist", "does not appear to be a git repository", "no such file"),
    "without a network only a full commit hash that was fetched before works": (
        "could not resolve host",
        "couldn't connect",
        "connection refused",
        "connection timed out",
        "network is unreachable",
        "unable to access",
        "early eof",
        "longer than",
    ),
}


class GitError(Exception):
    """A call of git that did not work; its text is what git said."""

    def __init__(self, said: str, *, ended: bool = False) -> None:
        """``ended``: git ran to its end."""
        super().__init__(said)
        self.ended = ended


def call(*arguments: str, directory: Path | None = None, environ: dict[str, str] | None = None) -> bytes:
    """Run git to its end and return what it printed; raise ``GitError``."""
    with _started(arguments, directory, environ, stdin=subprocess.DEVNULL) as process:
        try:
            printed, said = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise GitError(f"it took longer than {TIMEOUT:g} s") from None
    if process.returncode:
        raise GitError(_first_fault(said), ended=True)
    return printed


@contextmanager
def piped(*arguments: str, directory: Path, stdin: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start git, read from ``stdin`` (a descriptor) and let its output be read; leaving the block ends it."""
    with _started(arguments, directory, None, stdin=stdin) as process:
        yield process


def located(url: str, root: Path) -> str:
    """Return a URL as git takes it from anywhere: a path is from the project's root."""
    head, colon, _ = url.partition(":")
    return url if colon and "/" not in head else os.fspath((root / url).resolve())


def unusable(owner: str, url: str, error: GitError) -> PlanError:
    """Return what to tell of a source that cannot be read."""
    said = str(error)
    low = said.lower()
    hint = next((step for step, signs in _NEXT.items() if any(sign in low for sign in signs)), None)
    return PlanError(f"{owner}: the git source {url!r} cannot be read: {said}{f'; {hint}' if hint else ''}")


@contextmanager
def _started(
    arguments: tuple[str, ...], directory: Path | None, environ: dict[str, str] | None, *, stdin: int
) -> Iterator[subprocess.Popen[bytes]]:
    options = [word for key, value in _SAFE.items() for word in ("-c", f"{key}={value}")]
    try:
        process = subprocess.Popen(
            ["git", *options, *arguments],
            cwd=directory,
            env={**_inherited(), **_ENVIRONMENT, **_confined(directory), **(environ or {})},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitError("git is not installed; install it (Debian, Ubuntu: apt install git)") from None
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                # Its helpers (ssh, git-remote-https) too: they hold the pipes open.
                os.killpg(process.pid, signal.SIGKILL)


def _inherited() -> dict[str, str]:
    environ = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    if "GIT_SSH_COMMAND" not in environ and "GIT_SSH" not in environ:
        environ["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=30"
    return environ


def _confined(directory: Path | None) -> dict[str, str]:
    """Keep git from taking a repository above for one that is damaged: a cache stands in the project's own."""
    return {} if directory is None else {"GIT_CEILING_DIRECTORIES": str(directory.resolve().parent)}


def _first_fault(said: bytes) -> str:
    """Return the line that says what is wrong, without git's prefix."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    faults = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))]
    line = (faults or lines or ["git said nothing"])[0]
    return line.partition(": ")[2][:500] if line in faults else line[:500]

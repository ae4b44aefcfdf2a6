"""How does an agent's program get onto this machine? Installed once by version, for every project of this user."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.bounds import cut

__all__ = ["install", "installed", "place_of", "programs_directory"]

_MARK = "installed"
"""Written last: a directory without it was left by an installation that did not end."""
_LIMIT = 900.0
"""Seconds."""
_SHOWN = 1000
"""Characters of what an installation printed: npm says first what went wrong, and pip last."""


def programs_directory() -> Path:
    """Return where programs are installed: in the user's cache, so that no clean checkout fetches them again."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "reeval" / "programs"


def place_of(package: Package, version: str) -> Path:
    """Return the directory that an installation has, also when there is none; its program is in ``bin`` there."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", package.name).strip("-")
    node = f"-node-{package.node}" if package.node else ""
    return programs_directory() / f"{name}-{version}{node}"


def installed(package: Package, version: str) -> bool:
    """Say whether the program is there."""
    return (place_of(package, version) / _MARK).exists()


def install(package: Package, version: str) -> Path:
    """Install the package, unless it is there, and return its directory. Blocks, maybe for minutes.

    Raises ``InfrastructureError`` (phase ``harness``). Another process that installs the same is waited for.
    """
    place = place_of(package, version)
    if installed(package, version):
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place):
            if not installed(package, version):
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                _fetch(package, version, place)
                _make_program(package, version, place)
                (place / _MARK).write_text(f"{package.name} {version}\n")
    except OSError as error:
        raise _failed(package, version, f"{error.strerror or error}: {error.filename or place}") from error
    return place


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(package: Package, version: str, place: Path) -> None:
    if package.source == "pip":
        # In a directory of its own: its python must not become the agent's.
        _run(package, version, [sys.executable, "-m", "venv", str(place / "venv")])
        pip = [str(place / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run(package, version, [*pip, f"{package.name}=={version}"])
        return
    npm = shutil.which("npm")
    if npm is None:
        raise _failed(package, version, "there is no npm on this machine; install Node.js, which brings it")
    wanted = [f"{package.name}@{version}", *([f"{_node()}@{package.node}"] if package.node else [])]
    # No scripts: what is started is the program itself, and no package may run code while it is installed.
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]
    _run(package, version, [npm, "install", *options, "--prefix", str(place), *wanted])


def _node() -> str:
    """Return the npm package that holds a Node for this machine."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"node-{sys.platform}-{machine}"


def _make_program(package: Package, version: str, place: Path) -> None:
    found = sorted(place.glob(package.entry))
    if not found:
        raise _failed(package, version, f"it holds no {package.entry}; this version is not known to work")
    entry, program = found[0], place / "bin" / package.program
    program.parent.mkdir()
    if package.node is None:
        entry.chmod(entry.stat().st_mode | 0o111)
        program.symlink_to(os.path.relpath(entry, program.parent))
        return
    node = place / "node_modules" / _node() / "bin" / "node"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(node))} {shlex.quote(str(entry))} "$@"\n')
    program.chmod(0o755)


def _run(package: Package, version: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise _failed(package, version, f"it took more than {_LIMIT:g} s") from None
    if done.returncode:
        raise _failed(package, version, cut(done.stdout.strip(), _SHOWN) or f"exit code {done.returncode}")


def _failed(package: Package, version: str, why: str) -> InfrastructureError:
    reason = f"{package.name} {version} cannot be installed into {place_of(package, version)}: {why}"
    return InfrastructureError(Phase.HARNESS, reason)

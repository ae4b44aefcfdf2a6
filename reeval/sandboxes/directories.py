"""Where do an attempt's files live on the host, whose are they, and how do they go away?

Each attempt has a directory of its own below the system's temporary directory: ``workspace``, ``home`` and ``tmp``
are what it sees, ``state`` (what changed) and ``etc`` it never does. ``owner.json`` names the process that made it, so
that what a killed run left can be told from what a live one uses.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.processes.kin import end_marked

__all__ = ["AttemptDirectory", "create", "leftovers", "remove", "remove_leftover"]

PREFIX = "reeval-"
OWNER = "owner.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AttemptDirectory:
    """The directories of one attempt."""

    path: Path

    @property
    def name(self) -> str:
        """Unique on this machine."""
        return self.path.name

    @property
    def workspace(self) -> Path:
        """What the agent works on."""
        return self.path / "workspace"

    @property
    def home(self) -> Path:
        """The agent's home."""
        return self.path / "home"

    @property
    def tmp(self) -> Path:
        """Its ``/tmp``."""
        return self.path / "tmp"

    @property
    def etc(self) -> Path:
        """Small files that stand in for the host's own in ``/etc``."""
        return self.path / "etc"

    @property
    def state(self) -> Path:
        """The private git directory."""
        return self.path / "state"


def create(run_id: str, key: str, root: Path, *, keep: bool) -> AttemptDirectory:
    """Make an attempt's directories, for this user only; raise ``InfrastructureError``."""
    label = re.sub(r"[^A-Za-z0-9._-]", "-", run_id)[:24]
    try:
        made = AttemptDirectory(Path(os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{label}-"))))
        owner = {**_this_process(), "kept": keep, "key": key, "root": str(root.resolve()), "run": run_id}
        (made.path / OWNER).write_text(json.dumps(owner))
        for directory in (made.workspace, made.home, made.tmp):
            directory.mkdir()
    except OSError as error:
        where = tempfile.gettempdir()
        reason = f"no sandbox can be made in {where}: {error.strerror or error}; free some space or set TMPDIR"
        raise InfrastructureError(Phase.SANDBOX, reason) from error
    return made


def remove(directory: Path) -> None:
    """Remove a directory whatever it holds. Failing is logged and harms nothing: the next run sweeps it."""
    if _removed(directory):
        return
    # What the agent made read-only, or nested deeper than Python can recurse.
    subprocess.run(["chmod", "-R", "u+rwX", "--", directory], check=False, capture_output=True)
    done = subprocess.run(["rm", "-rf", "--", directory], check=False, capture_output=True, text=True)
    if done.returncode:
        _log.warning("the directory %s could not be removed: %s", directory, done.stderr[:500].strip())


def leftovers(root: Path) -> list[Path]:
    """Return the directories that dead processes left of the project at ``root``; kept ones are not among them."""
    return [path for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")) if _is_leftover(path, root)]


def remove_leftover(directory: Path) -> None:
    """Remove what a killed run left, and end the processes of it that still run."""
    path = Path(os.path.realpath(directory))
    end_marked(f"{path.name}.", below=str(path))
    remove(path)


def _removed(directory: Path) -> bool:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return not directory.exists()
    except (OSError, RecursionError):
        return False
    return True


def _is_leftover(path: Path, root: Path) -> bool:
    with suppress(OSError, ValueError):
        # The temporary directory is everybody's: what another user put there is not believed.
        if path.is_symlink() or path.stat().st_uid != os.geteuid():
            return False
        owner = json.loads((path / OWNER).read_text())
        if not isinstance(owner, dict) or owner.get("kept") is not False:
            return False
        here = _this_process()
        if owner.get("root") != str(root.resolve()) or owner.get("host") != here["host"]:
            return False
        pid = owner.get("pid")
        return isinstance(pid, int) and not _lives(pid, owner.get("started"))
    return False


def _lives(pid: int, started: object) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return _start_of(pid) == started


@cache
def _this_process() -> dict[str, int | str | None]:
    pid = os.getpid()
    space = ""
    with suppress(OSError):
        # Two containers that share a temporary directory have equal process numbers.
        space = str(Path("/proc/self/ns/pid").readlink())
    return {"host": f"{socket.gethostname()} {space}".strip(), "pid": pid, "started": _start_of(pid)}


def _start_of(pid: int) -> int | None:
    """Return when a process started, in the kernel's ticks; None where that is unknown."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None

"""Where do an attempt's files live on the host, whose are they, and how do they go away?

A process makes one directory for a run below the system's temporary directory, and in it one for each attempt:
``workspace``, ``home`` and ``tmp`` are what the attempt sees, ``state`` (what changed) it never does. ``owner.json``
names the process, so that what a killed run left can be told from what a live one uses.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.owner import is_dead, this_process
from reeval.sandboxes.processes.kin import end_marked

__all__ = ["AttemptDirectory", "create", "leftovers", "remove", "sweep"]

PREFIX = "reeval-"
OWNER = "owner.json"
_log = logging.getLogger(__name__)


class AttemptDirectory:
    """The directories of one attempt."""

    def __init__(self, shared: Path, number: int) -> None:
        self.shared = shared
        """The directory of all attempts of the process in this run."""
        self.path = f"{shared}/{number}"
        self.mark = f"{shared.name}.{number}."
        """Unique on this machine."""
        self.workspace = f"{self.path}/workspace"
        """What the agent works on."""
        self.home = f"{self.path}/home"
        """The agent's home."""
        self.tmp = f"{self.path}/tmp"  # noqa: S108 - below the directory of this user
        """Its ``/tmp``."""
        self.state = f"{self.path}/state"
        """The private git directory, made when it is needed."""

    def make(self) -> None:
        """Make those that are always there; raise ``OSError``."""
        for directory in (self.path, self.workspace, self.home, self.tmp):
            os.mkdir(directory)  # noqa: PTH102 - hot


@dataclass(slots=True)
class _RunDirectory:
    """What a process made for a run."""

    path: Path
    numbers: count[int] = field(default_factory=lambda: count(1))


_runs: dict[tuple[str, Path], _RunDirectory] = {}


def create(run_id: str, root: Path, *, keep: bool) -> AttemptDirectory:
    """Make an attempt's directories, for this user only; raise ``InfrastructureError``.

    ``keep``: in a directory of its own, that is never removed.
    """
    try:
        run = _made(run_id, root, keep=True) if keep else _run(run_id, root)
        made = AttemptDirectory(run.path, next(run.numbers))
        made.make()
    except OSError as error:
        where = tempfile.gettempdir()
        reason = f"no sandbox can be made in {where}: {error.strerror or error}; free some space or set TMPDIR"
        raise InfrastructureError(Phase.SANDBOX, reason) from error
    return made


def _run(run_id: str, root: Path) -> _RunDirectory:
    """Return the directory that attempts share; it goes when this process ends."""
    run = _runs.get((run_id, root))
    if run is None or not run.path.is_dir():
        run = _runs[run_id, root] = _made(run_id, root, keep=False)
        atexit.register(_remove_at_exit, run.path, os.getpid())
    return run


def _made(run_id: str, root: Path, *, keep: bool) -> _RunDirectory:
    label = re.sub(r"[^A-Za-z0-9_-]", "-", run_id)[:24]
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{label}-")))
    owner = {**this_process(), "kept": keep, "root": str(root.resolve()), "run": run_id}
    (path / OWNER).write_text(json.dumps(owner))
    return _RunDirectory(path)


def _remove_at_exit(path: Path, pid: int) -> None:
    if os.getpid() == pid:
        remove(path)


def remove(directory: str | Path) -> None:
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


def sweep(root: Path) -> list[str]:
    """Remove what killed runs of a project left, end the processes of it that still run; return what is gone."""
    found = leftovers(root)
    for directory in found:
        _remove_leftover(directory)
    return [str(directory) for directory in found if not directory.exists()]


def _remove_leftover(directory: Path) -> None:
    path = Path(os.path.realpath(directory))
    end_marked(f"{path.name}.", below=str(path))
    remove(path)


def _removed(directory: str | Path) -> bool:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return not os.path.lexists(directory)
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
        return owner.get("root") == str(root.resolve()) and is_dead(owner)
    return False

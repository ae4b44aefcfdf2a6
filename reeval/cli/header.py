"""Who began this run, where, and from which state of the project?"""

from __future__ import annotations

import getpass
import os
import platform
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.version import __version__

if TYPE_CHECKING:
    from reeval.schema.plan import Plan
    from reeval.schema.record import RunStart
    from reeval.secrets import Masker

__all__ = ["run_start"]


@dataclass(frozen=True, kw_only=True)
class _GitState:
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None


def run_start(plan: Plan, root: Path, home: Path, *, run_id: str, masker: Masker) -> RunStart:
    """Return the head of the journal of a run that begins now; ``home`` is the checkout, ``root`` what runs."""
    from reeval.schema.plan import plan_data
    from reeval.schema.record import SCHEMA_VERSION, RunStart

    git = _git_state(root)
    return RunStart(
        schema_version=SCHEMA_VERSION,
        run_id=run_id,
        created_at=int(time.time() * 1000),
        created_by=_user(),
        project=home.name,
        reeval_version=__version__,
        python_version=platform.python_version(),
        platform=f"{sys.platform} {platform.machine()}",
        host=socket.gethostname(),
        pid=os.getpid(),
        command=[masker.text(word) for word in ("reeval", *sys.argv[1:])],
        git_commit=git.commit,
        git_branch=plan.selection.branch or git.branch,
        git_dirty=git.dirty,
        plan=plan_data(plan),
    )


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user: a container with a bare number
        return None


def _git_state(root: Path) -> _GitState:
    """Ask git once; a project without git, or a machine without it, has no state."""
    command = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return _GitState()
    lines = done.stdout.splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch."))
    commit = heads.get("branch.oid")
    return _GitState(
        commit=None if commit == "(initial)" else commit,
        branch=heads.get("branch.head"),
        dirty=any(not line.startswith("#") for line in lines),
    )

"""Which history does a workspace with ``init`` begin with? One commit of all of it, the same wherever it is made."""

from __future__ import annotations

import os
from pathlib import Path

from reeval.environments.sources.git import GitError, call
from reeval.errors import InfrastructureError, Phase

__all__ = ["add_history"]

# No word that tells the agent where it is.
_NAME, _EMAIL, _DATE = "author", "author@localhost", "2000-01-01T00:00:00 +0000"
_ENVIRONMENT = {
    **{f"GIT_{who}_NAME": _NAME for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": _EMAIL for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": _DATE for who in ("AUTHOR", "COMMITTER")},
    # A user's own ignores, line ends and signing would make another commit of it on each machine.
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def add_history(workspace: Path, owner: str) -> None:
    """Make ``workspace`` a repository with one commit on ``main``; raise ``InfrastructureError``, naming ``owner``.

    The agent can commit to it at once: the repository names an author.
    """
    steps = (
        ("init", "--quiet", "--template=", "--initial-branch=main"),
        ("config", "user.name", _NAME),
        ("config", "user.email", _EMAIL),
        ("add", "--all"),
        ("commit", "--quiet", "--allow-empty", "--message=Start"),
    )
    try:
        for step in steps:
            call(*step, directory=workspace, environ=_ENVIRONMENT)
    except GitError as error:
        raise InfrastructureError(Phase.SETUP, f"{owner}: no git history can be made: {error}") from None

"""``--branch`` and ``--vs-branch``: what does a branch hold, laid out beside the checkout?

Each branch is a git worktree of its own below ``.reeval/branches``, removed when the block ends. Records and relative
paths of databases stay with the checkout.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.cli.project import Project
from reeval.errors import UsageError
from reeval.plan.config import CONFIG_NAME, load_config

if TYPE_CHECKING:
    from reeval.schema.environment import Environment
    from reeval.schema.plan import Selection

__all__ = ["leftover_branches", "on_branches", "sweep_branches"]

BRANCHES = Path(".reeval", "branches")
VARIABLE = "REEVAL_BRANCH"
"""Tells the agent of a compare of branches which one it works on."""
_AS_IT_IS = "checkout"
_SECONDS = 300


@contextmanager
def on_branches(project: Project, selection: Selection) -> Iterator[Project]:
    """Yield the project as the selection's branch holds it, its data questions compared with those of the other one.

    Raises ``UsageError`` when there is no such branch, or no project on it.
    """
    if selection.branch is None and selection.vs_branch is None:
        yield project
        return
    repository = _Repository.of(project.store.root)
    sweep_branches(project.store.root)
    with ExitStack() as stack:
        if selection.branch is not None:
            root = stack.enter_context(repository.laid_out(selection.branch))
            project = replace(project, root=root, config=load_config(root))
        if selection.vs_branch is not None:
            project = _compared(project, selection, repository, stack)
        yield project


def leftover_branches(root: Path) -> list[Path]:
    """Return the worktrees that killed processes left."""
    return [path for path in sorted((root / BRANCHES).glob("*")) if not _is_alive(path.name.partition("-")[0])]


def sweep_branches(root: Path) -> list[Path]:
    """Remove the worktrees that killed processes left, and return them."""
    found = leftover_branches(root)
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    if found:
        subprocess.run(["git", "worktree", "prune"], cwd=root, capture_output=True, timeout=_SECONDS, check=False)
    return found


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


@dataclass(frozen=True)
class _Repository:
    """The git repository that a project is in."""

    root: Path
    """The project's."""
    prefix: str
    """The project's folder in the repository."""

    @classmethod
    def of(cls, root: Path) -> _Repository:
        done = _git(root, "rev-parse", "--show-prefix")
        if done is None:
            raise UsageError(f"--branch and --vs-branch need git, and {root} is in no git repository")
        return cls(root, done)

    @contextmanager
    def laid_out(self, name: str | None) -> Iterator[Path]:
        """Yield the project's folder as a branch holds it; None: as the checkout does, tracked files only."""
        commit = self._state() if name is None else self._commit(name)
        home = self.root / BRANCHES / f"{os.getpid()}-{secrets.token_hex(4)}"
        home.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lay_out(home, commit)
            folder = home / self.prefix
            if not (folder / CONFIG_NAME).is_file():
                raise UsageError(f"branch {name!r} has no {self.prefix}{CONFIG_NAME}; name one that has the project")
            yield folder
        finally:
            _git(self.root, "worktree", "remove", "--force", str(home))
            shutil.rmtree(home, ignore_errors=True)

    def current(self) -> str:
        """Return the name of the checkout's branch."""
        name = _git(self.root, "rev-parse", "--abbrev-ref", "HEAD")
        return name if name and name != "HEAD" else _AS_IT_IS

    def _lay_out(self, home: Path, commit: str) -> None:
        # A hook of the repository is none of a run's business.
        words = ("git", "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", str(home), commit)
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise UsageError(f"git cannot lay out commit {commit[:12]} in {home}: {said}")

    def _commit(self, name: str) -> str:
        commit = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if not commit:
            from reeval.plan.nearest import hint

            known = _git(self.root, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes")
            raise UsageError(f"there is no branch {name!r}; {hint(name, (known or '').split())}")
        return commit

    def _state(self) -> str:
        """Return a commit of the checkout as it is, which no branch names."""
        return _git(self.root, *_AUTHOR, "stash", "create") or self._commit("HEAD")


_AUTHOR = ("-c", "user.name=reeval", "-c", "user.email=reeval@localhost")


def _git(root: Path, *arguments: str) -> str | None:
    """Return what a git command prints; None when it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


# --- the compare --------------------------------------------------------------------------------------


def _compared(project: Project, selection: Selection, repository: _Repository, stack: ExitStack) -> Project:
    """Return the project with a compare of both branches for its data questions: the other one is the control."""
    from reeval.schema.spec import CompareSpec

    ours, other = selection.branch or repository.current(), str(selection.vs_branch)
    if selection.branch == other:
        raise UsageError(f"--branch and --vs-branch are both {other!r}; name two branches")
    if ours == other:
        ours = _AS_IT_IS
    sides = []
    for name, branch in ((other, other), (ours, selection.branch)):
        folder = stack.enter_context(repository.laid_out(branch))
        sides.append(_side(project, selection, name, folder))
    data = project.config.data
    compare = replace(data.compare or CompareSpec(variants=()), baseline=sides[0], variants=(sides[1],))
    return replace(project, config=replace(project.config, data=replace(data, compare=compare)))


def _side(project: Project, selection: Selection, name: str, folder: Path) -> Environment:
    """Return the environment of data questions as a branch holds it, without the questions and their answers."""
    from reeval.schema.environment import Environment, Workspace

    config = load_config(folder)
    wanted = _environment_name(project, selection)
    if wanted is not None and wanted not in config.environments:
        raise UsageError(f"branch {name!r} has no environment {wanted!r}, which its data questions run in")
    for path in (folder / config.data.folder).glob("eval_questions*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    plain = Environment(name=name, workspace=Workspace(path="."))
    environment = config.environments[wanted] if wanted is not None else plain
    return _rebased(replace(environment, name=name, env={**environment.env, VARIABLE: name}), folder)


def _environment_name(project: Project, selection: Selection) -> str | None:
    config = project.config
    profile = config.profiles.get(selection.profile or "")
    for options in (config.data.options, profile.defaults if profile else {}, config.defaults):
        if isinstance(named := options.get("environment"), str):
            return named
    return None


def _rebased(environment: Environment, folder: Path) -> Environment:
    """Return an environment whose paths start at ``folder`` wherever the project is."""
    from reeval.schema.environment import HostFile

    def moved(value: str | HostFile) -> str | HostFile:
        return HostFile(path=str(folder / value.path)) if isinstance(value, HostFile) else value

    workspace = environment.workspace
    if workspace is not None and workspace.git is None and workspace.path is not None:
        workspace = replace(workspace, path=str(folder / workspace.path))
    return replace(
        environment,
        workspace=workspace,
        files={path: moved(content) for path, content in environment.files.items()},
        rules=None if environment.rules is None else moved(environment.rules),
        skills=tuple(
            replace(skill, path=str(folder / skill.path)) if skill.kind == "local" and skill.path else skill
            for skill in environment.skills
        ),
    )

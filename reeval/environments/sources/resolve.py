"""Which commit does a git source stand for now?"""

from __future__ import annotations

import re
from pathlib import Path

from reeval.environments.sources.git import GitError, call, located, unusable
from reeval.errors import PlanError

__all__ = ["is_commit", "resolve"]

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_SHORT = re.compile(r"[0-9a-f]{4,63}", re.IGNORECASE)


def is_commit(ref: str | None) -> bool:
    """Say whether a ref is a whole commit hash, which stands for itself without asking anyone."""
    return ref is not None and _COMMIT.fullmatch(ref) is not None


def resolve(url: str, ref: str | None, root: Path, owner: str) -> str:
    """Ask the source for the commit of a branch, a tag or its default branch; raise ``PlanError``, naming ``owner``."""
    if ref is not None and is_commit(ref):
        return ref.lower()
    names = [ref or "HEAD"] if ref is None or ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}"]
    try:
        printed = call("ls-remote", "--quiet", "--", located(url, root), *names, *(f"{name}^{{}}" for name in names))
    except GitError as error:
        raise unusable(owner, url, error) from None
    lines = (line.split("\t") for line in printed.decode("utf-8", "replace").splitlines())
    found = {name: commit for commit, name in lines}
    # An annotated tag is an object of its own; what it is about is listed with ^{}.
    commits = {name: found.get(f"{name}^{{}}", found[name]) for name in names if name in found}
    if len(set(commits.values())) > 1:
        raise PlanError(f"{owner}: {ref!r} is a branch and a tag of {url!r}; write {' or '.join(map(repr, commits))}")
    if not commits:
        raise PlanError(f"{owner}: {_missing(url, ref)}")
    return next(iter(commits.values()))


def _missing(url: str, ref: str | None) -> str:
    if ref is None:
        return f"the git source {url!r} has no commit yet; make one, or name a ref"
    whole = ", and a commit is written with all of its 40 digits" if _SHORT.fullmatch(ref) else ""
    return f"{ref!r} is no branch and no tag of the git source {url!r}{whole}; correct ref"

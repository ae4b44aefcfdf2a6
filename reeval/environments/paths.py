"""Where in an attempt does a declared path lead? In the workspace or in the agent's home, and nowhere else."""

from __future__ import annotations

from reeval.errors import PlanError

__all__ = ["HOME", "WORKSPACE", "tree_path"]

WORKSPACE = "workspace"
HOME = "home"


def tree_path(path: str, owner: str) -> str:
    """Return ``workspace/…`` or, for ``~/…``, ``home/…``; ``owner`` names the declaration in a ``PlanError``."""
    area, rest = (HOME, path[2:]) if path.startswith("~/") else (WORKSPACE, path)
    parts = [part for part in rest.split("/") if part not in {"", "."}]
    if not parts or path.endswith("/"):
        raise PlanError(f"{owner}: {path!r} names no file; write a file's path in the workspace, or '~/…'")
    if rest.startswith("/"):
        raise PlanError(f"{owner}: {path!r} is absolute; write it from the workspace, or '~/…' for the agent's home")
    if ".." in parts:
        raise PlanError(f"{owner}: {path!r} leaves the {area} with '..'; write the path without it")
    if "\0" in path:
        raise PlanError(f"{owner}: {path!r} holds a NUL character, which no file system takes; remove it")
    if parts[0] == "~":
        raise PlanError(f"{owner}: {path!r} is not a path of the agent's home; write '~/name'")
    return "/".join((area, *parts))

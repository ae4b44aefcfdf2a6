"""What do files of the workspace hold, as a judge is shown them? Read before the sandbox is closed."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.grade.observing.paths import ignored_matcher, patterns_matcher
from reeval.protocols import Sandbox
from reeval.run.judging.call import is_exact
from reeval.run.room.faults import adapted

__all__ = ["workspace_contents"]

LIMIT = 30.0
"""Seconds for all files together."""
MOST_FILES = 100
MOST_BYTES = 1024 * 1024
"""Of one file."""
MOST_NAMES = 8 * 1024 * 1024
"""Bytes of the list of all files."""
_LISTED = ("find", ".", "-name", ".git", "-prune", "-o", "-type", "f", "-print0")


async def workspace_contents(sandbox: Sandbox, wanted: Sequence[str]) -> dict[str, str | None]:
    """Return the texts of the files that ``wanted`` names, by path; None: an exact path where there is nothing.

    Entries are exact paths and gitignore-style patterns. A pattern finds no file that ``.gitignore`` leaves out.
    Raises ``InfrastructureError`` (phase ``judge``).
    """
    try:
        with anyio.fail_after(LIMIT), adapted(Phase.JUDGE, "the workspace could not be read for a judge"):
            return await _contents(sandbox, wanted)
    except TimeoutError:
        reason = f"reading the workspace for a judge took longer than {LIMIT:g} s; show fewer contents"
        raise InfrastructureError(Phase.JUDGE, reason) from None


async def _contents(sandbox: Sandbox, wanted: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {path: await _text(sandbox, path) for path in wanted if is_exact(path)}
    patterns = [path for path in wanted if not is_exact(path)]
    if not patterns:
        return found
    matches = patterns_matcher(patterns)
    paths = [path for path in await _visible(sandbox) if path not in found and matches(path)]
    for path in paths[:MOST_FILES]:
        found[path] = await _text(sandbox, path)
    if len(paths) > MOST_FILES:
        more = len(paths) - MOST_FILES
        found[f"{more:,} more files"] = "(not shown: too many files match)"
    return found


async def _visible(sandbox: Sandbox) -> list[str]:
    """Return the paths of the workspace's files, without those that its own ``.gitignore`` leaves out."""
    data = b""
    async with sandbox.start(_LISTED) as process:
        async for chunk in process.stdout():
            data += chunk
            if len(data) > MOST_NAMES:
                break
    # The last piece is empty, or a name that was cut.
    names = sorted(name.decode("utf-8", "replace").removeprefix("./") for name in data.split(b"\0")[:-1])
    try:
        ignored = ignored_matcher((await sandbox.read(".gitignore", MOST_BYTES)).decode("utf-8", "replace"))
    except (OSError, ValueError):  # There is none, or one that git would not understand either.
        return names
    return [name for name in names if not ignored(name)]


async def _text(sandbox: Sandbox, path: str) -> str | None:
    try:
        data = await sandbox.read(path, MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        return "(a directory)"
    except PermissionError:
        return "(it cannot be read)"
    if b"\0" in data[:8192]:
        return "(not a text file)"
    more = "\n[… the file goes on …]" if len(data) > MOST_BYTES else ""
    return data[:MOST_BYTES].decode("utf-8", "replace") + more

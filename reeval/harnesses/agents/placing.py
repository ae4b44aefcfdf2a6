"""How do an agent's config files get into its sandbox, beside what an environment put there?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.agents.agent import AgentFile
from reeval.protocols import Sandbox

__all__ = ["merged", "place"]


async def place(files: Iterable[AgentFile], sandbox: Sandbox, placed: dict[str, AgentFile]) -> None:
    """Write the files that are not among ``placed``, and add them; raise ``InfrastructureError`` (``harness``)."""
    for file in files:
        if placed.get(file.path) == file:
            continue
        try:
            there = b"" if file.merge == "replace" else await _there(sandbox, file.path)
            await sandbox.write(file.path, merged(there, file))
        except OSError as error:
            reason = f"{file.path!r} cannot be placed in the sandbox: {error.strerror or error}"
            raise InfrastructureError(Phase.HARNESS, reason) from error
        placed[file.path] = file


def merged(there: bytes, file: AgentFile) -> bytes:
    """Return a file's content, laid over or added to what is there; raise ``InfrastructureError`` (``harness``)."""
    if file.merge == "append" and there:
        return there.rstrip(b"\n") + b"\n\n" + file.data
    if file.merge != "json" or not there.strip():
        return file.data
    try:
        below = msgspec.json.decode(there)
    except msgspec.DecodeError as error:
        reason = f"{file.path!r} of the environment is no JSON: {error}; correct it, or leave it out"
        raise InfrastructureError(Phase.HARNESS, reason) from None
    return msgspec.json.encode(_laid_over(below, msgspec.json.decode(file.data)))


def _laid_over(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{key: _laid_over(below.get(key), value) for key, value in above.items()}}


async def _there(sandbox: Sandbox, path: str) -> bytes:
    try:
        return await sandbox.read(path)
    except FileNotFoundError:
        return b""

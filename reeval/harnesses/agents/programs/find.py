"""Is an agent's program in the sandbox, and which version is it?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from reeval.errors import InfrastructureError, Phase
from reeval.protocols import Sandbox

__all__ = ["Found", "find_program", "version_of"]

_LOOK = 'printf "%s\\n" "$HOME"; p=$(command -v "$1") || exit 3; printf "%s\\n" "$p"; stat -L -c "%s %Y" "$p" || :'
_NOT_THERE = 3
_VERSION = re.compile(r"\bv?(\d+\.\d[0-9A-Za-z.+-]*)")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A program in a sandbox."""

    path: str
    home: str
    """The agent's home in the sandbox."""
    identity: str
    """Path, size and time: equal for equal programs."""


async def find_program(sandbox: Sandbox, program: str) -> Found | None:
    """Look for a program, by a name on the ``PATH`` or by its path; None: it is not there."""
    done = await sandbox.exec(["/bin/sh", "-c", _LOOK, "sh", program])
    if done.exit_code == _NOT_THERE:
        return None
    lines = done.stdout.splitlines()
    if not done.ok or len(lines) < 2:
        raise InfrastructureError(Phase.HARNESS, f"{program!r} cannot be looked for: {done.stderr.strip()[:500]}")
    return Found(home=lines[0], path=lines[1], identity="\n".join(lines[1:]))


async def version_of(sandbox: Sandbox, command: list[str], env: Mapping[str, str]) -> str | None:
    """Run a program so that it prints its version, and return that; None where it prints none."""
    done = await sandbox.exec(command, env=env)
    found = _VERSION.search(done.stdout) or _VERSION.search(done.stderr)
    return found[1] if found and done.ok else None

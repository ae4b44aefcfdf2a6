"""How does a setup step run in a sandbox? To its end, within its own time, and what fails is the machinery's fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.schema.environment import SetupStep
from reeval.schema.transcript import CommandResult

__all__ = ["Shell", "run_step"]

TAIL = 4000
"""Characters of a failed step's output that are kept."""


class Shell(Protocol):
    """What runs commands: a sandbox, or a part of one."""

    async def exec(self, command: str, *, env: Mapping[str, str] | None = None) -> CommandResult:
        """Run a command to its end."""
        ...


async def run_step(sandbox: Shell, step: SetupStep, env: Mapping[str, str]) -> None:
    """Run a step; raise ``InfrastructureError`` (phase ``setup``) when it fails or takes too long."""
    result = None
    with anyio.move_on_after(step.timeout):
        result = await sandbox.exec(step.run, env=env)
    if result is None:
        reason = f"the setup step {step.run!r} took longer than its {step.timeout:g} s"
        raise InfrastructureError(Phase.SETUP, reason)
    if not result.ok:
        reason = f"the setup step {step.run!r} exited with {result.exit_code}"
        raise InfrastructureError(Phase.SETUP, reason, detail=f"{result.stdout}\n{result.stderr}".strip()[-TAIL:])

"""How is a program run for one turn, and its output followed to the end?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio

from reeval.authoring import Command
from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.program.answers import Answer
from reeval.protocols import Process, Sandbox

__all__ = ["Start", "run_program"]

_OUTPUT_GRACE = 1.0
"""Seconds to read on after the program has ended: what it started may hold its output open for ever."""
_EXIT_GRACE = 3.0
"""Seconds that a program may take to end after it said ``done``."""
_FAILED_GRACE = 1.0
"""Likewise after it said that its turn failed: some would try for ever."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """What to start for a turn."""

    command: Command
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    exit_grace: float = _EXIT_GRACE
    """Seconds that it may take to end after it said that it is done; then it is ended."""
    mend: str = "correct 'command'"
    """What to do when it cannot be started."""


async def run_program(sandbox: Sandbox, start: Start, answer: Answer) -> tuple[int | None, str]:
    """Run a program, feed ``answer`` with its output, and return its exit code and its standard error.

    The exit code is None for a program that said it was done and did not end. Raises ``InfrastructureError`` (phase
    ``harness``) when it cannot be started.
    """
    async with AsyncExitStack() as stack:
        try:
            process = await stack.enter_async_context(
                sandbox.start(start.command, env=start.env, stdin=start.stdin),
            )
        except OSError as error:
            reason = f"the program could not be started: {error.strerror or error}; {start.mend}"
            raise InfrastructureError(Phase.HARNESS, reason) from error
        return await _follow(process, answer, start.exit_grace), process.stderr_text()


async def _follow(process: Process, answer: Answer, exit_grace: float) -> int | None:
    """Read the output to its end and return the exit code; None for a program that said it ended and did not."""
    reading = anyio.CancelScope()
    exit_code: int | None = None
    exited = anyio.Event()

    async def watch() -> None:
        nonlocal exit_code
        exit_code = await process.wait()
        exited.set()
        reading.deadline = min(reading.deadline, anyio.current_time() + _OUTPUT_GRACE)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            with reading:
                async for chunk in process.stdout():
                    answer.feed(chunk)
                    if answer.ended and reading.deadline == float("inf"):
                        grace = exit_grace if answer.failed is None else min(exit_grace, _FAILED_GRACE)
                        reading.deadline = anyio.current_time() + grace
            with anyio.CancelScope(deadline=reading.deadline if answer.ended else float("inf")):
                await exited.wait()
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Two tasks are one step here: its one error must keep its type.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise
    return exit_code

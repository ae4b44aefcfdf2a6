"""Did a command fail because the container was out of memory? The kernel counts what it killed for that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeval.sandboxes.docker.container import Container

__all__ = ["MemoryWatch"]

_COUNTERS = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control"
"""One or the other is there, by the version of control groups; the engine does not say it of a process that it
started in a running container."""


class MemoryWatch:
    """Knows how many processes of a container the kernel has killed so far."""

    def __init__(self, container: Container, *, limited: bool) -> None:
        self._container = container
        self._limited = limited
        self._known = 0

    async def check(self, exit_code: int) -> None:
        """Raise ``InfrastructureError`` when a command that failed met the limit."""
        if exit_code == 0 and not self._limited:
            return
        answer = await self._container.channel.ask(_COUNTERS)
        counts = [int(found) for found in re.findall(rb"(?m)^oom_kill (\d+)", answer.output)]
        before, self._known = self._known, max(counts, default=0)
        if self._known > before and exit_code:
            raise await self._container.out_of_memory()

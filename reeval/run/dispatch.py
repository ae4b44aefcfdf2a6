"""Which planned attempt starts next? The first one for which the run, its harness and its sandbox all have room."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from reeval.schema.plan import Plan, PlannedAttempt

__all__ = ["Dispatcher", "Limits", "limits_of"]

Lane = tuple[str, str]
"""The harness and the sandbox of an attempt: what its limits depend on."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How many attempts may run at once; what is not in a mapping has no limit of its own."""

    run: int
    harnesses: Mapping[str, int] = {}
    sandboxes: Mapping[str, int] = {}


def limits_of(plan: Plan) -> Limits:
    """Return the limits that a plan was made with."""
    return Limits(
        run=plan.max_concurrent,
        harnesses={id: it.max_concurrent for id, it in plan.harnesses.items() if it.max_concurrent is not None},
        sandboxes={id: it.max_concurrent for id, it in plan.sandboxes.items() if it.max_concurrent is not None},
    )


class Dispatcher:
    """Hands out attempts in plan order and counts what runs; it knows no event loop.

    Attempts that have no room wait in a queue of their lane, so that a step looks at one attempt a lane, however
    many wait. The plan is read only as far as it has to be.
    """

    def __init__(
        self,
        attempts: Iterable[PlannedAttempt],
        limits: Limits,
        needed: Callable[[PlannedAttempt], bool] = lambda _: True,
    ) -> None:
        """``needed`` is asked before an attempt starts, and says no from then on once it did."""
        self._ahead: Iterator[tuple[int, PlannedAttempt]] = enumerate(attempts)
        self._limits = limits
        self._needed = needed
        self._waiting: dict[Lane, deque[tuple[int, PlannedAttempt]]] = {}
        self._harnesses: dict[str, int] = {}
        self._sandboxes: dict[str, int] = {}
        self.running = 0

    def take(self) -> PlannedAttempt | None:
        """Return the next attempt, counted as running from now on; None while nothing may start."""
        if self.running >= self._limits.run:
            return None
        attempt = self._first_waiting() or self._first_ahead()
        if attempt is not None:
            self._count(attempt, 1)
        return attempt

    def release(self, attempt: PlannedAttempt) -> None:
        """Give back the room of an attempt that ended."""
        self._count(attempt, -1)

    def left(self) -> int:
        """Count what was not handed out, and hand out nothing more."""
        waiting = [attempt for queue in self._waiting.values() for _, attempt in queue]
        self._waiting.clear()
        return sum(self._needed(attempt) for attempt in (*waiting, *(attempt for _, attempt in self._ahead)))

    def _first_waiting(self) -> PlannedAttempt | None:
        # What waits was read before anything that is still ahead, so it comes first in plan order.
        for queue in self._waiting.values():
            while queue and not self._needed(queue[0][1]):
                queue.popleft()
        open_lanes = [queue for lane, queue in self._waiting.items() if queue and self._has_room(lane)]
        if not open_lanes:
            return None
        return min(open_lanes, key=lambda queue: queue[0][0]).popleft()[1]

    def _first_ahead(self) -> PlannedAttempt | None:
        for place, attempt in self._ahead:
            if not self._needed(attempt):
                continue
            lane = (attempt.cell.harness, attempt.cell.sandbox)
            if self._has_room(lane):
                return attempt
            self._waiting.setdefault(lane, deque()).append((place, attempt))
        return None

    def _has_room(self, lane: Lane) -> bool:
        harness, sandbox = lane
        return _under(self._harnesses, self._limits.harnesses, harness) and _under(
            self._sandboxes, self._limits.sandboxes, sandbox
        )

    def _count(self, attempt: PlannedAttempt, step: int) -> None:
        self.running += step
        harness, sandbox = attempt.cell.harness, attempt.cell.sandbox
        self._harnesses[harness] = self._harnesses.get(harness, 0) + step
        self._sandboxes[sandbox] = self._sandboxes.get(sandbox, 0) + step


def _under(running: Mapping[str, int], limits: Mapping[str, int], name: str) -> bool:
    limit = limits.get(name)
    return limit is None or running.get(name, 0) < limit

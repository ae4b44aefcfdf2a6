"""What did the agent say and do in the turns so far? The session's turns, with what each changed in the workspace."""

from __future__ import annotations

from time import monotonic

import anyio
import msgspec
from msgspec.structs import replace

from reeval.errors import InfrastructureError, Phase, UsageError
from reeval.protocols import Snapshot
from reeval.run.room.clock import Clock
from reeval.run.room.faults import adapted
from reeval.run.room.room import AttemptRoom
from reeval.schema.transcript import Changes, Channel, Turn

__all__ = ["Conversation"]

LAST_LOOK = 30.0
"""Seconds that looking at the changes of a turn that was cut may take."""


class _Begun(msgspec.Struct, frozen=True):
    """A turn that has not ended."""

    prompt: str
    before: Snapshot | None
    started: float
    at: float


class Conversation:
    """Sends prompts to the attempt's session, one at a time."""

    def __init__(self, room: AttemptRoom, clock: Clock, unreported: frozenset[Channel]) -> None:
        self._room = room
        self._clock = clock
        self._unreported = unreported
        self._begun: _Begun | None = None
        self.busy = False
        """A send is running, from its first step to its last."""
        self.turns: tuple[Turn, ...] = ()

    async def send(self, prompt: str) -> Turn:
        """Send one prompt and return its turn, with the changes that the agent made in it."""
        if self.busy:
            raise UsageError("c.send was called while another send was running; await the first one before the next")
        self.busy = True
        try:
            return await self._send(prompt)
        finally:
            self.busy = False

    async def _send(self, prompt: str) -> Turn:
        room = self._room
        if self._begun is not None:
            await self.end_cut_turn("the body cancelled this turn")
        session = await room.session()
        before = await self._look()
        self._begun = begun = _Begun(prompt, before, self._clock.elapsed, monotonic())
        room.agent_acts = True
        try:
            with adapted(Phase.HARNESS, "the turn did not end as it should"):
                turn = await session.send(prompt)
        finally:
            room.agent_acts = False
        ended = monotonic()
        changes = await self._changes(begun)
        self._begun = None
        turn = replace(
            turn,
            prompt=prompt,
            changes=changes,
            started=round(begun.started, 6),
            duration=round(ended - begun.at, 6),
            unreported=_without_edits(self._unreported.union(turn.unreported)),
        )
        self.turns = (*self.turns, turn)
        return turn

    async def end_cut_turn(self, reason: str) -> str | None:
        """Keep a turn that did not end as a failed one, with what it changed; say what could not be found out."""
        begun, self._begun = self._begun, None
        if begun is None:
            return None
        duration, changes, problem = monotonic() - begun.at, Changes(), None
        try:
            with anyio.fail_after(LAST_LOOK, shield=True):
                changes = await self._changes(begun)
        except (InfrastructureError, TimeoutError) as error:
            problem = f"what a turn that was cut changed is not known: {str(error) or 'it took too long'}"
        turn = Turn(
            prompt=begun.prompt,
            status="failed",
            error=reason,
            changes=changes,
            started=round(begun.started, 6),
            duration=round(duration, 6),
            unreported=tuple(sorted(self._unreported)) if problem else _without_edits(self._unreported),
        )
        self.turns = (*self.turns, turn)
        return problem

    async def _changes(self, begun: _Begun) -> Changes:
        sandbox = self._room.started
        # A sandbox that started in this very turn was looked at as soon as it was ready.
        before = self._room.first_look if begun.before is None else begun.before
        if sandbox is None or before is None:
            return Changes()
        with adapted(Phase.SANDBOX, "what the agent changed could not be found out"):
            return await sandbox.changes(before, await sandbox.snapshot())

    async def _look(self) -> Snapshot | None:
        if self._room.started is None:
            return None
        with adapted(Phase.SANDBOX, "the workspace could not be looked at"):
            return await self._room.started.snapshot()


def _without_edits(unreported: frozenset[Channel]) -> tuple[Channel, ...]:
    """Return what stays unknown once the workspace was looked at: what was edited is known from there."""
    return tuple(sorted(unreported - {Channel.EDITS}))

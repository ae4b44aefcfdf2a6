"""What is there of a kind of evidence in some turns, and what may be missing?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reeval.grade.observing.display import show, squeeze
from reeval.grade.observing.expectation import matched, mismatched, unavailable
from reeval.schema.observation import Observation
from reeval.schema.transcript import Channel, Event, ToolCall, Turn

__all__ = [
    "TOOL_CHANNELS",
    "Tally",
    "call_text",
    "command_of",
    "counted",
    "events_of",
    "missing",
    "some_of",
    "turns_of",
    "unreported",
]

TOOL_CHANNELS = frozenset(Channel) - {Channel.USAGE, Channel.COST, Channel.MODEL}
"""Where the use of a tool would be reported."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found, and what may be missing."""

    found: Sequence[str]
    """The evidence that counts, as shown in a message."""
    other: Sequence[str]
    """Evidence of the same kind that does not count."""
    gaps: tuple[Channel, ...]
    """What was not reported and could hold more of it."""


def counted(tally: Tally, wanted: str, times: int | None = None) -> Observation:
    """Decide a count, exactly ``times`` or at least once; a gap leaves open what more evidence could change."""
    found = len(tally.found)
    if times is None and found:
        return matched(_got(tally.found))
    often = "" if times is None else f", exactly {times}"
    if times is not None and found > times:
        return mismatched(f"expected {wanted}{often}\n{_got(tally.found)}")
    if tally.gaps:
        return unavailable(unreported(tally.gaps))
    if found == times:
        return matched(_got(tally.found))
    others = f"; others: {some_of(tally.other)}" if tally.other else ""
    return mismatched(f"expected {wanted}{often}\ngot {found or 'none'}{others}")


def _got(found: Sequence[str]) -> str:
    return f"got {len(found)}: {some_of(found)}"


def turns_of(value: object) -> tuple[Turn, ...] | None:
    """Return the turns of a turn, of a sequence of turns, or of an attempt; None: it is none of these."""
    if isinstance(value, Turn):
        return (value,)
    several = value if isinstance(value, list | tuple) else getattr(value, "turns", None)
    if not isinstance(several, list | tuple) or not all(isinstance(one, Turn) for one in several):
        return None
    return tuple(several)


def events_of(turns: Iterable[Turn]) -> Iterator[Event]:
    """Yield the events of all turns, in order."""
    return (event for turn in turns for event in turn.events)


def missing(turns: Iterable[Turn], channels: Iterable[Channel]) -> tuple[Channel, ...]:
    """Return which of these kinds of evidence some turn could not report."""
    return tuple(sorted({channel for turn in turns for channel in turn.unreported} & set(channels)))


def unreported(gaps: Iterable[Channel]) -> str:
    """Say why a count stays open."""
    return f"the harness does not report {', '.join(gaps)}, so what is not there cannot be told"


def some_of(texts: Sequence[str]) -> str:
    """Show the first of some texts and count the rest."""
    rest = len(texts) - 8
    return ", ".join(squeeze(one, 80) for one in texts[:8]) + (f" and {rest} more" if rest > 0 else "")


def command_of(call: ToolCall) -> str:
    """Return the command of a shell call, as one text."""
    command = call.input.get("command", "") if isinstance(call.input, dict) else call.input
    if isinstance(command, list | tuple):
        return " ".join(map(str, command))
    return command if isinstance(command, str) else ""


def call_text(call: ToolCall) -> str:
    """Show a tool call in a few words."""
    return f"{call.name} {show(command_of(call), 60)}" if call.name == "shell" else call.name

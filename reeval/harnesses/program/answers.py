"""What does the output of a program make of a turn? As plain text, or as lines of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.bounds import MESSAGE_LIMIT, NOTE_LIMIT, OUTPUT_LIMIT, cut
from reeval.harnesses.program.endings import described, killed, not_started
from reeval.harnesses.program.lines import LINE_LIMIT, Lines, Tail
from reeval.harnesses.program.stream import (
    Done,
    Failed,
    Message,
    Queried,
    Retry,
    Served,
    StreamEvent,
    Used,
    parse_line,
)
from reeval.schema.transcript import (
    Channel,
    Event,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)
from reeval.usage import Usage

__all__ = ["Answer", "EventAnswer", "Read", "TextAnswer"]

_MOST_EVENTS = 10_000
_MOST_NOTES = 20
_MOST_KEPT = 8_000_000
"""Characters of all events of a turn together."""
_DEEPEST = 50
"""Levels of a tool's input: JSON that is nested much deeper cannot be written back."""


_EVIDENCE: dict[type, Channel] = {
    ToolCall: Channel.TOOLS,
    FileEdit: Channel.EDITS,
    WebSearch: Channel.SEARCHES,
    WebFetch: Channel.FETCHES,
}
"""What can no longer be counted once such an event is left out."""


class Answer(Protocol):
    """Takes a program's output and, at its end, says what the turn was."""

    @property
    def ended(self) -> bool:
        """Whether the program has said that its turn is over."""
        ...

    @property
    def failed(self) -> Failed | None:
        """The end without success that it told of last."""
        ...

    def feed(self, chunk: bytes) -> None:
        """Take some output."""
        ...

    def error(self, exit_code: int | None, stderr: str) -> str | None:
        """Return why the agent failed, None when it did not; raise ``InfrastructureError`` when it was not the agent.

        ``exit_code`` is None for a program that said it had ended and still ran.
        """
        ...

    def turn(self, prompt: str, session: str, error: str | None) -> Turn:
        """Return the turn."""
        ...


class TextAnswer:
    """All output is the final message; nothing else is known."""

    ended = False
    failed: Failed | None = None

    def __init__(self) -> None:
        self._output = Tail(MESSAGE_LIMIT)

    def feed(self, chunk: bytes) -> None:
        """Take some output."""
        self._output.feed(chunk)

    def error(self, exit_code: int | None, stderr: str) -> str | None:
        """Take an exit code other than 0 as giving up: a program that prints text cannot say so in another way."""
        if exit_code is None or exit_code == 0:
            return None
        _refuse_not_started(exit_code, stderr)
        if killed(exit_code):
            raise InfrastructureError(Phase.HARNESS, f"the program died: {described(exit_code, stderr)}")
        return described(exit_code, stderr)

    def turn(self, prompt: str, session: str, error: str | None) -> Turn:
        """Return the turn, with the output as its message."""
        message = self._output.text().rstrip()
        return Turn(
            prompt=prompt,
            message=message,
            status="completed" if error is None else "failed",
            error=error,
            events=(Text(text=message),) if message else (),
            session=session,
            unreported=tuple(sorted(Channel)),
        )


Read = Callable[[Sequence[bytes]], Iterable[StreamEvent | str | None]]
"""What makes events of lines."""


def _one_each(lines: Sequence[bytes]) -> Iterable[StreamEvent | str | None]:
    return map(parse_line, lines)


class EventAnswer:
    """Lines of events become the events of the turn; what is odd becomes a note."""

    def __init__(
        self, unreported: frozenset[Channel] = frozenset(), *, read: Read = _one_each, line_limit: int = LINE_LIMIT
    ) -> None:
        self.ended = False
        self.failed: Failed | None = None
        """The end without success that it told of last."""
        self.trouble: str | None = None
        """The retry after which it has said and done nothing yet."""
        self._unreported = unreported
        self._read = read
        self._line_limit = line_limit
        self._lines = Lines(line_limit)
        self._events: list[Event] = []
        self._kept = 0
        self._left_out = 0
        self._missed: set[type] = set()
        """Types of events that were left out."""
        self._notes = 0
        self._message = ""
        self._sql: str | None = None
        self._usage: Usage | None = None
        self._model: str | None = None

    def feed(self, chunk: bytes) -> None:
        """Take some output."""
        self.take(self._read(self._lines.feed(chunk)))

    def take(self, events: Iterable[StreamEvent | str | None]) -> None:
        """Take events; a text is a note about something odd."""
        for event in events:
            if event is not None:
                self._taken[type(event)](self, event)

    def error(self, exit_code: int | None, stderr: str) -> str | None:
        """Decide by what the program said first, and by its exit code second."""
        self.finish()
        failed = self.failed
        if failed and failed.kind == "provider":
            raise InfrastructureError(Phase.MODEL, failed.message)
        if failed and (self.ended or exit_code == 0):
            return failed.message or "the agent gave up and did not say why"
        if self.ended:
            return None
        if exit_code:
            _refuse_not_started(exit_code, stderr)
            said = f" after the error {failed.message!r}" if failed else ""
            raise InfrastructureError(Phase.HARNESS, f"the program died{said}: {described(exit_code, stderr)}")
        reason = 'the program ended without a \'done\' event; print {"type": "done"} as the last line of each turn'
        raise InfrastructureError(Phase.HARNESS, reason)

    def turn(self, prompt: str, session: str, error: str | None) -> Turn:
        """Return the turn, with everything that was said so far."""
        self.finish()
        missed = {channel for kind, channel in _EVIDENCE.items() if kind in self._missed}
        usage, unknown = self._usage, missed.union(self._unreported)
        if usage is None or usage.total is None:
            unknown.add(Channel.USAGE)
        if usage is None or usage.cost is None:
            unknown.add(Channel.COST)
        if self._model is None:
            unknown.add(Channel.MODEL)
        return Turn(
            prompt=prompt,
            message=self._message,
            status="completed" if error is None else "failed",
            error=error,
            sql=self._sql,
            events=tuple(self._events),
            usage=usage,
            model=self._model,
            session=session,
            unreported=tuple(sorted(unknown)),
        )

    def drop(self, lines: int) -> None:
        """Hear that lines were left out before they got here."""
        self._lines.dropped += lines

    def finish(self) -> None:
        """Take what stands after the last line end, and say what was left out. The second time nothing is left."""
        self.take(self._read(self._lines.rest()))
        if self._lines.dropped:
            self._missed.update(_EVIDENCE)
        for count, what in (
            (self._lines.dropped, f"lines of more than {self._line_limit} bytes"),
            (self._left_out, "events or odd lines beyond what is kept of a turn"),
        ):
            if count:
                self._events.append(Notice(kind="note", message=f"{count} {what} were left out"))
        self._lines.dropped = self._left_out = 0

    def _shown(self, event: Reasoning | ToolCall | FileEdit | WebSearch | WebFetch) -> None:
        self._keep(event, OUTPUT_LIMIT)
        self.trouble = None

    def _noted(self, note: str) -> None:
        self._notes += 1
        if self._notes > _MOST_NOTES:
            self._left_out += 1
        else:
            self._keep(Notice(kind="note", message=note), NOTE_LIMIT)

    def _said(self, event: Message) -> None:
        self._message = cut(event.text, MESSAGE_LIMIT)
        self._keep(Text(text=event.text), MESSAGE_LIMIT)
        self.trouble = None

    def _used(self, event: Used) -> None:
        self._usage = Usage(**msgspec.structs.asdict(event)) if self._usage is None else self._usage + event

    def _served(self, event: Served) -> None:
        self._model = cut(event.name, NOTE_LIMIT)

    def _queried(self, event: Queried) -> None:
        self._sql = event.query[:MESSAGE_LIMIT]
        self.trouble = None

    def _failed(self, event: Failed) -> None:
        self.failed = Failed(message=cut(event.message, NOTE_LIMIT), kind=event.kind)
        self._keep(Notice(kind="error", message=event.message), NOTE_LIMIT)

    def _retried(self, event: Retry) -> None:
        self.trouble = cut(event.message, NOTE_LIMIT)
        self._keep(Notice(kind="retry", message=event.message), NOTE_LIMIT)

    def _done(self, event: Done) -> None:  # noqa: ARG002 - it says all by its type
        self.ended = True
        self.trouble = None

    _taken: ClassVar[dict[type, Callable[[EventAnswer, Any], None]]] = {
        str: _noted,
        Message: _said,
        **dict.fromkeys((Reasoning, ToolCall, FileEdit, WebSearch, WebFetch), _shown),
        Queried: _queried,
        Used: _used,
        Served: _served,
        Failed: _failed,
        Retry: _retried,
        Done: _done,
    }
    """What is done with each event."""

    def _keep(self, event: Event, limit: int) -> None:
        # A full turn first: what is left out need not be measured, and there may be millions of it.
        if len(self._events) < _MOST_EVENTS and self._kept < _MOST_KEPT:
            bounded, size = _bounded(event, limit)
            if self._kept + size <= _MOST_KEPT:
                self._kept += size
                self._events.append(bounded)
                return
        self._left_out += 1
        self._missed.add(type(event))


def _refuse_not_started(exit_code: int, stderr: str) -> None:
    if not_started(exit_code):
        reason = f"the program could not be started ({described(exit_code, stderr)}); correct 'command'"
        raise InfrastructureError(Phase.HARNESS, reason)


def _bounded(event: Event, limit: int) -> tuple[Event, int]:
    """Return the event with no text over ``limit``, and how many characters it has."""
    changes: dict[str, Any] = {}
    size = 0
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name == "input":
            value = changes["input"] = _bounded_input(value, limit)
            size += len(str(value))
        elif isinstance(value, str):
            size += min(len(value), limit)
            if len(value) > limit:
                changes[name] = cut(value, limit)
    return (msgspec.structs.replace(event, **changes) if changes else event), size


def _bounded_input(value: Any, limit: int) -> Any:
    """Keep JSON data, or a text in its place where it is too big or nested too deep."""
    if _deeper(value, _DEEPEST):
        return f"left out: nested deeper than {_DEEPEST} levels"
    text = str(value)
    return cut(text, limit) if len(text) > limit else value


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(child, levels - 1) for child in children)

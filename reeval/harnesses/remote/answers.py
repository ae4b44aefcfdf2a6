"""How does the body of an agent's response become events? As one JSON object, or as a stream of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.program.answers import EventAnswer
from reeval.harnesses.program.lines import LINE_LIMIT, Lines
from reeval.harnesses.program.stream import (
    NOT_JSON,
    Done,
    Failed,
    Message,
    Queried,
    Served,
    StreamEvent,
    Used,
    decode_line,
    parse_line,
)
from reeval.harnesses.remote.quoting import quoted

__all__ = ["LARGEST_ANSWER", "Body", "JsonBody", "LineBody", "SseBody", "body_for"]

LARGEST_ANSWER = 16 << 20
"""Bytes of an answer that is one JSON object."""


class Body(Protocol):
    """Makes the bytes of a response's body into the events of an answer."""

    streams: bool
    """The agent says with an event that it is done."""
    session: str | None
    """The agent's own word for the conversation."""

    def feed(self, chunk: bytes, answer: EventAnswer) -> None:
        """Take some bytes."""
        ...

    def end(self, answer: EventAnswer) -> None:
        """Take the end of the body; raise ``InfrastructureError`` for one that is no answer."""
        ...


def body_for(content_type: str) -> Body:
    """Return what reads a body of this type; a type that is not known is read as JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return SseBody()
    if kind in {"application/x-ndjson", "application/jsonl", "application/jsonlines"}:
        return LineBody()
    return JsonBody()


class _Answer(msgspec.Struct, kw_only=True):
    """The JSON object of a whole answer."""

    message: str = ""
    sql: str | None = None
    error: str | Failed | None = None
    model: str | None = None
    session: str | None = None
    usage: Used | None = None
    events: list[Any] = []


class JsonBody:
    """One JSON object."""

    streams = False

    def __init__(self) -> None:
        self.session: str | None = None
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes, _answer: EventAnswer) -> None:
        """Keep the bytes."""
        self._size += len(chunk)
        if self._size > LARGEST_ANSWER:
            limit = f"{LARGEST_ANSWER >> 20} MB"
            raise InfrastructureError(
                Phase.HARNESS, f"the agent answered with more than {limit}; answer with a stream of events"
            )
        self._parts.append(chunk)

    def end(self, answer: EventAnswer) -> None:
        """Take the events that the object stands for."""
        body = b"".join(self._parts)
        if not body.strip():
            raise InfrastructureError(Phase.HARNESS, "the agent answered with nothing; correct the agent or the url")
        found = decode_line(body)
        if found is NOT_JSON:
            raise InfrastructureError(
                Phase.HARNESS, f"the agent answered with something that is not JSON: {quoted(body)}; correct the url"
            )
        try:
            given = msgspec.convert(found, _Answer)
        except msgspec.ValidationError as error:
            raise InfrastructureError(
                Phase.HARNESS, f"the agent answered with JSON of another shape ({error}): {quoted(body)}"
            ) from None
        self.session = given.session
        answer.take(_events(given))


class LineBody:
    """An event in each line."""

    streams = True
    session: str | None = None

    def feed(self, chunk: bytes, answer: EventAnswer) -> None:
        """Take the bytes as the lines that they are."""
        answer.feed(chunk)

    def end(self, answer: EventAnswer) -> None:
        """Nothing is left: the answer takes its last line itself."""


class SseBody:
    """Server-sent events: the data of each is an event, whose type may be the event's name."""

    streams = True
    session: str | None = None

    def __init__(self) -> None:
        self._lines = Lines(blank=True)
        self._data: list[bytes] = []
        self._name = b""
        self._size = 0

    def feed(self, chunk: bytes, answer: EventAnswer) -> None:
        """Take the events that are complete."""
        for line in self._lines.feed(chunk):
            self._take(line.rstrip(b"\r"), answer)

    def end(self, answer: EventAnswer) -> None:
        """Take the last event, which need not be followed by an empty line."""
        for line in self._lines.rest():
            self._take(line.rstrip(b"\r"), answer)
        self._dispatch(answer)
        answer.drop(self._lines.dropped)

    def _take(self, line: bytes, answer: EventAnswer) -> None:
        field, _, value = line.partition(b":")
        if not line:
            self._dispatch(answer)
        elif field == b"data":
            self._size += len(value) + 1
            if self._size <= LINE_LIMIT:
                self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ")

    def _dispatch(self, answer: EventAnswer) -> None:
        # Line ends inside JSON are blanks, and an answer takes an event a line.
        data, name, size = b" ".join(self._data).strip(), self._name.decode("utf-8", "replace"), self._size
        self._data, self._name, self._size = [], b"", 0
        if size > LINE_LIMIT:
            answer.drop(1)
        elif data == b"[DONE]":
            answer.take([Done()])
        elif data:
            answer.feed(_with_type(data, name) + b"\n")


def _with_type(data: bytes, name: str) -> bytes:
    """Put the event's name in as the type of an object that has none."""
    found = decode_line(data)
    if not name or not isinstance(found, dict) or "type" in found:
        return data
    return msgspec.json.encode({"type": name, **found})


def _events(answer: _Answer) -> Iterator[StreamEvent | str | None]:
    for event in answer.events:
        yield parse_line(msgspec.json.encode(event))
    if answer.message:
        yield Message(text=answer.message)
    if answer.sql is not None:
        yield Queried(query=answer.sql)
    if answer.model is not None:
        yield Served(name=answer.model)
    if answer.usage is not None:
        yield answer.usage
    if answer.error is not None:
        yield answer.error if isinstance(answer.error, Failed) else Failed(message=answer.error)
    yield Done()

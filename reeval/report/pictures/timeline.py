"""How does an attempt look as a timeline that trace viewers open? In the Trace Event Format, as Perfetto reads it.

Times are microseconds since the attempt began. A call whose begin was not reported stands after the one before it,
marked as such; one without a duration is a moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reeval.schema.record import AttemptRecord
from reeval.schema.transcript import Notice, Text, ToolCall, Turn
from reeval.usage import Usage

__all__ = ["trace_text"]

_ATTEMPT, _TURNS, _TOOLS = 1, 2, 3
"""Rows of the timeline; calls at once take further rows."""
_LONGEST = 2000
"""Characters of a text that is shown at an event."""


def trace_text(record: AttemptRecord) -> str:
    """Return the file's content. The record is whole: no part of it is a ``FileRef``."""
    name = f"{record.eval} @ {record.attempt}"
    events = [
        _named("process_name", 0, name),
        _named("thread_name", _ATTEMPT, "attempt"),
        _named("thread_name", _TURNS, "turns"),
        _span(_ATTEMPT, record.attempt, 0.0, record.duration, {"outcome": record.outcome, "harness": record.harness}),
    ]
    rows: list[float] = []
    for number, turn in enumerate(_whole(record.turns), 1):
        events += _turn(number, turn, rows)
    events += [_named("thread_name", _TOOLS + row, "tools") for row in range(len(rows))]
    data = {"displayTimeUnit": "ms", "otherData": {"started_at": record.started_at}, "traceEvents": events}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _whole(turns: Any) -> list[Turn]:
    assert isinstance(turns, list), "a record whose parts were read"
    return turns


def _turn(number: int, turn: Turn, rows: list[float]) -> Iterator[dict[str, Any]]:
    told = {
        "prompt": _short(turn.prompt),
        "message": _short(turn.message),
        "error": turn.error,
        "agent": turn.agent,
        "model": turn.model,
        "session": turn.session,
        "usage": _used(turn.usage),
    }
    yield _span(_TURNS, f"turn {number}", turn.started, turn.duration, told)
    last = turn.started
    for event in turn.events:
        match event:
            case ToolCall():
                at = last if event.started is None else turn.started + event.started
                ended = at + (event.duration or 0.0)
                yield _call(event, at, _free(rows, at, ended))
                last = max(last, ended)
            case Text():
                yield _moment(_TURNS, "said", last, {"text": _short(event.text)})
            case Notice():
                yield _moment(_TURNS, event.kind, last, {"message": event.message})


def _used(usage: Usage | None) -> dict[str, float] | None:
    if usage is None:
        return None
    amounts = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _call(call: ToolCall, at: float, row: int) -> dict[str, Any]:
    told = {"input": _short(call.input), "output": _short(call.output), "exit_code": call.exit_code}
    told |= {"ok": call.ok, "native": call.native}
    if call.started is None:
        told["time"] = "after the event before it"
    command = _command(call) if call.name == "shell" else None
    name = call.name if command is None else f"{call.name}: {command}"
    return _moment(row, name, at, told) if call.duration is None else _span(row, name, at, call.duration, told)


def _command(call: ToolCall) -> str | None:
    command = call.input.get("command") if isinstance(call.input, dict) else call.input
    return None if command is None else str(command)[:80]


def _free(rows: list[float], start: float, end: float) -> int:
    """Return a row in which nothing else is at that time, and take it."""
    for row, busy in enumerate(rows):
        if busy <= start:
            rows[row] = end
            return _TOOLS + row
    rows.append(end)
    return _TOOLS + len(rows) - 1


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _span(row: int, name: str, start: float, duration: float, told: dict[str, Any]) -> dict[str, Any]:
    event = _event("X", row, name, start, told)
    # The end is what is rounded: a viewer drops a span that begins before the one in front of it has ended.
    return {**event, "dur": _microseconds(start + duration) - event["ts"]}


def _moment(row: int, name: str, at: float, told: dict[str, Any]) -> dict[str, Any]:
    return {**_event("i", row, name, at, told), "s": "t"}


def _event(kind: str, row: int, name: str, at: float, told: dict[str, Any]) -> dict[str, Any]:
    args = {key: value for key, value in told.items() if value is not None}
    return {"ph": kind, "pid": 1, "tid": row, "name": name, "ts": _microseconds(at), "args": args}


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _named(what: str, row: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": 1, "tid": row, "name": what, "args": {"name": name}}

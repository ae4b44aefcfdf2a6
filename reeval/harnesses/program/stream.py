"""What may a program print, one JSON object a line, to say what its agent does? The documented event form.

Each object has a ``type``, the tag of one of the types here. Types and keys that are not known are no error: they
are left out, with a note. ``reasoning``, ``tool``, ``edit``, ``search`` and ``fetch`` are the transcript's own.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from reeval.harnesses.bounds import NUMBER_LIMIT
from reeval.schema.transcript import FileEdit, Reasoning, ToolCall, WebFetch, WebSearch
from reeval.usage import Usage

__all__ = [
    "NOT_JSON",
    "Done",
    "Failed",
    "Message",
    "Queried",
    "Retry",
    "Served",
    "StreamEvent",
    "Used",
    "decode_line",
    "parse_line",
]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag="message"):
    """Something the agent said. The last one is the final message of the turn."""

    text: str


class Used(Usage, frozen=True, kw_only=True, tag="usage"):
    """What was used since the last such event, so that a turn's events add up; never a running total."""

    def __post_init__(self) -> None:
        """Refuse what cannot be an amount."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not 0 <= value <= NUMBER_LIMIT:
                raise ValueError(f"{name} is {value!r}, which is no amount")


class Queried(msgspec.Struct, frozen=True, kw_only=True, tag="sql"):
    """A query that a data agent ran. The last one is that of its answer."""

    query: str


class Served(msgspec.Struct, frozen=True, kw_only=True, tag="model"):
    """The model that answered."""

    name: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="error"):
    """The end of the turn without success. ``provider``: the model could not be had, which is not the agent's failure.

    With ``agent`` the program says that it gave up, and exits with 0 or says ``done``.
    """

    message: str
    kind: Literal["agent", "provider"] = "agent"


class Retry(msgspec.Struct, frozen=True, kw_only=True, tag="retry"):
    """Something went wrong and is tried again."""

    message: str


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """The end of the turn. Without it (or an ``error``) the program counts as having died."""


StreamEvent = (
    Message | Reasoning | ToolCall | FileEdit | WebSearch | WebFetch | Queried | Used | Served | Failed | Retry | Done
)

_decode = msgspec.json.Decoder().decode
_LONGEST = 1e9
"""Seconds: thirty years."""
NOT_JSON = object()
"""What a line that is no JSON decodes to: no value of JSON is it."""

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE_SURROGATE = re.compile(rb"%s(?!%s)|(?<!%s)%s" % (_HIGH, _LOW, _HIGH, _LOW))

_TYPES = frozenset(
    {"message", "reasoning", "tool", "edit", "search", "fetch", "sql", "usage", "model", "error", "retry", "done"}
)


def parse_line(line: bytes) -> StreamEvent | str | None:
    """Return the event of a line, why it holds none (a text), or None for an empty line."""
    if not line.strip():
        return None
    found = decode_line(line)
    if found is NOT_JSON:
        return f"not JSON: {line.decode('utf-8', 'replace')}"
    kind = found.get("type") if isinstance(found, dict) else None
    if not isinstance(kind, str) or kind not in _TYPES:
        return f"no known type: {line.decode('utf-8', 'replace')}"
    try:
        event: StreamEvent = msgspec.convert(found, StreamEvent)
    except msgspec.ValidationError as error:
        return f"unusable {kind} event ({error}): {line.decode('utf-8', 'replace')}"
    return _possible(event) if isinstance(event, ToolCall) else event


def _possible(call: ToolCall) -> ToolCall:
    """Return the call without those of its numbers that no call can have: it counts without them as well."""
    limits = {"exit_code": (-NUMBER_LIMIT, NUMBER_LIMIT), "started": (0, _LONGEST), "duration": (0, _LONGEST)}
    odd = {
        name: None
        for name, (least, most) in limits.items()
        if (value := getattr(call, name)) is not None and not least <= value <= most
    }
    return msgspec.structs.replace(call, **odd) if odd else call


def decode_line(line: bytes) -> Any:
    """Decode JSON; ``NOT_JSON`` for what is none.

    Halves of surrogate pairs and bytes that are no UTF-8 are replaced: agents print both.
    """
    try:
        return _decode(line)
    except (msgspec.DecodeError, RecursionError):
        return _repaired(line)


def _repaired(line: bytes) -> Any:
    repaired = _LONE_SURROGATE.sub(rb"\\ufffd", line.decode("utf-8", "replace").encode())
    try:
        return _decode(repaired)
    except (msgspec.DecodeError, RecursionError):
        return NOT_JSON

"""What did the agent say and do in one turn? Plain data, the same for every agent."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

from reeval.usage import Usage

__all__ = [
    "Changes",
    "Channel",
    "CommandResult",
    "Event",
    "FileChange",
    "FileEdit",
    "Notice",
    "Reasoning",
    "Text",
    "ToolCall",
    "Turn",
    "WebFetch",
    "WebSearch",
]


class Channel(StrEnum):
    """A kind of evidence that a harness may or may not be able to report."""

    TOOLS = "tools"
    SHELL = "shell"
    EDITS = "edits"
    SEARCHES = "searches"
    FETCHES = "fetches"
    MCP = "mcp"
    SKILLS = "skills"
    USAGE = "usage"
    COST = "cost"
    MODEL = "model"


class Text(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="text"):
    """Something the agent said."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="reasoning"):
    """What the agent showed of its thinking."""

    text: str


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tool"):
    """One call of a tool, with its result."""

    name: str
    """Canonical: ``shell``, ``edit``, ``read``, ``search``, ``fetch``, ``skill``, ``mcp__server__tool``."""
    native: str | None = None
    """The agent's own name of the tool, when it differs."""
    input: Any = None
    """What it was called with: JSON data; for ``shell`` a mapping with ``command``."""
    output: str = ""
    ok: bool | None = None
    """None: whether it succeeded was not reported."""
    exit_code: int | None = None
    started: float | None = None
    """Seconds since its turn began, where that was seen."""
    duration: float | None = None
    """Seconds."""


class FileEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="edit"):
    """A file the agent says it edited (what really changed is ``Turn.changes``)."""

    path: str
    kind: Literal["create", "modify", "delete"] = "modify"


class WebSearch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="search"):
    """A web search."""

    query: str
    ok: bool | None = None


class WebFetch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="fetch"):
    """A page the agent fetched."""

    url: str
    ok: bool | None = None


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="notice"):
    """An error or a retry that the agent reported, or a note of the harness about what it could not read."""

    kind: Literal["error", "retry", "note"]
    message: str


Event = Text | Reasoning | ToolCall | FileEdit | WebSearch | WebFetch | Notice


class FileChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file that the agent added, modified or deleted."""

    path: str
    """Relative to the workspace, with ``/``."""
    status: Literal["added", "modified", "deleted"]
    binary: bool = False
    """Binary or very large: listed, its content is not in the patch."""


class Changes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent changed between the two ends of a send."""

    files: tuple[FileChange, ...] = ()
    patch: str = ""
    """Unified diff of the text files, bounded."""
    truncated: bool = False

    def __bool__(self) -> bool:
        return bool(self.files)


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One prompt and the agent's answer to it. ``await c.send(prompt)`` returns it."""

    prompt: str
    message: str = ""
    """The final message."""
    status: Literal["completed", "failed"] = "completed"
    """A failed turn is data: the agent gave up or ran out of context."""
    error: str | None = None
    """Why the turn failed."""
    sql: str | None = None
    """The query that a data agent says it ran last for its answer."""
    events: tuple[Event, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    """The model that served, when the harness says so."""
    agent: str | None = None
    """The agent's program and its version, where they are known: ``codex 0.171.0``."""
    session: str | None = None
    changes: Changes = Changes()
    started: float = 0.0
    """Seconds since the attempt began."""
    duration: float = 0.0
    """Seconds."""
    unreported: tuple[Channel, ...] = ()
    """The kinds of evidence that the harness could not report in this turn."""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls among the events, in order."""
        return tuple(event for event in self.events if isinstance(event, ToolCall))

    @property
    def diff(self) -> str:
        """Unified diff of what the agent changed in this turn."""
        return self.changes.patch


class CommandResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a command did. ``await c.exec(command)`` returns it."""

    command: str
    """As given; an argv list is joined the way a shell quotes it."""
    exit_code: int
    """Minus the signal's number when a signal ended it."""
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0
    """Seconds."""
    truncated: bool = False
    """Output was cut in the middle, with a note where."""
    tries: int = 1
    """How many times it ran (see ``retries``)."""
    allowed: int = 1
    """How many times it could have run."""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.exit_code == 0

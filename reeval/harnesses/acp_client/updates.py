"""What do an agent's session updates say that it did? The same events as every agent's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Literal

import msgspec

from reeval.harnesses.agents.streams.calls import mcp_tool
from reeval.harnesses.agents.streams.reading import at, exit_code_at, joined, listed, relative, text_at
from reeval.harnesses.agents.streams.said import Said
from reeval.harnesses.bounds import OUTPUT_LIMIT, cut
from reeval.harnesses.program.stream import Message, StreamEvent
from reeval.schema.transcript import FileEdit, Reasoning, ToolCall, WebFetch

__all__ = ["Updates"]

_KINDS = {"execute": "shell", "edit": "edit", "delete": "edit", "read": "read", "fetch": "fetch"}
_OVER = frozenset({"completed", "failed"})
_MOST_OPEN = 500
_MOST_EDITS = 1000
_NAME = re.compile(r"[A-Za-z_][\w-]{0,99}\Z")
_CODES: tuple[tuple[str, ...], ...] = (("exitCode",), ("exit_code",), ("metadata", "exit"))
"""Where agents are known to put an exit code; the protocol has no place for it."""


class _Begun(msgspec.Struct):
    """A call as far as it was told: later updates add to earlier ones. No more is kept than will be shown."""

    native: str
    """The agent's name of the tool, where it tells one; empty else."""
    since: float
    kind: str = ""
    title: str = ""
    status: str = ""
    input: Any = None
    output: str = ""
    exit_code: int | None = None
    edits: dict[str, Literal["create", "modify", "delete"]] = {}

    def add(self, told: Any) -> None:
        """Take what an update tells."""
        for name in ("kind", "title", "status"):
            if value := text_at(told, name)[:OUTPUT_LIMIT]:
                setattr(self, name, value)
        if given := at(told, "rawInput"):
            text = str(given)
            self.input = given if len(text) <= OUTPUT_LIMIT else cut(text, OUTPUT_LIMIT)
        output = _output(told)
        if output or (self.status in _OVER and at(told, "content") is not None):
            self.output = cut(output, OUTPUT_LIMIT)
        for *place, name in _CODES:
            if (code := exit_code_at(at(told, "rawOutput", *place), name)) is not None:
                self.exit_code = code
        self._add_edits(told)

    def _add_edits(self, told: Any) -> None:
        for block in listed(told, "content"):
            if at(block, "type") == "diff" and (path := text_at(block, "path")) and len(self.edits) < _MOST_EDITS:
                self.edits[path] = "modify" if at(block, "oldText") else "create"
        for place in listed(told, "locations"):
            if (path := text_at(place, "path")) and len(self.edits) < _MOST_EDITS:
                self.edits.setdefault(path, "modify")


class Updates:
    """Reads updates, over all turns of one session."""

    def __init__(self, workspace: str, servers: Sequence[str] = ()) -> None:
        self._workspace = workspace
        self._servers = tuple(servers)
        self._said = Said()
        self._thought = Said()
        self._message: str | None = None
        self._begun: dict[str, _Begun] = {}
        self._origin = monotonic()

    def begin(self) -> None:
        """Start a turn: times of calls are counted from here."""
        self._origin = monotonic()

    def read(self, update: Any) -> Iterator[StreamEvent | str]:
        """Yield the events of one update; what is unknown says nothing."""
        match at(update, "sessionUpdate"):
            case "agent_message_chunk":
                if text_at(update, "messageId") != self._message:
                    yield from self._spoken()
                    self._message = text_at(update, "messageId")
                yield from self._mused()
                self._said.add(joined(at(update, "content")))
            case "agent_thought_chunk":
                yield from self._spoken()
                self._thought.add(joined(at(update, "content")))
            case "tool_call" | "tool_call_update":
                yield from self._flushed()
                yield from self._told(update)

    def _told(self, told: Any) -> Iterator[StreamEvent]:
        """Take what is told of a call, in an update or in a request for permission; yield it at its end."""
        id = text_at(told, "toolCallId")
        begun = self._begun.get(id)
        if begun is None:
            if len(self._begun) >= _MOST_OPEN:
                return
            begun = self._begun[id] = _Begun(_native(told), monotonic())
        begun.add(told)
        if begun.status in _OVER:
            del self._begun[id]
            yield from self._ended(begun)

    def _flushed(self) -> Iterator[StreamEvent]:
        """Yield what was said or thought since the last event."""
        yield from self._mused()
        yield from self._spoken()

    def rest(self) -> Iterator[StreamEvent]:
        """Yield what is left at the end of a turn: text, and calls whose end was never told."""
        yield from self._flushed()
        begun, self._begun = self._begun, {}
        for one in begun.values():
            yield msgspec.structs.replace(self._shown(one), ok=None)

    def _spoken(self) -> Iterator[StreamEvent]:
        if text := self._said.take():
            yield Message(text=text)

    def _mused(self) -> Iterator[StreamEvent]:
        if text := self._thought.take():
            yield Reasoning(text=text)

    def _ended(self, begun: _Begun) -> Iterator[StreamEvent]:
        call = self._shown(begun)
        yield call
        if call.name == "edit" and call.ok:
            for path, kind in begun.edits.items():
                yield FileEdit(path=relative(path, self._workspace), kind="delete" if begun.kind == "delete" else kind)
        elif call.name == "fetch" and (url := text_at(call.input, "url")):
            yield WebFetch(url=url, ok=call.ok)

    def _shown(self, begun: _Begun) -> ToolCall:
        native, given, ok = begun.native, begun.input, begun.status == "completed"
        tool = mcp_tool(native, "", self._servers) or mcp_tool(native, "mcp_", self._servers)
        name = tool or _KINDS.get(begun.kind) or native or begun.kind or "unknown"
        code = begun.exit_code if name == "shell" else None
        if name == "shell" and not text_at(given, "command"):
            # Agents that tell no input put the command into the title.
            given = {"command": begun.title}
            native = "" if native == begun.title else native
        return ToolCall(
            name=name,
            native=native if native not in {"", name} else None,
            input={"title": begun.title} if given is None else given,
            output=begun.output,
            # That a command ran is no success: agents call one that failed "completed" as well.
            ok=None if name == "shell" and ok and code is None else ok and not code,
            exit_code=code,
            started=round(begun.since - self._origin, 6),
            duration=round(monotonic() - begun.since, 6),
        )


def _native(told: Any) -> str:
    """Return the agent's name of a tool: the protocol has but a title for people, which some begin with the name."""
    title = text_at(told, "title")
    return text_at(at(told, "_meta"), "toolName") or (title if _NAME.match(title) else "")


def _output(told: Any) -> str:
    blocks = [at(block, "content") for block in listed(told, "content") if at(block, "type") == "content"]
    return joined(blocks) or text_at(at(told, "rawOutput"), "output") or text_at(told, "rawOutput")

"""How is Codex driven? ``codex exec --json``, one process a turn, through a provider of its own in the config."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.calls import mcp_name
from reeval.harnesses.agents.streams.failures import failure, provider_failure
from reeval.harnesses.agents.streams.reading import JsonTranslator, amount, at, joined, relative, text_at
from reeval.harnesses.agents.streams.shapes import ExitCode
from reeval.harnesses.agents.streams.totals import RunningTotal
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Message, Retry, StreamEvent, Used
from reeval.schema.environment import McpServer
from reeval.schema.transcript import Channel, FileEdit, Reasoning, WebSearch

__all__ = ["AGENT", "KIND"]

_KEY = "OPENAI_API_KEY"
_BASE_URL = "https://api.openai.com/v1"
_NO_NETWORK = re.compile(r"waiting for network", re.IGNORECASE)
_MOST_WAITS = 3
"""It waits for a network for ever, whatever its retries: after so many such words the model counts as unreachable."""
_PLAIN = re.compile(r"\S+ -l?c '([^']*)'")
"""The usual case, without ``shlex``, which takes longer than all the rest of an event."""
_KINDS = {"add": "create", "delete": "delete"}


def invoke(call: Call) -> Invocation:
    """Return how one turn is called."""
    retries = call.options.retries
    settings: dict[str, Any] = {
        "analytics.enabled": False,
        "check_for_update_on_startup": False,
        "model_provider": "reeval",
        "model_providers.reeval.name": "reeval",
        "model_providers.reeval.base_url": call.options.base_url or call.env.get("OPENAI_BASE_URL") or _BASE_URL,
        "model_providers.reeval.env_key": _KEY,
        "model_providers.reeval.wire_api": "responses",
        "model_providers.reeval.supports_websockets": False,
        # Both retry the same refusals, one inside of the other: one of them is enough.
        "model_providers.reeval.request_max_retries": 0,
        "model_providers.reeval.stream_max_retries": retries,
        **({"model": call.model} if call.model is not None else {}),
        **({"model_reasoning_effort": call.effort} if call.effort is not None else {}),
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={_toml(value)}")]
    flags = ("--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", *words)
    resumed = () if call.session is None else ("resume",)
    return Invocation(
        args=("exec", *resumed, *flags, *(() if call.session is None else (call.session,)), "-"),
        stdin=call.prompt.encode("utf-8", "replace"),
        files=(AgentFile(path="~/.codex/config.toml", data=_servers(call), merge="append"),) if call.mcp else (),
    )


def _servers(call: Call) -> bytes:
    """Return tables to add to the config: the values of secrets must not be arguments, which everybody can see."""
    return "\n\n".join(_server(name, server) for name, server in call.mcp.items()).encode() + b"\n"


def _server(name: str, server: McpServer) -> str:
    values: dict[str, Any] = {"url": server.url, "http_headers": dict(server.headers)}
    if server.kind == "stdio":
        values = {"command": server.command[0], "args": list(server.command[1:]), "env": dict(server.env)}
    lines = (f"{key} = {_toml(value)}" for key, value in values.items() if value)
    return "\n".join((f"[mcp_servers.{_toml(name)}]", *lines))


def _toml(value: Any) -> str:
    """Return a value as TOML: JSON, but for the tables, and for one character that JSON does not escape."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class _Item(msgspec.Struct):
    """Of every type of item, what is looked at."""

    id: str = ""
    type: str = ""
    status: str = ""
    text: str = ""
    message: str = ""
    command: str = ""
    aggregated_output: str = ""
    exit_code: ExitCode | None = None
    changes: list[Any] = []
    server: str = ""
    tool: str = ""
    arguments: Any = None
    result: Any = None
    error: Any = None
    query: str = ""


class _Event(msgspec.Struct):
    type: str = ""
    item: _Item = msgspec.field(default_factory=_Item)
    thread_id: str = ""
    usage: Any = None
    error: Any = None
    message: str = ""


class Translator(JsonTranslator):
    """Reads the events of ``--json``: items that start and complete, and totals over the whole thread."""

    shape = _Event

    def __init__(self, workspace: str, servers: Sequence[str] = ()) -> None:
        super().__init__(workspace, servers)
        self._total = RunningTotal()
        self._ended = False
        self._error = ""
        self._waits = 0

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._ended, self._error, self._waits = False, "", 0

    def event(self, found: _Event) -> Iterable[StreamEvent | str]:
        """Return the events of one object."""
        match found.type:
            case "item.started":
                self._begin(found.item)
            case "item.completed":
                return self._item(found.item)
            case "thread.started":
                self.session = found.thread_id or self.session
            case "turn.completed":
                self._ended = True
                return (*self.calls.rest(), self._total.used(_used(found.usage)), Done())
            case "turn.failed":
                return self._failed(text_at(found.error, "message"))
            case "error":
                return self._trouble(found.message)
        return ()

    def _begin(self, item: _Item) -> None:
        match item.type:
            case "command_execution":
                self.calls.begin(item.id, "shell", item.type, {"command": _unwrapped(item.command)})
            case "file_change":
                self.calls.begin(item.id, "edit", item.type, {"changes": item.changes})
            case "mcp_tool_call":
                name = mcp_name(item.server, item.tool)
                self.calls.begin(item.id, name, name, item.arguments)
            case "web_search":
                self.calls.begin(item.id, "search", item.type, {"query": item.query})

    def _item(self, item: _Item) -> Iterable[StreamEvent | str]:
        match item.type:
            case "reasoning":
                return (Reasoning(text=item.text),)
            case "agent_message":
                return (Message(text=item.text),)
            case "command_execution" | "file_change" | "mcp_tool_call" | "web_search":
                return self._called(item)
            case "error":
                return (item.message,)
        return ()

    def _called(self, item: _Item) -> Iterable[StreamEvent]:
        if item.id not in self.calls:
            self._begin(item)
        ok = item.status == "completed"
        match item.type:
            case "command_execution":
                return (self.calls.end(item.id, item.aggregated_output, ok=ok, exit_code=item.exit_code),)
            case "file_change":
                edits = (self._edit(change) for change in item.changes if ok)
                return (self.calls.end(item.id, "", ok=ok), *edits)
            case "mcp_tool_call":
                output = joined(at(item.result, "content")) or text_at(item.error, "message")
                return (self.calls.end(item.id, output, ok=ok and item.error is None),)
        return (self.calls.end(item.id, "", ok=True), WebSearch(query=item.query, ok=True))

    def _edit(self, change: Any) -> FileEdit:
        kind: Any = _KINDS.get(text_at(change, "kind"), "modify")
        return FileEdit(path=relative(text_at(change, "path"), self.workspace), kind=kind)

    def _trouble(self, message: str) -> Iterator[StreamEvent]:
        self._error = message
        if message.startswith("Reconnecting"):
            yield Retry(message=message)
        self._waits += bool(_NO_NETWORK.search(message))
        if self._waits == _MOST_WAITS:
            self._ended = True
            yield from self.calls.rest()
            yield provider_failure(message)
            yield Done()

    def _failed(self, message: str) -> Iterator[StreamEvent]:
        self._ended = True
        yield from self.calls.rest()
        yield failure(message or self._error)
        yield Done()

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return the calls without an end, and the failure of a turn that ended with an error alone."""
        yield from self.calls.rest()
        if self._error and not self._ended and ending.exit_code == 1:
            yield failure(self._error)
            yield Done()


def _used(usage: Any) -> Used:
    """Return what a total says: its input holds what was cached, its output the reasoning."""
    total, read, written = (amount(usage, f"{name}input_tokens") for name in ("", "cached_", "cache_write_"))
    return Used(
        input=None if total is None else max(total - (read or 0) - (written or 0), 0),
        output=amount(usage, "output_tokens"),
        cache_read=read,
        cache_write=written,
        reasoning=amount(usage, "reasoning_output_tokens"),
    )


def _unwrapped(command: str) -> str:
    """Return what the shell is told to do, of ``/bin/bash -lc '…'``."""
    if found := _PLAIN.fullmatch(command):
        return found[1]
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[1] in {"-lc", "-c"} else command


AGENT = Agent(
    name="codex",
    package=Package(
        source="npm",
        name="@openai/codex",
        version="0.171.0",
        program="codex",
        entry="node_modules/@openai/codex-*/vendor/*/bin/codex",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["codex"],
    keys=(_KEY,),
    hosts=("api.openai.com",),
    base_urls=("OPENAI_BASE_URL",),
    price_list="openai",
    # It reads skills with its shell, as any file, and names neither its model nor the pages it opens.
    unreported=frozenset({Channel.FETCHES, Channel.MODEL, Channel.SKILLS}),
    mcp=frozenset({"stdio", "http"}),
)

KIND = agent_kind(AGENT)
"""OpenAI's command line."""

"""How is Pi driven? Headless, one process a turn, its JSON events read as they come."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.endpoints import (
    HOSTS,
    KEYS,
    PROVIDER,
    EndpointOptions,
    key_variable,
    model_there,
    versioned,
)
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.failures import failure
from reeval.harnesses.agents.streams.reading import (
    JsonTranslator,
    amount,
    at,
    cost_at,
    exit_code_at,
    joined,
    listed,
    relative,
    text_at,
)
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Failed, Message, Retry, Served, StreamEvent, Used
from reeval.schema.environment import McpServer
from reeval.schema.transcript import FileEdit, Reasoning

__all__ = ["AGENT", "KIND"]

_TOOLS = {"bash": "shell", "write": "edit", "edit": "edit", "read": "read"}
_APIS = {
    "openai-chat": "openai-completions",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "google": "google-generative-ai",
}
_EXIT_CODE = re.compile(r"^Command exited with code (\d+)$", re.MULTILINE)
_REPEATED = tuple(
    f'{{"type":"{name}"'.encode() for name in ("message_update", "message_start", "tool_execution_update", "turn_end")
)
"""Lines that say again, at growing length, what other lines say: not worth reading."""
_END = b'{"type":"agent_end"'
"""So begins a line that repeats the whole conversation."""
_WILL_RETRY = re.compile(rb'"willRetry":\s*true\s*\}\s*\Z')


def invoke(call: Call) -> Invocation:
    """Return how one turn is called. The prompt is read from standard input, where it may have any length."""
    args = ["--mode", "json", "--print", "--approve"]
    if (model := model_there(call)) is not None:
        args += ["--model", model]
    if call.effort is not None:
        args += ["--thinking", call.effort]
    if call.session is not None:
        args += ["--session", call.session]
    return Invocation(
        args=tuple(args),
        stdin=call.prompt.encode("utf-8", "replace"),
        env={"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "NO_COLOR": "1"},
        files=tuple(
            AgentFile(path=f"~/.pi/agent/{name}.json", data=json.dumps(content, indent=1).encode(), merge="json")
            for name, content in _config(call).items()
        ),
    )


def _config(call: Call) -> dict[str, Any]:
    retries, options = call.options.retries, call.options
    config: dict[str, Any] = {"settings": {"retry": {"enabled": retries > 0, "maxRetries": retries}}}
    if options.base_url is not None:
        config["models"] = {"providers": {PROVIDER: _provider(call)}}
    if call.mcp:
        config["mcp"] = {"mcpServers": {name: _server(server) for name, server in call.mcp.items()}}
    return config


def _provider(call: Call) -> dict[str, Any]:
    api = call.options.api
    return {
        "baseUrl": versioned(call.options.base_url, api, wanted=api != "anthropic"),
        "api": _APIS[api],
        "apiKey": f"${key_variable(call, KEYS)}",
        "models": [{"id": call.model, "reasoning": call.effort is not None}],
    }


def _server(server: McpServer) -> dict[str, Any]:
    # "direct": its tools are there from the start, and not only found by a search of the agent's.
    if server.kind == "http":
        return {"url": server.url, "headers": dict(server.headers), "exposure": "direct"}
    return {
        "command": server.command[0],
        "args": list(server.command[1:]),
        "env": dict(server.env),
        "exposure": "direct",
    }


class Translator(JsonTranslator):
    """Reads its events. A turn may end in an error and be tried again: the last message counts."""

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._error: Failed | None = None
        self._ended = False
        self._over = False

    def lines(self, lines: Sequence[bytes]) -> Iterator[StreamEvent | str]:
        """Return the events of lines, but for those that repeat what others say."""
        for line in lines:
            if line.startswith(_END):
                self._ended = not _WILL_RETRY.search(line)
        return super().lines([line for line in lines if not line.startswith((*_REPEATED, _END))])

    def event(self, found: dict[str, Any]) -> Iterator[StreamEvent | str]:
        """Return the events of one object."""
        match found.get("type"):
            case "session":
                self.session = text_at(found, "id") or self.session
            case "message_end" if at(found, "message", "role") == "assistant":
                yield from self._said(found.get("message"))
            case "tool_execution_start":
                native = text_at(found, "toolName")
                self.calls.begin(text_at(found, "toolCallId"), _TOOLS.get(native, native), native, found.get("args"))
            case "tool_execution_end":
                yield from self._called(found)
            case "auto_retry_start":
                limit = f"{amount(found, 'attempt')} of {amount(found, 'maxAttempts')}"
                yield Retry(message=f"{limit}: {text_at(found, 'errorMessage')}")
            case "agent_settled":
                yield from self._finished()

    def _said(self, message: Any) -> Iterator[StreamEvent]:
        self._error = None
        for block in listed(message, "content"):
            match text_at(block, "type"):
                case "text":
                    yield Message(text=text_at(block, "text"))
                case "thinking":
                    yield Reasoning(text=text_at(block, "thinking"))
        if model := text_at(message, "model"):
            yield Served(name=model)
        yield from _used(at(message, "usage"))
        match at(message, "stopReason"):
            case "error":
                self._error = failure(text_at(message, "errorMessage"))
            case "aborted":
                self._error = failure(text_at(message, "errorMessage") or "aborted", agent=True)

    def _called(self, found: dict[str, Any]) -> Iterator[StreamEvent]:
        ok, result = found.get("isError") is not True, found.get("result")
        native = text_at(found, "toolName")
        output = joined(at(result, "content"))
        name = _TOOLS.get(native, native)
        call = self.calls.end(
            text_at(found, "toolCallId"),
            output,
            ok=ok,
            exit_code=_exit_code(result, output, ok=ok) if name == "shell" else None,
            name=name,
        )
        took = amount(found, "durationMs")
        yield call if took is None else msgspec.structs.replace(call, duration=took / 1000)
        if name == "edit" and ok and (path := text_at(call.input, "path")):
            yield FileEdit(path=relative(path, self.workspace))

    def _finished(self) -> Iterator[StreamEvent]:
        self._over = True
        if self._error is not None:
            yield self._error
        yield Done()

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return what is left. Older versions say no more than that the agent ended, for each try."""
        yield from super().end(ending)
        if self._ended and not self._over and ending.exit_code == 0:
            yield from self._finished()


def _exit_code(result: Any, output: str, *, ok: bool) -> int | None:
    if (told := exit_code_at(at(result, "structuredContent"), "exit_code")) is not None:
        return told
    said = _EXIT_CODE.findall(output[-200:])
    return int(said[-1]) if said and not ok else (0 if ok else None)


def _used(usage: Any) -> Iterator[StreamEvent]:
    """Yield what a call of the model used: its input leaves out what was cached, its output holds the reasoning."""
    given, output = amount(usage, "input"), amount(usage, "output")
    if given is None or output is None or not amount(usage, "totalTokens"):
        return
    yield Used(
        input=given,
        output=output,
        reasoning=amount(usage, "reasoning"),
        cache_read=amount(usage, "cacheRead"),
        cache_write=amount(usage, "cacheWrite"),
        # Of a model whose price it does not know it says 0.
        cost=cost_at(at(usage, "cost"), "total") or None,
    )


AGENT = Agent(
    name="pi",
    package=Package(
        source="npm",
        name="@earendil-works/pi-coding-agent",
        version="1.6.0",
        program="pi",
        entry="node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js",
        node="22.23.3",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["pi"],
    keys=KEYS,
    hosts=HOSTS,
    options=EndpointOptions,
    mcp=frozenset({"stdio", "http"}),
)
KIND = agent_kind(AGENT)
"""The coding agent Pi, with models of any provider."""

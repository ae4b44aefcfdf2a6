"""How is OpenCode driven? Headless, one process a turn, its JSON events read as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from reeval.harnesses.agents.agent import Agent, Call, Ending, Invocation
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
from reeval.harnesses.agents.streams.calls import mcp_tool
from reeval.harnesses.agents.streams.evidence import web_evidence
from reeval.harnesses.agents.streams.failures import failure
from reeval.harnesses.agents.streams.reading import JsonTranslator, amount, at, cost_at, exit_code_at, relative, text_at
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Failed, Message, StreamEvent, Used
from reeval.schema.environment import McpServer
from reeval.schema.transcript import Channel, FileEdit, Reasoning, ToolCall

__all__ = ["AGENT", "KIND"]

_TOOLS = {
    "bash": "shell",
    "write": "edit",
    "edit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "multiedit": "edit",
    "read": "read",
    "websearch": "search",
    "webfetch": "fetch",
    "skill": "skill",
}
_PACKAGES = {
    "openai-chat": "@ai-sdk/openai-compatible",
    "openai-responses": "@ai-sdk/openai",
    "anthropic": "@ai-sdk/anthropic",
    "google": "@ai-sdk/google",
}
_GAVE_UP = frozenset({"ContextOverflowError", "MessageOutputLengthError", "MessageAbortedError"})
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    # Else it installs its plugin package into the workspace in turns of more than about ten seconds.
    "npm_config_registry": "http://127.0.0.1:9/",
}


def invoke(call: Call) -> Invocation:
    """Return how one turn is called. The prompt is read from standard input, where it may have any length."""
    args = ["run", "--format", "json", "--auto"]
    if (model := model_there(call)) is not None:
        args += ["--model", model]
    if call.effort is not None:
        args += ["--variant", call.effort]
    if call.session is not None:
        args += ["--session", call.session]
    return Invocation(
        args=tuple(args),
        stdin=call.prompt.encode("utf-8", "replace"),
        env={**_QUIET, "OPENCODE_CONFIG_CONTENT": json.dumps(_config(call))},
    )


def _config(call: Call) -> dict[str, Any]:
    config: dict[str, Any] = {"autoupdate": False, "share": "disabled", "permission": {"*": "allow"}}
    if call.options.base_url is not None:
        config["provider"] = {PROVIDER: _provider(call)}
    if (model := model_there(call)) is not None:
        # Titles are made by it: the default would be another provider's.
        config["small_model"] = model
    if call.mcp:
        config["mcp"] = {name: _server(server) for name, server in call.mcp.items()}
    return config


def _provider(call: Call) -> dict[str, Any]:
    model: dict[str, Any] = {"name": call.model, "reasoning": True}
    if call.effort is not None:
        model["variants"] = {call.effort: {"reasoningEffort": call.effort}}
    api = call.options.api
    return {
        "npm": _PACKAGES[api],
        "name": PROVIDER,
        "options": {
            "baseURL": versioned(call.options.base_url, api, wanted=True),
            "apiKey": f"{{env:{key_variable(call, KEYS)}}}",
        },
        "models": {call.model: model},
    }


def _server(server: McpServer) -> dict[str, Any]:
    if server.kind == "http":
        return {"type": "remote", "url": server.url, "headers": dict(server.headers), "enabled": True, "oauth": False}
    return {"type": "local", "command": list(server.command), "environment": dict(server.env), "enabled": True}


class Translator(JsonTranslator):
    """Reads its events: parts of messages as they are finished. None says that it is the last."""

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._error: Failed | None = None
        self._over = False

    def event(self, found: dict[str, Any]) -> Iterator[StreamEvent | str]:
        """Return the events of one object."""
        self.session = text_at(found, "sessionID") or self.session
        part = found.get("part")
        match found.get("type"):
            case "text":
                yield Message(text=text_at(part, "text"))
            case "reasoning":
                yield Reasoning(text=text_at(part, "text"))
            case "tool_use":
                yield from self._called(part)
            case "step_finish":
                self._error = None
                self._over = text_at(part, "reason") != "tool-calls"
                yield from _used(part)
            case "error":
                self._error = _failed(found.get("error"))

    def _called(self, part: Any) -> Iterator[StreamEvent]:
        state, native = at(part, "state"), text_at(part, "tool")
        given, done = at(state, "input"), text_at(state, "status") == "completed"
        if native == "invalid":  # A tool that is not there, or that was called in a wrong way.
            native, done = text_at(given, "tool") or native, False
        name = _TOOLS.get(native) or mcp_tool(native, "", self.servers) or native
        code = exit_code_at(at(state, "metadata"), "exit") if name == "shell" else None
        begun, ended = amount(at(state, "time"), "start"), amount(at(state, "time"), "end")
        duration = max(ended - begun, 0) / 1000 if begun is not None and ended is not None else None
        call = ToolCall(
            name=name,
            native=native if native != name else None,
            input=given,
            output=text_at(state, "output") or text_at(state, "error"),
            ok=done and not code,
            exit_code=code,
            # It is told of at its end.
            started=None if duration is None else round(max(self.calls.elapsed() - duration, 0), 6),
            duration=duration,
        )
        yield call
        if name == "edit" and done and (path := text_at(given, "filePath")):
            created = at(state, "metadata", "exists") is False
            yield FileEdit(path=relative(path, self.workspace), kind="create" if created else "modify")
        yield from web_evidence(call)

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return how the turn ended: an error after the last step, else a good exit code, says so.

        It exits with 0 also when what it had still to say was lost: then its last step had called tools.
        """
        if self._error is not None:
            yield self._error
            yield Done()
        elif ending.exit_code == 0 and self._over:
            yield Done()


def _used(part: Any) -> Iterator[StreamEvent]:
    """Yield what a step used: its input leaves out what was cached, its output the reasoning."""
    tokens = at(part, "tokens")
    given, output = amount(tokens, "input"), amount(tokens, "output")
    if given is None or output is None:
        return
    reasoning = amount(tokens, "reasoning")
    yield Used(
        input=given,
        output=output + (reasoning or 0),
        reasoning=reasoning,
        cache_read=amount(at(tokens, "cache"), "read"),
        cache_write=amount(at(tokens, "cache"), "write"),
        # Of a model whose price it does not know it says 0.
        cost=cost_at(part, "cost") or None,
    )


def _failed(error: Any) -> Failed:
    message = text_at(at(error, "data"), "message") or text_at(error, "name")
    code = amount(at(error, "data"), "statusCode")
    told = f"{code}: {message}" if code is not None else message
    return failure(told, agent=text_at(error, "name") in _GAVE_UP)


AGENT = Agent(
    name="opencode",
    package=Package(
        source="npm",
        name="opencode-ai",
        version="1.18.33",
        program="opencode",
        entry="node_modules/opencode-*-*/bin/opencode",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["opencode"],
    keys=KEYS,
    hosts=HOSTS,
    options=EndpointOptions,
    unreported=frozenset({Channel.MODEL}),
    mcp=frozenset({"stdio", "http"}),
)
KIND = agent_kind(AGENT)
"""OpenCode, with models of any provider."""

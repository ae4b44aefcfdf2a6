"""How is Claude Code driven? Headless, one process a turn, ``stream-json`` read as it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Invocation
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.evidence import web_evidence
from reeval.harnesses.agents.streams.failures import failure, provider_failure
from reeval.harnesses.agents.streams.reading import (
    JsonTranslator,
    amount,
    at,
    cost_at,
    joined,
    listed,
    relative,
    text_at,
)
from reeval.harnesses.agents.streams.totals import RunningTotal
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Message, Retry, Served, StreamEvent, Used
from reeval.schema.transcript import FileEdit, Reasoning, ToolCall

__all__ = ["AGENT", "KIND"]

_TOOLS = {
    "Bash": "shell",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Read": "read",
    "Skill": "skill",
    "WebFetch": "fetch",
    "WebSearch": "search",
    "Write": "edit",
}
_EXIT_CODE = re.compile(r"\A(?:Error: )?Exit code (\d{1,3})\b")
_SYNTHETIC = "<synthetic>"
"""The model of messages that the program writes itself, such as the text of an error."""
_SERVERS = "~/.reeval/mcp.json"
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "IS_SANDBOX": "1",  # Without it the program refuses to skip permissions where it is root.
}


def invoke(call: Call) -> Invocation:
    """Return how one turn is called."""
    args = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    if call.model is not None:
        args += ["--model", call.model]
    if call.effort is not None:
        args += ["--effort", call.effort]
    if call.session is not None:
        args += ["--resume", call.session]
    if call.mcp:
        args += ["--mcp-config", f"{call.home}{_SERVERS[1:]}", "--strict-mcp-config"]
    env = {**_QUIET, "CLAUDE_CODE_MAX_RETRIES": str(call.options.retries)}
    if call.options.base_url is not None:
        env["ANTHROPIC_BASE_URL"] = call.options.base_url
    return Invocation(
        args=tuple(args),
        stdin=call.prompt.encode("utf-8", "replace"),
        env=env,
        files=(AgentFile(path=_SERVERS, data=_servers(call)),) if call.mcp else (),
    )


def _servers(call: Call) -> bytes:
    servers: dict[str, Any] = {}
    for name, server in call.mcp.items():
        if server.kind == "http":
            servers[name] = {"type": "http", "url": server.url, "headers": dict(server.headers)}
        else:
            command, *args = server.command
            servers[name] = {"type": "stdio", "command": command, "args": args, "env": dict(server.env)}
    return json.dumps({"mcpServers": servers}, indent=1).encode()


class Translator(JsonTranslator):
    """Reads ``stream-json``. What the models of a conversation used runs on over its turns."""

    def __init__(self, workspace: str, servers: Sequence[str] = ()) -> None:
        super().__init__(workspace, servers)
        self._total = RunningTotal()
        self._said = ""

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._said = ""

    def event(self, found: dict[str, Any]) -> Iterator[StreamEvent | str]:
        """Return the events of one object."""
        self.session = text_at(found, "session_id") or self.session
        match found.get("type"):
            case "system" if found.get("subtype") == "api_retry":
                status, why = found.get("error_status"), text_at(found, "error") or "no answer"
                tried = f"{found.get('attempt')} of {found.get('max_retries')}"
                yield Retry(message=f"{f'{status} ' if status else ''}{why}, retry {tried}")
            case "assistant":
                yield from self._assistant(found)
            case "user":
                for block in listed(found.get("message"), "content"):
                    if text_at(block, "type") == "tool_result":
                        yield from self._result(block, found)
            case "result":
                yield from self._end_of_turn(found)

    def _assistant(self, found: dict[str, Any]) -> Iterator[StreamEvent]:
        model = text_at(found.get("message"), "model")
        if model == _SYNTHETIC:
            return
        of_agent = found.get("parent_tool_use_id") is None
        if model and of_agent:
            yield Served(name=model)
        for block in listed(found.get("message"), "content"):
            match text_at(block, "type"):
                case "text" if of_agent:
                    self._said = text_at(block, "text")
                    yield Message(text=self._said)
                case "thinking" if text := text_at(block, "thinking"):
                    yield Reasoning(text=text)
                case "tool_use":
                    native = text_at(block, "name")
                    self.calls.begin(text_at(block, "id"), _TOOLS.get(native, native), native, at(block, "input"))

    def _result(self, block: Any, found: dict[str, Any]) -> Iterator[StreamEvent]:
        failed = at(block, "is_error") is True
        output = joined(at(block, "content"))
        call = self.calls.end(text_at(block, "tool_use_id"), output, ok=not failed)
        detail = found.get("tool_use_result")
        if call.name == "shell":
            call = msgspec.structs.replace(call, exit_code=_exit_code(output, detail, failed=failed))
        yield call
        yield from _evidence(call, detail, self.workspace)

    def _end_of_turn(self, found: dict[str, Any]) -> Iterator[StreamEvent]:
        yield from self.calls.rest()
        yield self._used(found)
        text = text_at(found, "result")
        if found.get("is_error") is True:
            status = found.get("api_error_status")
            reason = text_at(found, "terminal_reason")
            text = text or "; ".join(str(one) for one in listed(found, "errors")) or text_at(found, "subtype")
            said = f"{status}: {text}" if isinstance(status, int) and str(status) not in text else text
            by_model = status is not None or reason == "api_error" or found.get("subtype") == "success"
            if reason == "prompt_too_long":
                said = f"prompt_too_long: {said}"
            yield provider_failure(said) if reason == "api_error" else failure(said, agent=not by_model)
        elif text != self._said:
            yield Message(text=text)
        yield Done()

    def _used(self, found: dict[str, Any]) -> Used:
        models = [one for one in (found.get("modelUsage") or {}).values() if amount(one, "inputTokens") is not None]
        if not models:
            return _of_turn(found.get("usage"))
        total = Used(
            input=_sum(models, "inputTokens"),
            output=_sum(models, "outputTokens"),
            cache_read=_sum(models, "cacheReadInputTokens"),
            cache_write=_sum(models, "cacheCreationInputTokens"),
            reasoning=_sum(models, "thinkingTokens"),
            cost=cost_at(found, "total_cost_usd"),
        )
        return self._total.used(total)


def _of_turn(usage: Any) -> Used:
    return Used(
        input=amount(usage, "input_tokens"),
        output=amount(usage, "output_tokens"),
        cache_read=amount(usage, "cache_read_input_tokens"),
        cache_write=amount(usage, "cache_creation_input_tokens"),
    )


def _sum(models: list[dict[str, Any]], key: str) -> int | None:
    amounts = [amount(model, key) for model in models]
    return None if None in amounts else sum(one for one in amounts if one is not None)


def _exit_code(output: str, detail: Any, *, failed: bool) -> int | None:
    """Return what is known: a failure prints its code, a success is 0 unless it ran on or its code means no failure."""
    if failed:
        found = _EXIT_CODE.match(output)
        return int(found[1]) if found else None
    open_ended = ("backgroundTaskId", "interrupted", "returnCodeInterpretation")
    return None if not isinstance(detail, dict) or any(detail.get(key) for key in open_ended) else 0


def _evidence(call: ToolCall, detail: Any, workspace: str) -> Iterator[StreamEvent]:
    if call.name == "edit" and call.ok:
        path = text_at(call.input, "file_path") or text_at(call.input, "notebook_path")
        created = at(detail, "type") == "create"
        yield FileEdit(path=relative(path, workspace), kind="create" if created else "modify")
    yield from web_evidence(call)


AGENT = Agent(
    name="claude-code",
    package=Package(
        source="npm",
        name="@anthropic-ai/claude-code",
        version="2.1.332",
        program="claude",
        entry="node_modules/@anthropic-ai/claude-code-*/claude",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["claude-code"],
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    hosts=("api.anthropic.com",),
    base_urls=("ANTHROPIC_BASE_URL",),
    price_list="anthropic",
    reports_cost=True,
    mcp=frozenset({"stdio", "http"}),
)

KIND = agent_kind(AGENT)
"""Anthropic's command line."""

"""How is Gemini CLI driven? Headless, one process a turn, its ``stream-json`` read as it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.gemini_family import QUIET, api_failure, mcp_servers
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.calls import mcp_tool
from reeval.harnesses.agents.streams.evidence import web_evidence
from reeval.harnesses.agents.streams.failures import provider_failure
from reeval.harnesses.agents.streams.reading import JsonTranslator, amount, at, relative, text_at
from reeval.harnesses.agents.streams.said import Said
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Message, Retry, Served, StreamEvent, Used
from reeval.schema.transcript import FileEdit, ToolCall

__all__ = ["AGENT", "KIND"]

_TOOLS = {
    "run_shell_command": "shell",
    "write_file": "edit",
    "replace": "edit",
    "read_file": "read",
    "read_many_files": "read",
    "google_web_search": "search",
    "web_fetch": "fetch",
    "activate_skill": "skill",
}
_EFFORTS = {"minimal": 512, "low": 2048, "medium": 8192, "high": 24576}
"""Tokens of thinking, for the models that take a number; the newer ones take the word."""
_RETRIED = re.compile(r"^Attempt \d+ failed[^\n]{0,300}", re.MULTILINE)
_MOST_RETRIES = 20
_NOT_LOGGED_IN = 41
_EXIT_CODE = re.compile(r"Command exited with code: (\d{1,3})")


def invoke(call: Call) -> Invocation:
    """Return how one turn is called. The prompt is read from standard input, where it may have any length."""
    args = ["--output-format", "stream-json", "--yolo"]
    if call.model is not None:
        args += ["--model", call.model]
    if call.session is not None:
        args += ["--resume", call.session]
    env = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_COLOR": "1"}
    if call.options.base_url is not None:
        env["GOOGLE_GEMINI_BASE_URL"] = call.options.base_url
    settings = json.dumps(_settings(call), indent=1).encode()
    return Invocation(
        args=tuple(args),
        stdin=call.prompt.encode("utf-8", "replace"),
        env=env,
        files=(AgentFile(path="~/.gemini/settings.json", data=settings, merge="json"),),
    )


def _settings(call: Call) -> dict[str, Any]:
    retries = call.options.retries
    settings: dict[str, Any] = {
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": retries + 1,
            "retryFetchErrors": retries > 0,
        },
        **QUIET,
        **mcp_servers(call.mcp),
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    }
    if call.effort is not None:
        if call.model is None:
            raise InfrastructureError(Phase.HARNESS, "gemini takes an effort for a model that is named; add model")
        settings["modelConfigs"] = {"overrides": [{"match": {"model": call.model}, "modelConfig": _thinking(call)}]}
    return settings


def _thinking(call: Call) -> dict[str, Any]:
    effort = str(call.effort)
    takes_number = "gemini-2" in (call.model or "")
    budget = int(effort) if effort.isdecimal() else _EFFORTS.get(effort.lower())
    if takes_number and budget is not None:
        return {"generateContentConfig": {"thinkingConfig": {"thinkingBudget": budget}}}
    return {"generateContentConfig": {"thinkingConfig": {"thinkingLevel": effort.upper()}}}


class _Event(msgspec.Struct):
    """Of every type of event, what is looked at."""

    type: str = ""
    session_id: str = ""
    model: str = ""
    role: str = ""
    content: str = ""
    tool_name: str = ""
    tool_id: str = ""
    parameters: Any = None
    status: str = ""
    output: str = ""
    message: str = ""
    error: Any = None
    stats: Any = None


class Translator(JsonTranslator):
    """Reads ``stream-json``: pieces of text, calls, and one result with the totals of this process."""

    shape = _Event

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._said = Said()
        self._error = ""
        self._over = False

    def event(self, found: _Event) -> Iterator[StreamEvent | str]:
        """Return the events of one object."""
        match found.type:
            case "init":
                self.session = found.session_id or self.session
                if found.model:
                    yield Served(name=found.model)
            case "message" if found.role == "assistant":
                self._said.add(found.content)
            case "tool_use":
                yield from self._flushed()
                native = found.tool_name
                name = _TOOLS.get(native) or mcp_tool(native, "mcp_", self.servers) or native
                self.calls.begin(found.tool_id, name, native, found.parameters)
            case "tool_result":
                yield from self._ended(found)
            case "error":
                self._error = found.message
            case "result":
                yield from self._result(found)

    def _flushed(self) -> Iterator[StreamEvent]:
        if text := self._said.take():
            yield Message(text=text)

    def _ended(self, found: _Event) -> Iterator[StreamEvent]:
        ok = found.status == "success"
        call = self.calls.end(found.tool_id, found.output or text_at(found.error, "message"), ok=ok)
        if call.name == "shell" and ok:
            call = _with_exit_code(call)
        yield call
        if call.name == "edit" and ok and (path := text_at(call.input, "file_path")):
            yield FileEdit(path=relative(path, self.workspace))
        yield from web_evidence(call)

    def _result(self, found: _Event) -> Iterator[StreamEvent]:
        yield from self._flushed()
        yield from _used(found.stats)
        self._over = True
        if found.status != "success":
            yield api_failure(text_at(found.error, "message") or self._error)
        yield Done()

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return what only standard error and the exit code say."""
        yield from self._flushed()
        yield from super().end(ending)
        for one in _RETRIED.findall(ending.stderr)[:_MOST_RETRIES]:
            yield Retry(message=one)
        if not self._over and ending.exit_code == _NOT_LOGGED_IN:
            yield provider_failure(f"not logged in: {ending.stderr.strip()}")
            yield Done()


def _with_exit_code(call: ToolCall) -> ToolCall:
    """Return a command's call with what is known of its end: one that failed is a "success" as well.

    Only in place of an output is it told how a command ended.
    """
    if (told := _EXIT_CODE.fullmatch(call.output)) is None:
        return msgspec.structs.replace(call, ok=None)
    return msgspec.structs.replace(call, ok=False, exit_code=int(told[1]))


def _used(stats: Any) -> Iterator[StreamEvent]:
    """Yield what a process used: its input includes what was cached, its output leaves the thoughts out."""
    total, given, output = amount(stats, "total_tokens"), amount(stats, "input_tokens"), amount(stats, "output_tokens")
    if not total or given is None or output is None:
        return
    cached = amount(stats, "cached") or 0
    thoughts = max(total - given - output, 0)
    yield Used(input=max(given - cached, 0), cache_read=cached, output=output + thoughts, reasoning=thoughts)
    models = at(stats, "models")
    if isinstance(models, dict) and models:
        yield Served(name=max(models, key=lambda name: amount(at(models, name), "total_tokens") or 0))


AGENT = Agent(
    name="gemini",
    package=Package(
        source="npm",
        name="@google/gemini-cli",
        version="0.61.0",
        program="gemini",
        entry="node_modules/@google/gemini-cli/bundle/gemini.js",
        node="22.23.3",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["gemini"],
    keys=("GEMINI_API_KEY",),
    hosts=("generativelanguage.googleapis.com",),
    base_urls=("GOOGLE_GEMINI_BASE_URL",),
    price_list="google",
    mcp=frozenset({"stdio", "http"}),
    exit_codes=False,
)
KIND = agent_kind(AGENT)
"""Google's Gemini CLI."""

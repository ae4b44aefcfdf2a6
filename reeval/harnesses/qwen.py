"""How is Qwen Code driven? Headless, one process a turn, its ``stream-json`` read as it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.gemini_family import QUIET, api_failure, mcp_servers
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.evidence import web_evidence
from reeval.harnesses.agents.streams.reading import JsonTranslator, amount, at, joined, relative, text_at
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.stream import Done, Message, Retry, Served, StreamEvent, Used
from reeval.schema.transcript import FileEdit, Reasoning, ToolCall

__all__ = ["AGENT", "KIND"]

_TOOLS = {
    "run_shell_command": "shell",
    "write_file": "edit",
    "edit": "edit",
    "notebook_edit": "edit",
    "read_file": "read",
    "web_search": "search",
    "web_fetch": "fetch",
    "skill": "skill",
}
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_OWN_RETRIES = 6
"""It calls a model so often again whatever it is told; what it can be told is how often all of that is repeated."""


def invoke(call: Call) -> Invocation:
    """Return how one turn is called. The prompt is read from standard input, where it may have any length."""
    args = ["--output-format", "stream-json", "--yolo", "--auth-type", "openai"]
    if call.model is not None:
        args += ["--model", call.model]
    if call.session is not None:
        args += ["--resume", call.session]
    env = {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1", "NO_COLOR": "1"}
    if call.options.base_url is not None:
        env["OPENAI_BASE_URL"] = call.options.base_url
    settings = json.dumps(_settings(call), indent=1).encode()
    return Invocation(
        args=tuple(args),
        stdin=call.prompt.encode("utf-8", "replace"),
        env=env,
        files=(AgentFile(path="~/.qwen/settings.json", data=settings, merge="json"),),
    )


def _settings(call: Call) -> dict[str, Any]:
    rounds = -(-max(call.options.retries - _OWN_RETRIES, 0) // (_OWN_RETRIES + 1))
    generation: dict[str, Any] = {"maxRetries": rounds}
    if call.effort is not None:
        generation["reasoning"] = {"effort": call.effort}
    return {
        "general": {"enableAutoUpdate": False},
        **QUIET,
        **mcp_servers(call.mcp),
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"generationConfig": generation},
    }


class _Block(msgspec.Struct):
    """Of every type of block, event and so on, what is looked at."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: Any = None
    is_error: Any = None


class _Message(msgspec.Struct):
    model: str = ""
    content: list[_Block] = []
    usage: Any = None


class _Event(msgspec.Struct):
    type: str = ""
    subtype: str = ""
    session_id: str = ""
    parent_tool_use_id: Any = None
    message: _Message = msgspec.field(default_factory=_Message)
    data: Any = None
    error: Any = None
    is_error: Any = None


class Translator(JsonTranslator):
    """Reads ``stream-json``: messages with blocks, results of calls, and one result.

    The totals of the result run on over the turns of a conversation; those of its messages add up.
    """

    shape = _Event

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._held: str | None = None
        """The last text: an error is told as one as well."""

    def event(self, found: _Event) -> Iterator[StreamEvent | str]:
        """Return the events of one object."""
        self.session = found.session_id or self.session
        match found.type:
            case "assistant":
                yield from self._flushed()
                yield from self._said(found)
            case "user":
                yield from self._flushed()
                for block in found.message.content:
                    if block.type == "tool_result":
                        yield from self._ended(block)
            case "system" if found.subtype == "retry":
                yield Retry(message=_retry(found.data))
            case "result":
                yield from self._result(found)

    def _flushed(self) -> Iterator[StreamEvent]:
        text, self._held = self._held, None
        if text:
            yield Message(text=text)

    def _said(self, found: _Event) -> Iterator[StreamEvent]:
        if found.message.model:
            yield Served(name=found.message.model)
        for block in found.message.content:
            match block.type:
                case "text" if found.parent_tool_use_id is None:
                    yield from self._flushed()
                    self._held = block.text
                case "thinking":
                    yield Reasoning(text=block.thinking)
                case "tool_use":
                    yield from self._flushed()
                    self.calls.begin(block.id, _TOOLS.get(block.name, block.name), block.name, block.input)
        yield from _used(found.message.usage)

    def _ended(self, block: _Block) -> Iterator[StreamEvent]:
        output, ok = joined(block.content), block.is_error is not True
        call = self.calls.end(block.tool_use_id, output, ok=ok)
        if call.name == "shell":
            call = _with_exit_code(call)
        yield call
        if call.name == "edit" and ok and (path := text_at(call.input, "file_path")):
            created = output.startswith("Successfully created")
            yield FileEdit(path=relative(path, self.workspace), kind="create" if created else "modify")
        yield from web_evidence(call)

    def _result(self, found: _Event) -> Iterator[StreamEvent]:
        error = text_at(found.error, "message")
        if found.is_error is not True and not error:
            yield from self._flushed()
            yield Done()
            return
        self._held = (self._held or "").removesuffix(error)
        yield from self._flushed()
        yield api_failure(error or found.subtype)
        yield Done()

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return what was held back."""
        yield from self._flushed()
        yield from super().end(ending)


def _with_exit_code(call: ToolCall) -> ToolCall:
    """Return a call with its exit code, which is told in the output, and only of a command that failed."""
    if at(call.input, "is_background") is True:
        return call
    if call.ok:
        return msgspec.structs.replace(call, exit_code=0)
    told = _EXIT_CODE.findall(call.output)
    return msgspec.structs.replace(call, exit_code=int(told[-1])) if told else call


def _used(usage: Any) -> Iterator[StreamEvent]:
    """Yield what a message used: its input includes what was cached. The pieces of a message but one have zeros."""
    given, output = amount(usage, "input_tokens"), amount(usage, "output_tokens")
    if given is None or output is None or not given + output:
        return
    cached = amount(usage, "cache_read_input_tokens") or 0
    yield Used(input=max(given - cached, 0), cache_read=cached, output=output)


def _retry(data: Any) -> str:
    wait = amount(data, "delayMs")
    words = [text_at(data, "reason") or "retry"]
    if (attempt := amount(data, "attempt")) is not None:
        words.append(f"{attempt} of {amount(data, 'maxRetries')}")
    if wait is not None:
        words.append(f"in {wait / 1000:g} s")
    return " ".join(words)


AGENT = Agent(
    name="qwen",
    package=Package(
        source="npm",
        name="@qwen-code/qwen-code",
        version="0.24.4",
        program="qwen",
        entry="node_modules/@qwen-code/qwen-code/cli-entry.js",
        node="22.23.3",
    ),
    invoke=invoke,
    translator=Translator,
    layout=LAYOUTS["qwen"],
    keys=("OPENAI_API_KEY",),
    hosts=("api.openai.com",),
    base_urls=("OPENAI_BASE_URL",),
    price_list="openai",
    mcp=frozenset({"stdio", "http"}),
)
KIND = agent_kind(AGENT)
"""Alibaba's Qwen Code, with any model that speaks OpenAI's Chat Completions."""

"""A model that does what its prompt says, line by line: what it answers follows from the request alone.

    DO write greet.py print("hi")      write a file
    DO run python3 greet.py            run a shell command
    DO mcp demo lookup {"word": "hi"}  call a tool of an MCP server
    DO use no_such_tool {"x": 1}       call a tool by its very name
    DO say It greets.                  the final message (``DO say`` alone: an empty one)

The last user message with such lines counts; the results of tools after it say how far the model has come.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AUXILIARY", "Ask", "Say", "Spent", "Tool", "UseTool", "act_on", "heard", "said"]

AUXILIARY = "A title"
"""What it answers to requests without tools: agents ask for titles and summaries."""
_DO = re.compile(r"^(?:Please solve this issue:)?\s*DO (write|run|mcp|use|say)(?: (.*))?$", re.MULTILINE)
_FINISH = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What the one agent prints, by a command, that has no other way to say that it is done."""


@dataclass(frozen=True)
class Tool:
    """A tool that the agent offers."""

    name: str
    properties: tuple[str, ...] = ()
    free: bool = False
    """It takes a text and no JSON."""


@dataclass
class Ask:
    """What a request asks, whatever its wire form."""

    tools: dict[str, Tool] = field(default_factory=dict)
    orders: tuple[tuple[str, str], ...] = ()
    step: int = 0
    """Results of tools since the orders."""
    everything: str = ""
    """All text of it, to find the directory that the agent works in."""
    data: bool = False
    """The answer is to be JSON."""

    def user(self, text: str) -> None:
        """Hear what a user says."""
        self.everything += f"\n{text}"
        if found := tuple((kind, rest or "") for kind, rest in _DO.findall(text)):
            self.orders, self.step = found, 0


@dataclass(frozen=True)
class Say:
    """The model says something and ends its turn."""

    text: str


@dataclass(frozen=True)
class UseTool:
    """The model calls a tool."""

    name: str
    input: Any
    free: bool = False
    namespace: str | None = None


@dataclass(frozen=True)
class Spent:
    """What a call claims to have used: 1000 prompt tokens and 100 more with each step, the first 800 of them cached."""

    step: int

    @property
    def prompt(self) -> int:
        return 1000 + 100 * self.step

    @property
    def cached(self) -> int:
        return 800 if self.step else 0

    @property
    def answer(self) -> int:
        """Reasoning included."""
        return 40 + self.step

    reasoning = 7


def act_on(ask: Ask) -> Say | UseTool:
    """Return the next step."""
    if not ask.tools:
        return Say('{"title": "A title", "summary": "A title"}' if ask.data else AUXILIARY)
    if not ask.orders:
        return _finished(ask, "I was told nothing to do.")
    kind, rest = ask.orders[min(ask.step, len(ask.orders) - 1)]
    if kind == "say" or ask.step >= len(ask.orders):
        return _finished(ask, rest if kind == "say" else "Done.")
    return _use(ask, kind, rest)


def _use(ask: Ask, kind: str, rest: str) -> UseTool:
    first, _, more = rest.partition(" ")
    if kind == "write":
        return _write(ask, first, more + "\n")
    if kind == "run":
        return _run(ask, rest)
    if kind == "mcp":
        tool, _, given = more.partition(" ")
        return _mcp(ask, first, tool, json.loads(given or "{}"))
    return UseTool(first, json.loads(more or "{}"))


def _finished(ask: Ask, text: str) -> Say | UseTool:
    if set(ask.tools) == {"bash"} and _FINISH in ask.everything and text:
        return UseTool("bash", {"command": f"echo {_FINISH} && echo '{text}'"})
    return Say(text)


def _run(ask: Ask, command: str) -> UseTool:
    for name in ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash"):
        if name in ask.tools:
            key = "cmd" if name == "exec_command" else "command"
            given: dict[str, Any] = {key: ["bash", "-lc", command] if name == "shell" else command}
            extra = {"description": "Run a command", "is_background": False}
            return UseTool(name, given | {key: it for key, it in extra.items() if key in ask.tools[name].properties})
    return _missing(ask)


def _write(ask: Ask, path: str, text: str) -> UseTool:
    for name in ("Write", "write_file", "write"):
        if name in ask.tools:
            known = ask.tools[name].properties
            key = next((it for it in ("file_path", "filePath", "path") if it in known), "file_path")
            return UseTool(name, {key: path if key == "path" else f"{_directory(ask)}/{path}", "content": text})
    if "apply_patch" in ask.tools:
        tool = ask.tools["apply_patch"]
        added = "".join(f"+{line}\n" for line in text.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
        return UseTool("apply_patch", patch if tool.free else {tool.properties[0]: patch}, tool.free)
    return _run(ask, f"cat > {path} <<'END'\n{text}END")


def _mcp(ask: Ask, server: str, tool: str, given: Any) -> UseTool:
    for name in ask.tools:
        if name.endswith(tool) and server in name:
            return UseTool(name, given)
    if tool in ask.tools:
        return UseTool(tool, given)
    # Offered only after a search for tools: the name is known all the same.
    return UseTool(tool, given, namespace=f"mcp__{server}")


def _missing(ask: Ask) -> UseTool:
    raise AssertionError(f"none of the agent's tools will do: {', '.join(sorted(ask.tools))}")


_DIRECTORIES = (
    r"<cwd>(/[^<]+)</cwd>",
    r"[Ww]orking directory(?: is)?:\s*`?(/[^\s`]+)",
    r"working in (?:the )?(?:following )?director(?:y|ies):?\s*-?\s*`?(/[^\s`]+)",
    r"Workspace Directories:\W*(/[^\s`]+)",
    r"<workspace[^>]*>(/[^<]+)<",
)


def _directory(ask: Ask) -> str:
    text = ask.everything.replace("\\n", "\n")
    found = next((match[1] for one in _DIRECTORIES if (match := re.search(one, text))), "/workspace")
    return found.rstrip(".,")


def heard(kind: str, request: dict[str, Any]) -> Ask:
    """Return what a request of a wire form asks."""
    ask = Ask()
    {"anthropic": _anthropic, "responses": _responses, "chat": _chat, "gemini": _gemini}[kind](ask, request)
    return ask


def said(content: Any) -> str:
    """Return the text of a content in any form."""
    if isinstance(content, list):
        return "\n".join(map(said, content))
    if isinstance(content, dict):
        return str(content.get("text") or "")
    return str(content or "")


def _offer(ask: Ask, name: str, schema: Any, *, free: bool = False) -> None:
    ask.tools[name] = Tool(name, tuple((schema or {}).get("properties") or {}), free)


def _anthropic(ask: Ask, request: dict[str, Any]) -> None:
    for tool in request.get("tools") or []:
        _offer(ask, tool["name"], tool.get("input_schema"))
    ask.everything = said(request.get("system"))
    ask.data = "output_config" in request and "format" in (request["output_config"] or {})
    for message in request["messages"]:
        content = message["content"]
        if isinstance(content, list):
            ask.step += sum(block.get("type") == "tool_result" for block in content)
        if message["role"] == "user":
            ask.user(said(content))


def _responses(ask: Ask, request: dict[str, Any]) -> None:
    for tool in request.get("tools") or []:
        if "name" in tool:
            _offer(ask, tool["name"], tool.get("parameters"), free=tool.get("type") == "custom")
    ask.everything = said(request.get("instructions"))
    items = request.get("input") or []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if str(item.get("type", "")).endswith("_output"):
            ask.step += 1
        elif item.get("role") == "user":
            ask.user(said(item.get("content")))
        elif "role" in item:
            ask.everything += said(item.get("content"))


def _chat(ask: Ask, request: dict[str, Any]) -> None:
    for tool in request.get("tools") or []:
        _offer(ask, tool["function"]["name"], tool["function"].get("parameters"))
    ask.data = "response_format" in request
    for message in request["messages"]:
        if message["role"] == "tool":
            ask.step += 1
        elif message["role"] == "user":
            ask.user(said(message.get("content")))
        else:
            ask.everything += said(message.get("content"))


def _gemini(ask: Ask, request: dict[str, Any]) -> None:
    for tool in request.get("tools") or []:
        for function in tool.get("functionDeclarations") or []:
            _offer(ask, function["name"], function.get("parametersJsonSchema") or function.get("parameters"))
    ask.everything = said((request.get("systemInstruction") or {}).get("parts"))
    ask.data = "responseJsonSchema" in (request.get("generationConfig") or {})
    for message in request.get("contents") or []:
        parts = message.get("parts") or []
        ask.step += sum("functionResponse" in part for part in parts)
        if message.get("role") == "user":
            ask.user(said(parts))

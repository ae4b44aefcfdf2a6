"""How is mini-swe-agent driven? One process, one turn; what it did stands in its trajectory, read at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.endpoints import HOSTS, KEYS
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.streams.failures import failure
from reeval.harnesses.agents.streams.reading import JsonTranslator, amount, at, cost_at, exit_code_at, listed, text_at
from reeval.harnesses.program.stream import Done, Message, Retry, Served, StreamEvent, Used
from reeval.schema.environment import Layout
from reeval.schema.transcript import Channel, Reasoning, ToolCall

__all__ = ["AGENT", "KIND"]

_TRAJECTORY = "~/.mini-swe-agent/trajectory.json"
_GAVE_UP = frozenset({"LimitsExceeded", "TimeExceeded", "RepeatedFormatError"})
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""A command that it does not run: this is how its model says that it is done."""
_RETRIED = "Retrying "
_MOST_RETRIES = 20


def invoke(call: Call) -> Invocation:
    """Return how its turn is called."""
    options = call.options
    directory = f"{call.home}/.mini-swe-agent"
    args = ["--yolo", "--exit-immediately", "--cost-limit", "0", "--output", f"{directory}/trajectory.json"]
    # The clients of providers repeat a call as well, below the retries that can be counted.
    args += ["--config", "mini.yaml", "--config", "model.model_kwargs.max_retries=0"]
    if call.model is not None:
        # A model behind a URL is spoken to as one of OpenAI, unless it names a provider itself.
        alone = options.base_url is not None and "/" not in call.model
        args += ["--model", f"openai/{call.model}" if alone else call.model]
    if options.base_url is not None:
        args += ["--config", f"model.model_kwargs.api_base={options.base_url}"]
    if call.effort is not None:
        args += ["--config", f"model.model_kwargs.reasoning_effort={call.effort}"]
    return Invocation(
        args=(*args, f"--task={call.prompt}"),
        env={
            "MSWEA_GLOBAL_CONFIG_DIR": directory,
            "MSWEA_CONFIGURED": "true",
            "MSWEA_SILENT_STARTUP": "1",
            # Else it stops at the first answer of a model whose price it does not know.
            "MSWEA_COST_TRACKING": "ignore_errors",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(options.retries + 1),
            "NO_COLOR": "1",
        },
        # An old trajectory would be read again where the program does not come to write one.
        files=(AgentFile(path=_TRAJECTORY, data=b""),),
        result=_TRAJECTORY,
    )


class _Trajectory(msgspec.Struct):
    messages: list[msgspec.Raw] = []


class Translator(JsonTranslator):
    """Reads the trajectory. What it prints is for people to read, and says less."""

    def lines(self, lines: Sequence[bytes]) -> Iterator[StreamEvent | str]:  # noqa: ARG002
        """Leave them out."""
        yield from ()

    def begin(self) -> None:
        """Start a turn."""
        super().begin()
        self._submissions: set[str] = set()

    def event(self, found: dict[str, Any]) -> Iterator[StreamEvent | str]:
        """Return the events of one message."""
        extra = found.get("extra")
        if found.get("role") == "assistant":
            yield from self._said(found)
        for action in listed(extra, "actions"):
            id, command = text_at(action, "tool_call_id"), text_at(action, "command")
            if command.lstrip().startswith(_SUBMIT):
                self._submissions.add(id)
            else:
                self.calls.begin(id, "shell", "bash", {"command": command})
        if found.get("role") == "tool" and text_at(found, "tool_call_id") not in self._submissions:
            code = exit_code_at(extra, "returncode")
            ran = code is not None and not text_at(extra, "exception_info")
            output = text_at(extra, "raw_output") or text_at(extra, "exception_info")
            call = self.calls.end(
                text_at(found, "tool_call_id"), output, ok=ran and not code, exit_code=code if ran else None
            )
            yield _untimed(call)
        yield from _used(extra)
        if found.get("role") == "exit":
            yield from self._ended(found)

    def _said(self, found: dict[str, Any]) -> Iterator[StreamEvent]:
        if thought := text_at(found, "reasoning_content"):
            yield Reasoning(text=thought)
        if text := text_at(found, "content"):
            yield Message(text=text)

    def _ended(self, found: dict[str, Any]) -> Iterator[StreamEvent]:
        status, content = text_at(found.get("extra"), "exit_status"), text_at(found, "content")
        if status == "Submitted":
            if submission := text_at(found.get("extra"), "submission").strip():
                yield Message(text=submission)
            yield Done()
        elif status in _GAVE_UP:
            yield failure(f"{status}: {content}" if content != status else status, agent=True)
            yield Done()
        elif content.startswith("litellm."):
            yield failure(content)
            yield Done()

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:
        """Return everything: it stands in the trajectory."""
        for line in [line for line in ending.stderr.splitlines() if line.startswith(_RETRIED)][:_MOST_RETRIES]:
            yield Retry(message=line)
        if ending.result:
            try:
                messages = msgspec.json.decode(ending.result, type=_Trajectory).messages
            except msgspec.DecodeError as error:
                yield f"the trajectory cannot be read: {error}"
            else:
                yield from super().lines([bytes(message) for message in messages])
        yield from map(_untimed, self.calls.rest())


def _untimed(call: ToolCall) -> ToolCall:
    """Return a call without its times, which are those at which the trajectory was read."""
    return msgspec.structs.replace(call, started=None, duration=None)


def _used(extra: Any) -> Iterator[StreamEvent]:
    """Yield what a call of the model used: its input includes what was cached, its output the reasoning."""
    usage = at(extra, "response", "usage")
    given, output = amount(usage, "prompt_tokens"), amount(usage, "completion_tokens")
    if given is None or output is None:
        return
    cached = amount(at(usage, "prompt_tokens_details"), "cached_tokens") or 0
    yield Used(
        input=max(given - cached, 0),
        cache_read=cached,
        output=output,
        reasoning=amount(at(usage, "completion_tokens_details"), "reasoning_tokens"),
        # Of a model whose price it does not know it says 0.
        cost=cost_at(extra, "cost") or None,
    )
    if model := text_at(at(extra, "response"), "model"):
        yield Served(name=model)


AGENT = Agent(
    name="mini-swe-agent",
    package=Package(
        source="pip",
        name="mini-swe-agent",
        version="2.4.6",
        program="mini",
        entry="venv/bin/mini",
        version_args=("--help",),
    ),
    invoke=invoke,
    translator=Translator,
    layout=Layout(),
    reads=frozenset(),
    keys=KEYS,
    hosts=HOSTS,
    base_urls=("OPENAI_API_BASE",),
    unreported=frozenset({Channel.EDITS, Channel.MCP, Channel.SKILLS, Channel.SEARCHES, Channel.FETCHES}),
    resumes=False,
)
KIND = agent_kind(AGENT)
"""The small agent mini-swe-agent, with models of any provider."""

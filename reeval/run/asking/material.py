"""What is a model shown of an attempt? Named sections of plain text, chosen by the ``state`` option."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from reeval.run.asking.diffs import shown_diff, shown_files
from reeval.schema.options import StateOptions
from reeval.schema.record import ObservationRecord
from reeval.schema.transcript import (
    CommandResult,
    Event,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)

__all__ = ["Evidence", "Section", "as_text", "clipped", "explicit", "sections"]

CLIPPED_OUTPUT = 1500
"""Characters of a tool's output that a transcript shows, unless it is ``"full"``."""
COMMAND_OUTPUT = 4000
"""Characters of each output of a command of the eval."""
NO_FILE = "null"
"""What stands for the contents of a file that is not there."""


class Section(msgspec.Struct, frozen=True):
    """One named part of the material."""

    title: str
    text: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an attempt when a model is asked about it. Nothing in it is masked or bounded."""

    turns: tuple[Turn, ...] = ()
    """Up to the one that is asked about, which is the last."""
    commands: Sequence[CommandResult] = ()
    """What the body ran with ``c.exec``, in order."""
    observations: Sequence[ObservationRecord] = ()
    contents: Mapping[str, str | None] = {}
    """Files of the workspace by path; None: there is no such file."""
    output: str | None = None
    """What is graded in place of the final message; None: the message is."""


def sections(evidence: Evidence, state: StateOptions) -> list[Section]:
    """Return what ``state`` shows, in a fixed order; ``turns`` is ``"last"`` unless it says otherwise."""
    turns = evidence.turns if state.get("turns", "last") == "all" else evidence.turns[-1:]
    view = _View(evidence, turns, state)
    found = [Section(title, show(view)) for key, title, show in _PARTS if state.get(key)]
    return found + [Section(f"Contents of {path}", _content(text)) for path, text in evidence.contents.items()]


def explicit(material: Mapping[str, object]) -> list[Section]:
    """Return a section for each value that an author gave: texts as they are, anything else as JSON."""
    return [Section(name, as_text(value)) for name, value in material.items()]


def as_text(value: object) -> str:
    """Return a text as it is and any other value as JSON; raise ``TypeError`` when it is no JSON data."""
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


class _View(msgspec.Struct, frozen=True):
    evidence: Evidence
    turns: tuple[Turn, ...]
    state: StateOptions

    @property
    def patterns(self) -> Sequence[str]:
        """Which files the diff and the list of files show; empty: all."""
        wanted = self.state.get("diff")
        return wanted if isinstance(wanted, list | tuple) else ()


def _task(view: _View) -> str:
    return _by_turn(view.turns, lambda turn: turn.prompt) or "(the agent was sent nothing)"


def _output(view: _View) -> str:
    if view.evidence.output is not None:
        return view.evidence.output
    return _by_turn(view.turns, _message) or "(the agent said nothing)"


def _message(turn: Turn) -> str:
    failed = f"(this turn failed: {turn.error or 'no reason was given'})" if turn.status == "failed" else ""
    return "\n".join(filter(None, (turn.message, failed))) or "(no final message)"


def _diff(view: _View) -> str:
    changes = [turn.changes for turn in view.turns]
    return shown_diff(changes, view.patterns, frozenset(view.evidence.contents))


def _files(view: _View) -> str:
    return shown_files([turn.changes for turn in view.turns], view.patterns) or "(the agent changed no file)"


def _transcript(view: _View) -> str:
    wanted = view.state.get("transcript")
    return _by_turn(view.turns, lambda turn: _told(turn, wanted)) or "(nothing happened)"


def _checks(view: _View) -> str:
    commands, wanted = view.evidence.commands, view.state.get("checks")
    missing: list[str] = []
    if isinstance(wanted, list | tuple):
        commands = [result for result in commands if result.command in wanted]
        ran = {result.command for result in commands}
        missing = [f"$ {command}\n(not run)" for command in wanted if command not in ran]
    return "\n\n".join([*map(_command, commands), *missing]) or "(no command was run)"


def _observations(view: _View) -> str:
    return "\n".join(f"{seen.name}: {as_text(seen.value)}" for seen in view.evidence.observations) or "(none)"


_PARTS: tuple[tuple[str, str, Callable[[_View], str]], ...] = (
    ("task", "Task", _task),
    ("output", "Output", _output),
    ("diff", "Diff", _diff),
    ("files", "Files", _files),
    ("transcript", "Transcript", _transcript),
    ("checks", "Checks", _checks),
    ("observations", "Observations", _observations),
)


def _content(text: str | None) -> str:
    return NO_FILE if text is None else text


def _by_turn(turns: Sequence[Turn], show: Callable[[Turn], str]) -> str:
    if len(turns) == 1:
        return show(turns[0])
    return "\n\n".join(f"[turn {number}]\n{show(turn)}" for number, turn in enumerate(turns, 1))


def _command(result: CommandResult) -> str:
    tries = f" after {result.tries} tries" if result.tries > 1 else ""
    lines = [f"$ {result.command}", f"exit code {result.exit_code}{tries}"]
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text.strip():
            lines.append(f"{name}:\n{clipped(text, COMMAND_OUTPUT)}")
    return "\n".join(lines)


# --- the transcript ------------------------------------------------------------------------------------


def _told(turn: Turn, wanted: object) -> str:
    full = wanted == "full"
    if wanted == "tools":
        told = [_tool(event, full=False) for event in turn.tool_calls]
        return "\n".join(told) or "(no tool was used)"
    lines = [f"user: {turn.prompt}", *_events(turn.events, full=full)]
    if turn.message and not _said(turn):
        lines.append(f"agent: {turn.message}")
    if turn.error:
        lines.append(f"(the turn failed: {turn.error})")
    return "\n".join(lines)


def _said(turn: Turn) -> bool:
    """Say whether the final message already stands among the events."""
    return any(isinstance(event, Text) and event.text.strip() == turn.message.strip() for event in turn.events)


def _events(events: Iterable[Event], *, full: bool) -> Iterator[str]:
    for event in events:
        match event:
            case Text():
                yield f"agent: {event.text}"
            case Reasoning():
                if full:
                    yield f"agent, thinking: {event.text}"
            case ToolCall():
                yield _tool(event, full=full)
            case FileEdit():
                yield f"edit: {event.kind} {event.path}"
            case WebSearch():
                yield f"search: {event.query}"
            case WebFetch():
                yield f"fetch: {event.url}"
            case Notice():
                yield f"{event.kind}: {event.message}"


def _tool(call: ToolCall, *, full: bool) -> str:
    command = call.input.get("command") if isinstance(call.input, dict) else call.input
    asked = command if isinstance(command, str) else "" if call.input is None else _one_line(call.input)
    ended = "" if call.exit_code is None else f" (exit code {call.exit_code})"
    failed = " (failed)" if call.ok is False and call.exit_code is None else ""
    limit = None if full else CLIPPED_OUTPUT
    head = f"tool {call.name}: {clipped(asked, limit)}{ended}{failed}"
    return f"{head}\n{clipped(call.output, limit)}" if call.output.strip() else head


def _one_line(value: object) -> str:
    return msgspec.json.encode(value).decode()


def clipped(text: str, limit: int | None) -> str:
    """Return a text of at most ``limit`` characters, without its middle and with a note there; None does not cut."""
    if limit is None or len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"

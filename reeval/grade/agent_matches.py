"""What did the agent do? The matches on a turn, on several turns, or on the attempt.

Each counts evidence. What a harness could not report leaves the count open: then only a count that no further
evidence could change decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from reeval.authoring import Match
from reeval.grade.observing.display import show
from reeval.grade.observing.evidence import (
    TOOL_CHANNELS,
    Tally,
    call_text,
    command_of,
    counted,
    events_of,
    missing,
    some_of,
    turns_of,
    unreported,
)
from reeval.grade.observing.expectation import (
    MATCHED,
    Expectation,
    count_argument,
    errored,
    finite_argument,
    mismatched,
    refuse,
    text_argument,
    unavailable,
)
from reeval.grade.observing.observe import observe
from reeval.grade.observing.paths import path_matcher
from reeval.grade.observing.shape import agrees, check_shape, has_shape, leaves
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.transcript import Channel, Event, FileEdit, ToolCall, Turn, WebFetch, WebSearch

__all__ = [
    "called_mcp",
    "called_skill",
    "called_tool",
    "edited_file",
    "fetched_url",
    "max_cost",
    "max_tokens",
    "max_tool_calls",
    "ran_command",
    "searched_for",
    "used_no_tools",
]

Text = str | re.Pattern[str]
"""A literal part of a text, or a compiled pattern that is searched in it."""

_CHANNEL_OF_TOOL = {
    "shell": Channel.SHELL,
    "edit": Channel.EDITS,
    "search": Channel.SEARCHES,
    "fetch": Channel.FETCHES,
    "skill": Channel.SKILLS,
}


# --- what was called ----------------------------------------------------------------------------------


def called_tool(name: str | re.Pattern[str], *, input: Any = None, times: int | None = None) -> Match:
    """Match a call of the tool, by its canonical or its native name; ``times``: exactly so often.

    ``input`` is a text or a compiled pattern found in any value of the input, or a shape as in ``json_matches``.
    """
    _text_pattern("called_tool", name)
    check_shape("called_tool", input)
    if times == 0:
        refuse("called_tool", "times=0 is written not_(called_tool(…))")
    if times is not None:
        count_argument("called_tool", times, 1)
    wanted = f"a call of {show(name, 80)}" + ("" if input is None else f" with {show(input, 160)}")

    def counts(call: ToolCall) -> Observation:
        named = any(_named(name, one) for one in (call.name, call.native) if one)
        return _input_observation(input, call.input) if named else mismatched("another tool")

    channels = _channels_of(name)
    return _expectation("called_tool", show(name, 80), _calls(counts, channels, wanted, times))


def called_mcp(server: str, tool: str | None = None, *, input: Any = None) -> Match:
    """Match a call of an MCP server's tool; without ``tool``, of any of its tools."""
    prefix = f"mcp__{text_argument('called_mcp', server)}__"
    check_shape("called_mcp", input)
    name = prefix + text_argument("called_mcp", tool) if tool is not None else None
    wanted = f"a call of {name or prefix + '…'}" + ("" if input is None else f" with {show(input, 160)}")

    def counts(call: ToolCall) -> Observation:
        named = call.name == name if name else call.name.startswith(prefix)
        return _input_observation(input, call.input) if named else mismatched("another tool")

    channels = frozenset({Channel.MCP, Channel.TOOLS})
    return _expectation("called_mcp", show(name or server, 80), _calls(counts, channels, wanted, None))


def called_skill(name: str) -> Match:
    """Match the use of a skill, by its name."""
    text_argument("called_skill", name)

    def counts(call: ToolCall) -> Observation:
        used = call.name == "skill" and any(leaf == name for leaf in leaves(call.input))
        return MATCHED if used else mismatched("another tool")

    channels = frozenset({Channel.SKILLS, Channel.TOOLS})
    return _expectation("called_skill", show(name, 80), _calls(counts, channels, f"use of the skill {name!r}", None))


def ran_command(command: Text) -> Match:
    """Match a shell command of the agent's that holds this text, or in which this compiled pattern is found."""
    _text_pattern("ran_command", command)

    def counts(call: ToolCall) -> Observation:
        ran = call.name == "shell" and agrees(command, command_of(call))
        return MATCHED if ran else mismatched("another command")

    channels = frozenset({Channel.SHELL, Channel.TOOLS})
    wanted = f"a shell command with {show(command, 160)}"
    return _expectation("ran_command", show(command, 80), _calls(counts, channels, wanted, None))


def _calls(
    counts: Callable[[ToolCall], Observation], channels: frozenset[Channel], wanted: str, times: int | None
) -> Callable[[tuple[Turn, ...]], Observation]:
    def look(turns: tuple[Turn, ...]) -> Observation:
        seen = [(call, counts(call)) for turn in turns for call in turn.tool_calls]
        found = [call_text(call) for call, one in seen if one.status == CheckStatus.MATCHED]
        other = [call_text(call) for call, one in seen if one.status == CheckStatus.MISMATCHED]
        doubt = next((one for _, one in seen if one.status in (CheckStatus.ERRORED, CheckStatus.UNAVAILABLE)), None)
        if doubt and not (found and times is None):
            return doubt
        return counted(Tally(found, other, missing(turns, channels)), wanted, times)

    return look


# --- what was edited, searched and fetched ------------------------------------------------------------


def edited_file(path: str) -> Match:
    """Match a file that the agent added or modified; gitignore-style, relative to the workspace.

    What really changed in the workspace counts first, then what the agent says it edited.
    """
    matches = path_matcher("edited_file", path)

    def look(turns: tuple[Turn, ...]) -> Observation:
        changed = [one.path for turn in turns for one in turn.changes.files if one.status != "deleted"]
        edits = [one for one in events_of(turns) if isinstance(one, FileEdit)]
        said = [one.path.removeprefix("./") for one in edits if one.kind != "delete"]
        paths = dict.fromkeys([*changed, *said])
        found = [one for one in paths if matches(one)]
        other = [one for one in paths if one not in found]
        return counted(Tally(found, other, missing(turns, {Channel.EDITS})), f"an edit of {show(path)}", None)

    return _expectation("edited_file", show(path, 80), look)


def searched_for(query: Text) -> Match:
    """Match a web search with this text, or this compiled pattern, in its query."""
    _text_pattern("searched_for", query)

    def look(turns: tuple[Turn, ...]) -> Observation:
        queries = [one.query for one in events_of(turns) if isinstance(one, WebSearch)]
        return _texts(queries, query, missing(turns, {Channel.SEARCHES}), f"a web search for {show(query)}")

    return _expectation("searched_for", show(query, 80), look)


def fetched_url(url: Text) -> Match:
    """Match a fetched page with this text, or this compiled pattern, in its URL."""
    _text_pattern("fetched_url", url)

    def look(turns: tuple[Turn, ...]) -> Observation:
        urls = [one.url for one in events_of(turns) if isinstance(one, WebFetch)]
        return _texts(urls, url, missing(turns, {Channel.FETCHES}), f"a fetch of {show(url)}")

    return _expectation("fetched_url", show(url, 80), look)


def _texts(texts: list[str], pattern: Text, gaps: tuple[Channel, ...], wanted: str) -> Observation:
    found = [one for one in texts if agrees(pattern, one)]
    other = [one for one in texts if not agrees(pattern, one)]
    return counted(Tally(found, other, gaps), wanted, None)


# --- limits -------------------------------------------------------------------------------------------


def used_no_tools() -> Match:
    """Match when the agent called nothing, edited nothing and looked nothing up."""

    def look(turns: tuple[Turn, ...]) -> Observation:
        events = list(events_of(turns))
        # What a call did is reported beside it: the call stands for both.
        counted = (ToolCall,) if any(isinstance(one, ToolCall) for one in events) else (FileEdit, WebSearch, WebFetch)
        used = [_event_text(one) for one in events if isinstance(one, counted)]
        if used:
            return mismatched(f"expected no use of a tool\ngot {len(used)}: {some_of(used)}")
        return _known(missing(turns, TOOL_CHANNELS))

    return _expectation("used_no_tools", "", look)


def max_tool_calls(limit: int) -> Match:
    """Match at most ``limit`` tool calls."""
    count_argument("max_tool_calls", limit)

    def look(turns: tuple[Turn, ...]) -> Observation:
        calls = [call_text(call) for turn in turns for call in turn.tool_calls]
        if len(calls) > limit:
            return mismatched(f"expected at most {limit} tool calls\ngot {len(calls)}: {some_of(calls)}")
        return _known(missing(turns, TOOL_CHANNELS))

    return _expectation("max_tool_calls", str(limit), look)


def max_tokens(limit: int) -> Match:
    """Match at most ``limit`` tokens: input, cache and output together."""
    count_argument("max_tokens", limit)

    def look(turns: tuple[Turn, ...]) -> Observation:
        usages = [turn.usage for turn in turns if turn.usage is not None]
        known = sum(
            (one.input or 0) + (one.output or 0) + (one.cache_read or 0) + (one.cache_write or 0) for one in usages
        )
        whole = len(usages) == len(turns) and all(one.total is not None for one in usages)
        return _within(known, limit, "tokens", whole=whole and not missing(turns, {Channel.USAGE}))

    return _expectation("max_tokens", str(limit), look)


def max_cost(dollars: float) -> Match:
    """Match a cost of at most this many US dollars."""
    if finite_argument("max_cost", dollars) < 0:
        refuse("max_cost", f"takes US dollars from 0, got {dollars!r}")

    def look(turns: tuple[Turn, ...]) -> Observation:
        costs = [turn.usage.cost for turn in turns if turn.usage is not None and turn.usage.cost is not None]
        whole = len(costs) == len(turns) and not missing(turns, {Channel.COST})
        return _within(sum(costs), dollars, "US dollars", whole=whole)

    return _expectation("max_cost", str(dollars), look)


def _known(gaps: tuple[Channel, ...]) -> Observation:
    return unavailable(unreported(gaps)) if gaps else MATCHED


def _within(known: float, limit: float, unit: str, *, whole: bool) -> Observation:
    if known > limit:
        return mismatched(f"expected at most {limit:,} {unit}\ngot {'' if whole else 'at least '}{known:,}")
    return MATCHED if whole else unavailable(f"the {unit} of a turn are unknown (at least {known:,} in all)")


# --- how they look ------------------------------------------------------------------------------------


def _expectation(name: str, argument: str, look: Callable[[tuple[Turn, ...]], Observation]) -> Match:
    def look_at(value: object) -> Observation:
        turns = turns_of(value)
        if turns is None:
            return errored(f"{name} takes a turn, several turns, or the attempt, got {show(value, 120)}")
        return look(turns) if turns else unavailable("no turn was sent")

    return Expectation(name, argument, look_at)


def _input_observation(wanted: Any, got: object) -> Observation:
    if wanted is None:
        return MATCHED
    if isinstance(wanted, str | re.Pattern):
        return MATCHED if any(agrees(wanted, leaf) for leaf in leaves(got)) else mismatched("another input")
    return observe(Expectation("input", "", lambda value: has_shape(wanted, value)), got)


def _event_text(event: Event) -> str:
    return call_text(event) if isinstance(event, ToolCall) else type(event).__name__


def _text_pattern(call: str, value: object) -> None:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        return
    text_argument(call, value)


def _named(pattern: Text, name: str) -> bool:
    return pattern == name if isinstance(pattern, str) else pattern.search(name) is not None


def _channels_of(name: Text) -> frozenset[Channel]:
    """Where a call of this tool would be reported; a harness that cannot report tools may miss any of them."""
    if isinstance(name, re.Pattern):
        return TOOL_CHANNELS
    own = Channel.MCP if name.startswith("mcp__") else _CHANNEL_OF_TOOL.get(name)
    return frozenset({Channel.TOOLS, own} if own else {Channel.TOOLS})

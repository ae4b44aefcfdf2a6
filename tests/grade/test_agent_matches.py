"""The matches on turns: what counts, how often, and what stays open where a harness cannot report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from reeval.authoring import Match
from reeval.errors import UsageError
from reeval.grade.agent_matches import (
    called_mcp,
    called_skill,
    called_tool,
    edited_file,
    fetched_url,
    max_cost,
    max_tokens,
    max_tool_calls,
    ran_command,
    searched_for,
    used_no_tools,
)
from reeval.grade.matches import all_of, at_least, not_
from reeval.grade.observing.observe import observe
from reeval.schema.transcript import (
    Changes,
    Channel,
    FileChange,
    FileEdit,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)
from reeval.usage import Usage

TEST = ToolCall(name="shell", native="Bash", input={"command": "npm test -- --watch=false"}, ok=True, exit_code=0)
LIST = ToolCall(name="shell", input={"command": ["ls", "-l"]})
READ = ToolCall(name="read", native="Read", input={"path": "src/app.js", "limit": 20})
MCP = ToolCall(name="mcp__files__find_all", input={"glob": "*.md"})
SKILL = ToolCall(name="skill", input={"name": "house-greeting"})
EVERY_TOOL = tuple(Channel)


def turn(*events: Any, unreported: tuple[Channel, ...] = (), **fields: Any) -> Turn:
    return Turn(prompt="Do it.", events=events, unreported=unreported, **fields)


def blind(*events: Any, **fields: Any) -> Turn:
    """A turn of a harness that reports nothing for sure."""
    return turn(*events, unreported=EVERY_TOOL, **fields)


def changed(*paths: str, status: Any = "modified") -> Changes:
    return Changes(files=tuple(FileChange(path=path, status=status) for path in paths))


def status(match: Match, value: object) -> str:
    return observe(match, value).status.value


CASES: list[tuple[Match, Turn, str, str]] = [
    # match, turn, when all is reported, when nothing is
    (called_tool("shell"), turn(TEST), "matched", "matched"),
    (called_tool("shell"), turn(READ), "mismatched", "unavailable"),
    (called_tool("shell"), turn(Text(text="shell")), "mismatched", "unavailable"),
    (called_tool("Bash"), turn(TEST), "matched", "matched"),
    (called_tool("bash"), turn(TEST), "mismatched", "unavailable"),
    (called_tool(re.compile("^mcp__files")), turn(MCP), "matched", "matched"),
    (called_tool("shell", input="npm test"), turn(LIST, TEST), "matched", "matched"),
    (called_tool("shell", input="npm  test"), turn(LIST, TEST), "mismatched", "unavailable"),
    (called_tool("shell", input=re.compile("^npm")), turn(TEST), "matched", "matched"),
    (called_tool("read", input="20"), turn(READ), "matched", "matched"),
    (called_tool("read", input={"path": "src/app.js"}), turn(READ), "matched", "matched"),
    (called_tool("read", input={"path": re.compile("js$"), "limit": at_least(10)}), turn(READ), "matched", "matched"),
    (called_tool("read", input={"limit": lambda n: n > 20}), turn(READ), "mismatched", "unavailable"),
    (called_tool("shell", times=2), turn(TEST, LIST), "matched", "unavailable"),
    (called_tool("shell", times=2), turn(TEST), "mismatched", "unavailable"),
    (called_tool("shell", times=1), turn(TEST, LIST), "mismatched", "mismatched"),
    (not_(called_tool("shell")), turn(READ), "matched", "unavailable"),
    (not_(called_tool("shell")), turn(TEST), "mismatched", "mismatched"),
    (ran_command("npm test"), turn(TEST), "matched", "matched"),
    (ran_command("ls -l"), turn(LIST), "matched", "matched"),
    (ran_command("npm.test"), turn(TEST), "mismatched", "unavailable"),
    (ran_command(re.compile("npm.test")), turn(TEST), "matched", "matched"),
    (ran_command("src/app.js"), turn(READ), "mismatched", "unavailable"),
    (ran_command("x"), turn(ToolCall(name="shell", input=None)), "mismatched", "unavailable"),
    (ran_command("make"), turn(ToolCall(name="shell", input="make all")), "matched", "matched"),
    (called_mcp("files"), turn(MCP), "matched", "matched"),
    (called_mcp("files", "find_all"), turn(MCP), "matched", "matched"),
    (called_mcp("files", "find_all", input={"glob": "*.md"}), turn(MCP), "matched", "matched"),
    (called_mcp("files", "find_all", input="*.js"), turn(MCP), "mismatched", "unavailable"),
    (called_mcp("files", "find"), turn(MCP), "mismatched", "unavailable"),
    (called_mcp("file"), turn(MCP), "mismatched", "unavailable"),
    (called_skill("house-greeting"), turn(SKILL), "matched", "matched"),
    (called_skill("house"), turn(SKILL), "mismatched", "unavailable"),
    (called_skill("house-greeting"), turn(TEST), "mismatched", "unavailable"),
    (edited_file("src/*.js"), turn(changes=changed("src/app.js")), "matched", "matched"),
    (edited_file("*.js"), turn(FileEdit(path="./src/app.js")), "matched", "matched"),
    (edited_file("src/"), turn(changes=changed("src/a/b.py")), "matched", "matched"),
    (edited_file("*.js"), turn(changes=changed("src/app.js", status="deleted")), "mismatched", "unavailable"),
    (edited_file("*.js"), turn(FileEdit(path="app.js", kind="delete")), "mismatched", "unavailable"),
    (edited_file("*.js"), turn(), "mismatched", "unavailable"),
    (searched_for("python"), turn(WebSearch(query="python csv")), "matched", "matched"),
    (searched_for("ruby"), turn(WebSearch(query="python csv")), "mismatched", "unavailable"),
    (fetched_url("docs.python.org"), turn(WebFetch(url="https://docs.python.org/3/")), "matched", "matched"),
    (fetched_url(re.compile("^http:")), turn(WebFetch(url="https://docs.python.org/3/")), "mismatched", "unavailable"),
    (used_no_tools(), turn(Text(text="Hello.")), "matched", "unavailable"),
    (used_no_tools(), turn(READ), "mismatched", "mismatched"),
    (used_no_tools(), turn(FileEdit(path="a")), "mismatched", "mismatched"),
    (used_no_tools(), turn(WebSearch(query="a")), "mismatched", "mismatched"),
    (max_tool_calls(1), turn(READ), "matched", "unavailable"),
    (max_tool_calls(0), turn(READ), "mismatched", "mismatched"),
    (max_tokens(30), turn(usage=Usage(input=10, output=20)), "matched", "unavailable"),
    (max_tokens(29), turn(usage=Usage(input=10, output=20)), "mismatched", "mismatched"),
    (max_tokens(29), turn(usage=Usage(input=10, output=10, cache_read=10)), "mismatched", "mismatched"),
    (max_tokens(29), turn(usage=Usage(output=30)), "mismatched", "mismatched"),
    (max_tokens(29), turn(usage=Usage(output=20)), "unavailable", "unavailable"),
    (max_tokens(29), turn(), "unavailable", "unavailable"),
    (max_cost(0.5), turn(usage=Usage(cost=0.5)), "matched", "unavailable"),
    (max_cost(0.5), turn(usage=Usage(cost=0.51)), "mismatched", "mismatched"),
    (max_cost(0.5), turn(usage=Usage(input=1, output=1)), "unavailable", "unavailable"),
]


@pytest.mark.parametrize(("match", "one", "reported", "unreported"), CASES)
def test_absence_is_told_only_where_everything_is_reported(
    match: Match, one: Turn, reported: str, unreported: str
) -> None:
    assert status(match, one) == reported
    assert status(match, blind(*one.events, usage=one.usage, changes=one.changes)) == unreported


@pytest.mark.parametrize(("match", "one", "reported", "unreported"), CASES)
def test_a_turn_a_list_of_turns_and_an_attempt_are_alike(
    match: Match, one: Turn, reported: str, unreported: str
) -> None:
    for value in ([one], (one,), Holder((one,))):
        assert observe(match, value) == observe(match, one)


@dataclass
class Holder:
    """Stands for the attempt ``c``."""

    turns: Any


@pytest.mark.parametrize(
    ("match", "own"),
    [
        (called_tool("shell"), Channel.SHELL),
        (called_tool("edit"), Channel.EDITS),
        (called_tool("search"), Channel.SEARCHES),
        (called_tool("fetch"), Channel.FETCHES),
        (called_tool("skill"), Channel.SKILLS),
        (called_tool("mcp__a__b"), Channel.MCP),
        (called_tool("read"), Channel.TOOLS),
        (called_tool(re.compile("x")), Channel.SHELL),
        (ran_command("x"), Channel.SHELL),
        (ran_command("x"), Channel.TOOLS),
        (called_mcp("a"), Channel.MCP),
        (called_skill("a"), Channel.SKILLS),
        (edited_file("a"), Channel.EDITS),
        (searched_for("a"), Channel.SEARCHES),
        (fetched_url("a"), Channel.FETCHES),
        (used_no_tools(), Channel.MCP),
        (max_tool_calls(3), Channel.SKILLS),
        (max_tokens(9), Channel.USAGE),
        (max_cost(9), Channel.COST),
    ],
)
def test_one_channel_that_is_not_reported_in_one_turn_leaves_it_open(match: Match, own: Channel) -> None:
    usage = Usage(input=1, output=1, cost=0.1)
    seen = observe(match, [turn(usage=usage), turn(usage=usage, unreported=(own,))])
    assert seen.status == "unavailable"
    other = Channel.MODEL
    assert status(match, turn(usage=usage, unreported=(other,))) in {"matched", "mismatched"}


def test_counts_run_over_all_turns() -> None:
    turns = [turn(TEST, usage=Usage(input=5, output=5, cost=0.1)), turn(TEST, usage=Usage(input=5, output=6, cost=0.1))]
    assert status(called_tool("shell", times=2), turns) == "matched"
    assert status(max_tool_calls(1), turns) == "mismatched"
    assert status(max_tokens(20), turns) == "mismatched"
    assert status(max_tokens(21), turns) == "matched"
    assert status(max_cost(0.15), turns) == "mismatched"


def test_a_definite_counterexample_decides_beside_an_unknown_turn() -> None:
    turns = [turn(usage=Usage(input=50, output=50, cost=2.0)), turn(unreported=EVERY_TOOL)]
    assert observe(max_tokens(99), turns).message == "expected at most 99 tokens\ngot at least 100"
    assert status(max_tokens(100), turns) == "unavailable"
    assert status(max_cost(1.5), turns) == "mismatched"


@pytest.mark.parametrize("match", [case[0] for case in CASES if case[0].name != "not_"])
@pytest.mark.parametrize("value", ["a text", None, [1], [turn(), "x"], Holder(3), {"turns": []}])
def test_a_value_without_turns_is_an_error_with_a_reason(match: Match, value: object) -> None:
    seen = observe(match, value)
    assert seen.status == "errored"
    assert "takes a turn, several turns, or the attempt" in seen.message


@pytest.mark.parametrize("match", [called_tool("a"), used_no_tools(), max_tokens(3), edited_file("a")])
def test_before_the_first_turn_there_is_no_evidence(match: Match) -> None:
    assert observe(match, Holder(())).message == "no turn was sent"
    assert status(match, ()) == "unavailable"


def test_a_predicate_that_raises_on_an_input_is_an_error_unless_another_call_decides() -> None:
    picky = called_tool("read", input={"limit": lambda n: n > 3})
    odd = ToolCall(name="read", input={"limit": "many"})
    assert status(picky, turn(odd)) == "errored"
    assert status(picky, turn(odd, READ)) == "matched"


MESSAGES: list[tuple[Match, Turn, str]] = [
    (
        called_tool("fetch"),
        turn(TEST, READ),
        "expected a call of 'fetch'\ngot none; others: shell 'npm test -- --watch=false', read",
    ),
    (called_tool("shell", times=1), turn(TEST, LIST), "expected a call of 'shell', exactly 1\ngot 2: "),
    (called_tool("read", input={"path": "x"}), turn(), "expected a call of 'read' with {'path': 'x'}\ngot none"),
    (ran_command("pytest"), turn(TEST), "expected a shell command with 'pytest'\ngot none; others: shell 'npm test"),
    (
        called_tool("shell"),
        turn(unreported=(Channel.SHELL, Channel.TOOLS)),
        "the harness does not report shell, tools, so what is not there cannot be told",
    ),
    (edited_file("*.py"), turn(changes=changed("a.js")), "expected an edit of '*.py'\ngot none; others: a.js"),
    (searched_for("a"), turn(WebSearch(query="b")), "expected a web search for 'a'\ngot none; others: b"),
    (used_no_tools(), turn(READ, FileEdit(path="a")), "expected no use of a tool\ngot 1: read"),
    (
        max_tool_calls(0),
        turn(*[READ] * 20),
        f"expected at most 0 tool calls\ngot 20: {', '.join(['read'] * 8)} and 12 more",
    ),
    (max_cost(1), turn(usage=Usage(cost=1.25)), "expected at most 1 US dollars\ngot 1.25"),
    (max_tokens(5), turn(), "the tokens of a turn are unknown (at least 0 in all)"),
]


@pytest.mark.parametrize(("match", "one", "message"), MESSAGES)
def test_messages_name_the_evidence(match: Match, one: Turn, message: str) -> None:
    assert observe(match, one).message.startswith(message)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("called_tool: an empty text", lambda: called_tool("")),
        ("called_tool: takes a text, got 3", lambda: called_tool(3)),  # type: ignore[arg-type]
        (r"called_tool: times=0 is written not_\(called_tool\(…\)\)", lambda: called_tool("a", times=0)),
        ("called_tool: takes a whole number from 1, got -1", lambda: called_tool("a", times=-1)),
        ("called_tool: takes a whole number from 1, got True", lambda: called_tool("a", times=True)),
        ("called_tool: .*takes JSON data", lambda: called_tool("a", input={"a": {1, 2}})),
        ("called_mcp: an empty text", lambda: called_mcp("")),
        ("called_skill: an empty text", lambda: called_skill("")),
        ("ran_command: takes a text", lambda: ran_command(re.compile(b"x"))),  # type: ignore[arg-type]
        ("edited_file: takes a path relative", lambda: edited_file("/etc/passwd")),
        ("max_tool_calls: takes a whole number from 0", lambda: max_tool_calls(1.5)),  # type: ignore[arg-type]
        ("max_tokens: takes a whole number from 0", lambda: max_tokens(-1)),
        ("max_cost: takes US dollars from 0", lambda: max_cost(-0.1)),
        ("max_cost: takes a finite number", lambda: max_cost(float("nan"))),
    ],
)
def test_a_match_that_makes_no_sense_is_refused_at_the_call(message: str, make: Any) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_agent_matches_combine_with_the_others() -> None:
    both = all_of(called_tool("shell"), not_(ran_command("rm -rf")))
    assert status(both, turn(TEST)) == "matched"
    assert status(both, blind(TEST)) == "unavailable"
    assert status(both, blind(TEST, ToolCall(name="shell", input={"command": "rm -rf /"}))) == "mismatched"


def test_hundreds_of_thousands_of_events_give_a_bounded_message() -> None:
    many = turn(*[ToolCall(name="shell", input={"command": "x" * 1000})] * 100_000)
    assert len(observe(ran_command("y"), many).message) <= 1024

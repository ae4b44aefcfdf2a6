"""What a kind of agent says about itself: its options, its hosts, its command lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reeval.errors import ConfigError
from reeval.harnesses import claude_code, codex
from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Invocation
from reeval.harnesses.agents.kind import hosts_of
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.placing import merged
from reeval.harnesses.kinds import KINDS
from reeval.harnesses.options import typed_options
from reeval.schema.environment import McpServer


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"turn_timeout": 0.0}, "a turn_timeout of more than 0 seconds, not 0.0"),
        ({"retries": -1}, "retries from 0 to 100, not -1"),
        ({"base_url": "localhost:8080"}, "a base_url such as 'http://localhost:8000/v1', not 'localhost:8080'"),
        ({"base_url": "http://[::1"}, "a base_url such as 'http://localhost:8000/v1', not 'http://[::1'"),
        ({"base_url": "http://?x"}, "a base_url such as"),
        ({"version": "latest"}, "an exact version, such as \"1.2.3\", not 'latest'"),
        ({"version": "1; rm -rf"}, "an exact version"),
        ({"install": True, "program": "/usr/bin/codex"}, "either install = true or a program that is there, not both"),
    ],
)
def test_options_that_cannot_be_used_are_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=r"\[harness.x\]: .*correct the table") as caught:
        typed_options(options, AgentOptions, "[harness.x]")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "env", "hosts"),
    [
        ({}, {}, ("api.anthropic.com",)),
        ({"base_url": "https://models.example.com/v1"}, {}, ("models.example.com",)),
        ({}, {"ANTHROPIC_BASE_URL": "http://me:pw@gate:8080"}, ("gate:8080",)),
        ({}, {"ANTHROPIC_BASE_URL": "http://[::1"}, ("api.anthropic.com",)),
        ({"env": {"ANTHROPIC_BASE_URL": "http://own"}}, {"ANTHROPIC_BASE_URL": "http://gate:8080"}, ("own",)),
    ],
)
def test_an_agent_reaches_the_hosts_of_its_models(
    options: dict[str, Any], env: dict[str, str], hosts: tuple[str, ...]
) -> None:
    assert hosts_of(claude_code.AGENT, AgentOptions(**options), env) == hosts


CALL = Call(
    prompt="go",
    session=None,
    key="sk",
    model="m",
    effort="low",
    options=AgentOptions(retries=2, base_url="http://h/v1"),
    home="/home/agent",
    workspace="/workspace",
    mcp={"demo": McpServer(kind="http", url="http://h/mcp", headers={"X": "secret"})},
)


@pytest.mark.parametrize("agent", [claude_code.AGENT, codex.AGENT], ids=lambda agent: agent.name)
def test_no_secret_and_no_prompt_is_an_argument(agent: Agent) -> None:
    found = agent.invoke(replace(CALL, prompt="the prompt"))
    assert "secret" not in str(found.args)
    assert "the prompt" not in str(found.args)
    assert found.stdin == b"the prompt"
    assert b"secret" in found.files[0].data


def words(found: Invocation) -> str:
    return " ".join(found.args)


def test_claude_code_is_called_as_it_is_told() -> None:
    found = claude_code.AGENT.invoke(CALL)
    assert words(found) == (
        "-p --output-format stream-json --verbose --dangerously-skip-permissions --model m --effort low "
        "--mcp-config /home/agent/.reeval/mcp.json --strict-mcp-config"
    )
    assert found.env["ANTHROPIC_BASE_URL"] == "http://h/v1"
    assert found.env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    bare = claude_code.AGENT.invoke(replace(CALL, model=None, effort=None, mcp={}, session="s-1"))
    assert words(bare).endswith("--dangerously-skip-permissions --resume s-1")


def test_codex_is_called_as_it_is_told() -> None:
    found = codex.AGENT.invoke(CALL)
    for setting in (
        'model_providers.reeval.base_url="http://h/v1"',
        "model_providers.reeval.stream_max_retries=2",
        'model="m"',
        'model_reasoning_effort="low"',
    ):
        assert f"-c {setting}" in words(found)
    bare = codex.AGENT.invoke(replace(CALL, model=None, effort=None, mcp={}, session="s-1"))
    assert words(bare).startswith("exec resume --json")
    assert words(bare).endswith(" s-1 -")
    assert " model=" not in words(bare)


@pytest.mark.parametrize(
    ("there", "merge", "content"),
    [
        (b"", "append", b"new"),
        (b"old\n\n", "append", b"old\n\nnew"),
        (b"old", "replace", b"new"),
        (b" ", "json", b"new"),
    ],
)
def test_a_file_is_merged_as_it_says(there: bytes, merge: Any, content: bytes) -> None:
    assert merged(there, AgentFile(path="~/x", data=b"new", merge=merge)) == content


def test_values_of_another_type_are_replaced() -> None:
    file = AgentFile(path="~/x", data=b'{"a": {"b": 1}, "c": [1]}', merge="json")
    assert merged(b'{"a": 3, "c": {"d": 1}, "e": 0}', file) == b'{"a":{"b":1},"c":[1],"e":0}'


def test_every_agent_is_among_the_kinds() -> None:
    assert {"claude-code", "codex"} <= set(KINDS)
    for name in ("claude-code", "codex"):
        assert KINDS[name].name == name

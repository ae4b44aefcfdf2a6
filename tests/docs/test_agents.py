"""What the pages say of real agents is what their adapters say."""

from __future__ import annotations

from dataclasses import fields

import pytest

from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.kinds import KINDS
from reeval.schema.transcript import Channel
from tests.docs.pages import section, tables

GUIDE, REFERENCE = "guide/agents.md", "reference/harnesses.md"
NAMES = [kind.name for kind in KINDS.values() if issubclass(kind.options, AgentOptions)]
AGENTS = [agent_named(name) for name in NAMES]


def yes(value: bool) -> str:
    return "yes" if value else "no"


def can(agent: Agent) -> str:
    """The row of an agent in the guide, without its first cell."""
    mcp = ", ".join(kind for kind in ("stdio", "http") if kind in agent.mcp)
    cells = (
        yes(agent.resumes),
        mcp or "no",
        f"`{agent.layout.skills}`" if "skills" in agent.reads else "no",
        f"`{agent.layout.rules}`" if "rules" in agent.reads else "no",
        yes(agent.effort),
        yes(Channel.USAGE not in agent.unreported),
        "its own" if agent.reports_cost else "by price",
        yes(agent.exit_codes),
        yes(Channel.SEARCHES not in agent.unreported),
    )
    return " | ".join(cells)


def test_the_guide_says_what_each_agent_can() -> None:
    (table,) = tables(section(GUIDE, "What each can"))
    assert table == {agent.name: can(agent) for agent in AGENTS}


def test_the_reference_has_every_option_of_all_agents() -> None:
    options = tables(section(REFERENCE, "Coding agents"))[0]
    assert list(options) == [option.name for option in fields(AgentOptions)]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_the_reference_says_where_each_agent_comes_from(agent: Agent) -> None:
    programs = tables(section(REFERENCE, "Coding agents"))[1]
    package = agent.package
    own = {option.name for option in fields(agent.options)} - {option.name for option in fields(AgentOptions)}
    cells = [
        f"`{package.name}` {package.version}",
        f"`{package.program}`",
        ", ".join(f"`{key}`" for key in agent.keys),
        ", ".join(f"`{name}`" for name in sorted(own)),
    ]
    assert [cell.strip() for cell in programs[agent.name].split("|")] == cells

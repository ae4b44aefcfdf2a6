"""Which key does an agent get, and is it logged in at all?"""

from __future__ import annotations

from collections.abc import Mapping

from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.options import AgentOptions

__all__ = ["NO_KEY", "key_for", "login_problem"]

NO_KEY = "none"
"""What is handed over where a model of one's own asks for no key: the programs do not start without one."""


def key_for(agent: Agent, options: AgentOptions, env: Mapping[str, str]) -> str | None:
    """Return the key to hand over; None where the agent's variables hold what its program looks for."""
    if options.key is not None:
        return env.get(options.key)
    return None if _known(agent, options, env) else NO_KEY


def login_problem(agent: Agent, options: AgentOptions, env: Mapping[str, str]) -> str | None:
    """Say why an agent with these variables is not logged in, and what to do; None when it is."""
    if options.key is not None:
        if env.get(options.key):
            return None
        return f'key = "{options.key}", but the agent has no variable {options.key}; {_declare(options.key)}'
    if options.base_url is not None or _known(agent, options, env):
        return None
    names = f"none of the variables {', '.join(agent.keys)}" if len(agent.keys) > 1 else f"no variable {agent.keys[0]}"
    return f"{agent.name} is not logged in: the agent has {names}; {_declare(agent.keys[0])}"


def _known(agent: Agent, options: AgentOptions, env: Mapping[str, str]) -> bool:
    return any(options.env.get(name) or env.get(name) for name in agent.keys)


def _declare(name: str) -> str:
    return f'declare it, such as env = {{{name} = {{from = "{name}"}}}} in [defaults], and export it'

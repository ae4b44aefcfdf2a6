"""Which agent has this name? Each stands in a module that is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

from reeval.harnesses.agents.agent import Agent

__all__ = ["agent_named"]


def agent_named(name: str) -> Agent:
    """Return an agent by its kind, such as ``claude-code``."""
    agent: Agent = import_module(f"reeval.harnesses.{name.replace('-', '_')}").AGENT
    return agent

"""How does an agent become a kind of harness?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reeval.addresses import host_of
from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.login import login_problem
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.pricing import pricing_of, urls_of
from reeval.harnesses.agents.programs.install import install
from reeval.harnesses.agents.programs.readiness import readiness
from reeval.harnesses.agents.session import AgentHarness
from reeval.harnesses.options import typed_options
from reeval.protocols import HarnessKind
from reeval.schema.plan import PlannedHarness

__all__ = ["agent_kind", "hosts_of", "programs_of"]


def agent_kind(agent: Agent) -> HarnessKind:
    """Return the kind that drives an agent's command line."""

    def options(planned: PlannedHarness) -> AgentOptions:
        return typed_options(planned.options, agent.options, f"[harness.{planned.id}]")

    def open_harness(planned: PlannedHarness, _root: Path) -> AgentHarness:
        return AgentHarness(agent, planned, options(planned))

    def fingerprint(planned: PlannedHarness, _root: Path) -> str:
        chosen = options(planned)
        return f"{agent.package.name} {chosen.version or agent.package.version}" if chosen.install else ""

    return HarnessKind(
        name=agent.name,
        options=agent.options,
        open=open_harness,
        layout=lambda _: agent.layout,
        unreported=lambda _: agent.unreported,
        fingerprint=fingerprint,
        mcp=lambda _: agent.mcp,
        resumes=agent.resumes,
        hosts=lambda planned, env: hosts_of(agent, options(planned), env),
        pricing=lambda planned, env: pricing_of(agent, planned, options(planned), env),
        login=lambda planned, env: login_problem(agent, options(planned), env),
        readiness=lambda planned: readiness(agent.package, options(planned)),
        programs=lambda planned: programs_of(agent, options(planned)),
    )


def hosts_of(agent: Agent, options: AgentOptions, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts of an agent's models: what its options or its variables say, else its own."""
    # With its port where it has one: it is that server which is meant, in a private network too.
    named = tuple(host for url in urls_of(agent, options, env) if (host := host_of(url)))
    return named or agent.hosts


def programs_of(agent: Agent, options: AgentOptions) -> tuple[str, ...]:
    """Install the agent's program, where that is asked for, and return the directory that a sandbox needs."""
    if not options.install:
        return ()
    return (str(install(agent.package, options.version or agent.package.version)),)

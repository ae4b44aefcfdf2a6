"""Where stands what an agent's models cost, for turns of which it does not say so itself?"""

from __future__ import annotations

from collections.abc import Mapping

import anyio.to_thread
from msgspec.structs import replace

from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.options import AgentOptions
from reeval.prices import cost_of
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Turn
from reeval.usage import Pricing

__all__ = ["priced", "pricing_of", "urls_of"]


def urls_of(agent: Agent, options: AgentOptions, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the base URLs of an agent's models that its options or its variables name; empty: the agent's own."""
    if options.base_url:
        return (options.base_url,)
    known = {**env, **options.env}
    return tuple(url for name in agent.base_urls if (url := known.get(name)))


def pricing_of(agent: Agent, planned: PlannedHarness, options: AgentOptions, env: Mapping[str, str]) -> Pricing:
    """Return how it will be known what turns of an agent with these variables cost."""
    given, model = agent.reports_cost, planned.model
    if urls := urls_of(agent, options, env):
        return Pricing(given=given, price_list=urls[0], model=model)
    if agent.price_list is not None or model is None:
        return Pricing(given=given, price_list=agent.price_list or agent.name, model=model)
    provider, _, name = model.partition("/")
    return Pricing(given=given, price_list=provider, model=name)


async def priced(turn: Turn, pricing: Pricing) -> Turn:
    """Return a turn with the cost of its tokens, where it does not say what it cost and they have a price."""
    usage = turn.usage
    if usage is None or usage.cost is not None or usage.total is None:
        return turn
    cost = await anyio.to_thread.run_sync(cost_of, pricing, usage, turn.model)  # the list may take 0.2 s to load
    if cost is None:
        return turn
    known = tuple(channel for channel in turn.unreported if channel is not Channel.COST)
    return replace(turn, usage=replace(usage, cost=cost), unreported=known)

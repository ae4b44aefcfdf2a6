"""What turns of an agent cost that does not say so itself."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from reeval.harnesses import claude_code, codex, gemini, mini_swe_agent, opencode
from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.pricing import priced, pricing_of
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Turn
from reeval.usage import Pricing, Usage

TOKENS = Usage(input=1_000_000, output=0)
URL = "https://models.example.com/v1"


@pytest.mark.parametrize(
    ("agent", "model", "options", "env", "pricing"),
    [
        (claude_code.AGENT, None, {}, {}, Pricing(given=True, price_list="anthropic")),
        (codex.AGENT, "gpt-5", {}, {}, Pricing(price_list="openai", model="gpt-5")),
        (codex.AGENT, "m", {"base_url": URL}, {"OPENAI_BASE_URL": "http://no"}, Pricing(price_list=URL, model="m")),
        (codex.AGENT, "m", {}, {"OPENAI_BASE_URL": URL}, Pricing(price_list=URL, model="m")),
        (gemini.AGENT, "gemini-2.5-pro", {}, {}, Pricing(price_list="google", model="gemini-2.5-pro")),
        (opencode.AGENT, "anthropic/claude-x", {}, {}, Pricing(price_list="anthropic", model="claude-x")),
        (opencode.AGENT, None, {}, {}, Pricing(price_list="opencode")),
        (
            mini_swe_agent.AGENT,
            "openrouter/anthropic/claude-x",
            {},
            {},
            Pricing(price_list="openrouter", model="anthropic/claude-x"),
        ),
    ],
)
def test_a_price_is_looked_up_where_the_model_is_served(
    agent: Agent, model: str | None, options: dict[str, Any], env: dict[str, str], pricing: Pricing
) -> None:
    planned = PlannedHarness(id="it", kind=agent.name, model=model)
    assert pricing_of(agent, planned, agent.options(**options), env) == pricing


def turn(usage: Usage | None, model: str | None = None) -> Turn:
    return Turn(prompt="Go.", usage=usage, model=model, unreported=(Channel.COST, Channel.MODEL))


@pytest.mark.parametrize(
    ("pricing", "served"),
    [
        (Pricing(price_list="openai", model="gpt-5-mini"), None),
        (Pricing(price_list="openai", model="nothing-that-is-listed"), "gpt-5-mini"),
        (Pricing(price_list="openai"), "gpt-5-mini"),
        (Pricing(price_list="openai", model="gpt-5-mini"), "nothing-that-is-listed"),
    ],
)
def test_tokens_without_a_cost_get_their_price_and_are_no_longer_unreported(
    pricing: Pricing, served: str | None
) -> None:
    found = anyio.run(priced, turn(TOKENS, served), pricing)
    assert found.usage == replace(TOKENS, cost=0.25)
    assert found.unreported == (Channel.MODEL,)


@pytest.mark.parametrize(
    ("usage", "pricing"),
    [
        (None, Pricing(price_list="openai", model="gpt-5-mini")),
        (replace(TOKENS, cost=9.0), Pricing(price_list="openai", model="gpt-5-mini")),
        (Usage(input=5), Pricing(price_list="openai", model="gpt-5-mini")),
        (TOKENS, Pricing(price_list="openai", model="nothing-that-is-listed")),
        (TOKENS, Pricing(given=True)),
    ],
)
def test_what_is_given_or_has_no_price_stays_as_it_is(usage: Usage | None, pricing: Pricing) -> None:
    assert anyio.run(priced, turn(usage), pricing) == turn(usage)

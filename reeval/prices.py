"""What do a model's tokens cost? The price list of ``genai-prices``, as it was installed: nothing is fetched."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from reeval.usage import Pricing, Usage

__all__ = ["cost_of", "is_known", "price"]


def is_known(pricing: Pricing) -> bool:
    """Say whether a cost will be there, as far as that can be told before anything is used."""
    return pricing.given or cost_of(pricing, Usage(input=1, output=1)) is not None


def cost_of(pricing: Pricing, usage: Usage, served: str | None = None) -> float | None:
    """Return what tokens cost: those of the model that served them, else of the one that was asked for."""
    for model in (served, pricing.model):
        if model and pricing.price_list and (cost := price(pricing.price_list, model, usage)) is not None:
            return cost
    return None


def price(provider: str, model: str, usage: Usage) -> float | None:
    """Return US dollars; None when the model or its tokens are unknown.

    ``provider`` is a name of the price list (``anthropic``, ``openai``, ``google``) or the URL of a service. The
    first call that needs the list loads it, which takes about 0.2 s.
    """
    if usage.input is None or usage.output is None or _is_private(provider):
        return None
    listed = _listed(provider, model)
    return None if listed is None else _cost(listed, usage)


def _is_private(provider: str) -> bool:
    """Say whether this is a server that no price list has: one without a domain, told apart without loading it."""
    if "://" not in provider:
        return False
    try:
        host = urlsplit(provider).hostname or ""
        return "." not in host or bool(ipaddress.ip_address(host))
    except ValueError:
        return False


@lru_cache(maxsize=256)
def _listed(provider: str, model: str) -> tuple[Any, Any] | None:
    from genai_prices.data_snapshot import get_snapshot

    address = {"provider_api_url": provider} if "://" in provider else {"provider_id": provider}
    names = {"provider_id": None, "provider_api_url": None, **address}
    try:
        return get_snapshot().find_provider_model(model, None, **names)
    except LookupError:
        return None


def _cost(listed: tuple[Any, Any], usage: Usage) -> float | None:
    from datetime import UTC, datetime

    from genai_prices import Usage as Tokens

    provider, model = listed
    read, write = usage.cache_read or 0, usage.cache_write or 0
    tokens = {
        "input_tokens": (usage.input or 0) + read + write,  # the list counts cached tokens as input too
        "cache_read_tokens": read or None,
        "cache_write_tokens": write or None,
        "output_tokens": usage.output,
    }
    try:
        found = model.calc_price(Tokens(**tokens), provider, genai_request_timestamp=datetime.now(tz=UTC))
    except ValueError:  # counts that cannot be
        return None
    return float(found.total_price)

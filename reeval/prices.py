"""What do a model's tokens cost? The price list of ``genai-prices``, as it was installed: nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reeval.usage import Usage

__all__ = ["Pricing", "price"]


@dataclass(frozen=True, kw_only=True)
class Pricing:
    """How it will be known what an agent or a model cost. With neither of both it will not."""

    given: bool = False
    """It says so itself."""
    price_list: str | None = None
    """By its tokens: ``provider`` of ``price``."""
    model: str | None = None
    """The model that is asked for; None: the agent's own choice."""

    @property
    def is_known(self) -> bool:
        """Whether a cost will be there, as far as that can be told before it is used."""
        return self.given or self.cost(Usage(input=1, output=1)) is not None

    def cost(self, usage: Usage, served: str | None = None) -> float | None:
        """Return what tokens cost: those of the model that served them, else of the one that was asked for."""
        models = (served, self.model) if self.price_list else ()
        costs = (price(self.price_list or "", model, usage) for model in models if model)
        return next((cost for cost in costs if cost is not None), None)


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
    import ipaddress
    from urllib.parse import urlsplit

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

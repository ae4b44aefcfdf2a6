"""Can this model be called at all? What to say before a run starts when it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from reeval.addresses import is_address
from reeval.schema.plan import PlannedModel

__all__ = ["key_problem", "key_value", "key_variable", "url_problem"]

_ALSO = {"GEMINI_API_KEY": "GOOGLE_API_KEY"}
"""Where a key may stand too: Google's own tools read both names."""


def key_variable(planned: PlannedModel, environ: Mapping[str, str]) -> str | None:
    """Return the name of the variable that holds the key; None when none does."""
    names = (planned.key, _ALSO.get(planned.key or ""))
    return next((name for name in names if name and environ.get(name, "").strip()), None)


def key_value(planned: PlannedModel, environ: Mapping[str, str]) -> str | None:
    """Return the key, without blanks around it; None when there is none."""
    name = key_variable(planned, environ)
    return environ[name].strip() if name else None


def key_problem(planned: PlannedModel, environ: Mapping[str, str]) -> str | None:
    """Say which variable to set, or what is wrong with its value (which is never quoted); None when all is well."""
    if planned.key is None:
        return None
    value = key_value(planned, environ)
    if value is None:
        also = f" (or {_ALSO[planned.key]})" if planned.key in _ALSO else ""
        return (
            f"model {planned.name!r} needs a key: set the variable {planned.key}{also}, "
            f"or name another variable as key in [provider.{planned.provider}]"
        )
    if not (value.isascii() and value.isprintable()):
        return f"model {planned.name!r}: the value of {planned.key} holds characters that no key has; set it again"
    return None


def url_problem(planned: PlannedModel) -> str | None:
    """Say what is wrong with the provider's ``base_url``; None when all is well."""
    url = planned.base_url
    if url is None or (is_address(url) and not urlsplit(url).query):
        return None
    return f"[provider.{planned.provider}]: base_url is {url!r}; write an address such as 'http://localhost:8000/v1'"

"""What may a ``[provider.NAME]`` table of a model over HTTP hold, beside the common keys?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from reeval.errors import ConfigError

__all__ = ["HttpOptions", "typed_options"]

OptionsT = TypeVar("OptionsT")


@dataclass(frozen=True, kw_only=True)
class HttpOptions:
    """The options of every model over HTTP."""

    timeout: float = 120.0
    """Seconds that one try may take, from its first byte to the answer's last. After a time-out there is one more."""
    connect_timeout: float = 10.0
    """Seconds to reach the server."""
    max_tokens: int | None = None
    """Most tokens of an answer, reasoning included; None: what is asked for, 4096."""

    def __post_init__(self) -> None:
        """Refuse limits that nothing can keep."""
        for name in ("timeout", "connect_timeout"):
            if not 0 < (value := getattr(self, name)) < float("inf"):
                raise ValueError(f"a {name} of more than 0 seconds, not {value!r}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"a max_tokens of 1 or more, not {self.max_tokens!r}")


def typed_options(options: Mapping[str, Any], kind: type[OptionsT], owner: str) -> OptionsT:
    """Convert JSON data to the dataclass ``kind``; ``owner`` names the table in a ``ConfigError``."""
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{owner}: {error}; correct the table in reeval.config.toml") from None

"""How do the options of a plan become the typed options of a kind?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from reeval.errors import ConfigError

__all__ = ["typed_options"]

OptionsT = TypeVar("OptionsT")


def typed_options(options: Mapping[str, Any], kind: type[OptionsT], owner: str) -> OptionsT:
    """Convert JSON data to the dataclass ``kind``; ``owner`` names the table in a ``ConfigError``."""
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{owner}: {error}; correct the table in reeval.config.toml") from None

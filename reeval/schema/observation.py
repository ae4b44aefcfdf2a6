"""What did one match see in one value? The five ways a check settles."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = ["CheckStatus", "Observation"]


class CheckStatus(StrEnum):
    """How a check settled."""

    MATCHED = "matched"
    MISMATCHED = "mismatched"
    MEASURED = "measured"
    """A number from 0 to 1 that a gate or points may use."""
    UNAVAILABLE = "unavailable"
    """The evidence cannot be had: never a guess."""
    ERRORED = "errored"
    """The match raised or returned the wrong type: never a pass or a fail."""


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one evaluation of a match."""

    status: CheckStatus
    measurement: float | None = None
    """0–1, with ``measured`` only."""
    message: str = ""
    """Expected and got, or the reason: bounded, empty when it matched and there is nothing to say."""

"""When may the next call to a provider start? When there is room for it and the provider asked for no pause."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

__all__ = ["Lane"]

_SPREAD = 0.1
"""Calls that a pause held back start over the tenth of it that follows, not all at once."""


class Lane:
    """The way to one provider, for every call of a run."""

    def __init__(self, most: int | None) -> None:
        self._limiter = anyio.CapacityLimiter(most or math.inf)
        self._paused_until = -math.inf

    def pause(self, seconds: float) -> None:
        """Let no call start for this time, also those that already wait."""
        self._paused_until = max(self._paused_until, anyio.current_time() + seconds)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place of one call, and hold it."""
        async with self._limiter:
            while (left := self._paused_until - anyio.current_time()) > 0:  # noqa: ASYNC110 - a pause may grow
                await anyio.sleep(left * random.uniform(1.0, 1.0 + _SPREAD))  # noqa: S311 - spreads load, no secret
            yield

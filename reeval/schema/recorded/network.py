"""What is kept of the connections that an attempt was refused?"""

from __future__ import annotations

import msgspec

__all__ = ["RefusedRecord"]


class RefusedRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A host that processes of the attempt asked for, and that the policy does not allow."""

    host: str
    port: int
    why: str
    first: int
    """When it was first asked for, in milliseconds since 1970, UTC."""
    count: int = 1

"""How much of what an agent printed fits what is read of it?"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import msgspec

from reeval.harnesses.bounds import NUMBER_LIMIT

__all__ = ["ExitCode", "fitted"]

ExitCode = Annotated[int, msgspec.Meta(ge=-NUMBER_LIMIT, le=NUMBER_LIMIT)]
"""It may be negative: minus the number of a signal."""


def fitted(found: Any, shape: Any) -> Any:
    """Return JSON data as a shape; a key whose value does not fit counts as missing, at every depth.

    Raises ``msgspec.ValidationError`` when nothing fits.
    """
    try:
        return msgspec.convert(found, shape)
    except msgspec.ValidationError:
        if not (isinstance(found, dict) and isinstance(shape, type) and issubclass(shape, msgspec.Struct)):
            raise
    values = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name in found:
            with suppress(msgspec.ValidationError):
                values[field.name] = fitted(found[field.encode_name], field.type)
    return shape(**values)

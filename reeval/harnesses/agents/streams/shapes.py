"""How much of what an agent printed fits what is read of it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any, get_args, get_origin

import msgspec

from reeval.harnesses.bounds import NUMBER_LIMIT

__all__ = ["ExitCode", "fitted"]

ExitCode = Annotated[int, msgspec.Meta(ge=-NUMBER_LIMIT, le=NUMBER_LIMIT)]
"""It may be negative: minus the number of a signal."""


def fitted(found: Any, shape: Any) -> Any:
    """Return JSON data as a shape; what does not fit counts as missing: keys of objects, items of lists, at any depth.

    Raises ``msgspec.ValidationError`` when nothing fits.
    """
    try:
        return msgspec.convert(found, shape)
    except msgspec.ValidationError:
        if isinstance(found, list) and get_origin(shape) is list:
            (item,) = get_args(shape)
            return [value for _, value in _fitting(("", value, item) for value in found)]
        if isinstance(found, dict) and isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            known = (field for field in msgspec.structs.fields(shape) if field.encode_name in found)
            return shape(**dict(_fitting((field.name, found[field.encode_name], field.type) for field in known)))
        raise


def _fitting(parts: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield names and values, of names, values and shapes, where a value fits."""
    for name, value, shape in parts:
        with suppress(msgspec.ValidationError):
            yield name, fitted(value, shape)

"""Which form does the dataclass of a harness's options have?

Its annotations become the same kind of core schema that the config file has, so a misspelt key in a harness
table is told with its line and the nearest right one, like every other.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema
from pydantic_core import core_schema as cs

__all__ = ["options_form"]

_PLAIN: dict[Any, CoreSchema] = {
    str: cs.str_schema(),
    int: cs.int_schema(),
    float: cs.float_schema(),
    bool: cs.bool_schema(),
}
_SHAPES: dict[Any, str] = {str: "<text>", bool: "<flag>", int: "<number>", float: "<number>", list: "<list>"}


def options_form(options: type, *, beside: Sequence[str] = ()) -> CoreSchema:
    """Return the form of a table for the dataclass ``options``; keys in ``beside`` are known and not looked at."""
    known = {name: cs.typed_dict_field(cs.any_schema(), required=False) for name in beside}
    return _dataclass(options, known)


def _dataclass(options: type, beside: dict[str, cs.TypedDictField]) -> CoreSchema:
    hints = get_type_hints(options, include_extras=True)
    own = {field.name: _field(field, hints[field.name]) for field in fields(options) if field.init}
    table = cs.typed_dict_schema({**own, **beside}, extra_behavior="forbid")
    return cs.no_info_after_validator_function(_maker(options, own.keys()), table)


def _field(field: Field[Any], annotation: Any) -> cs.TypedDictField:
    required = field.default is MISSING and field.default_factory is MISSING
    return cs.typed_dict_field(_form(annotation), required=required)


def _maker(options: type, own: Any) -> Callable[[dict[str, Any]], Any]:
    """Make the dataclass, so that what its ``__post_init__`` refuses by ``ValueError`` is a problem of its table."""

    def make(table: dict[str, Any]) -> Any:
        return options(**{name: value for name, value in table.items() if name in own})

    return make


def _form(annotation: Any) -> CoreSchema:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _dataclass(annotation, {})
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return cs.literal_schema([member.value for member in annotation])
    return _composed(get_origin(annotation), get_args(annotation))


def _composed(origin: Any, arguments: tuple[Any, ...]) -> CoreSchema:
    if origin is Annotated:
        return _form(arguments[0])
    if origin is Literal:
        return cs.literal_schema(list(arguments))
    if origin in {Union, types.UnionType}:
        return _union([argument for argument in arguments if argument is not types.NoneType])
    if origin in {list, tuple, Sequence}:
        items = cs.list_schema(_form(arguments[0]))
        return items if origin is list else cs.no_info_after_validator_function(tuple, items)
    if origin in {dict, Mapping}:
        return cs.dict_schema(_form(arguments[0]), _form(arguments[1]))
    return cs.any_schema()


def _union(members: list[Any]) -> CoreSchema:
    if len(members) == 1:
        return _form(members[0])
    forms = {_shape_of(member): _form(member) for member in members}
    first = next(iter(forms))

    def shape(value: Any) -> str:
        found = "<table>" if isinstance(value, dict) else _SHAPES.get(type(value), first)
        return found if found in forms else first

    return cs.tagged_union_schema(forms, shape)


def _shape_of(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return _SHAPES[type(get_args(annotation)[0])]
    if origin in {list, tuple, Sequence}:
        return "<list>"
    return _SHAPES.get(annotation, "<table>")

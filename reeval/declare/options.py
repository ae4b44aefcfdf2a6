"""Are the options of an eval or a group known ones, with values of the right type?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypedDict,
    TypeGuard,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from reeval.errors import DeclarationError, did_you_mean
from reeval.schema.options import Options
from reeval.schema.spec import Mode

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator

__all__ = ["DeclarationOptions", "NodeOptions", "check_options", "check_word", "is_text", "node_options"]


class NodeOptions(TypedDict, total=False):
    """What belongs to one eval or group and does not cascade."""

    description: str | None
    skip: str | None
    """Listed and not run, and why."""
    only: bool
    """Run alone."""


class DeclarationOptions(Options, NodeOptions, total=False):
    """What ``evaluate`` and ``group`` take by name."""


class _Node(TypedDict):
    """The fields of a draft that ``NodeOptions`` become."""

    options: Options
    description: str | None
    mode: Mode
    skip_reason: str | None


def node_options(given: Mapping[str, Any]) -> _Node:
    """Split what was given into the fields of a draft; raise ``DeclarationError`` when something does not fit."""
    known = DeclarationOptions.__annotations__.keys()
    for name in given:
        if name not in known:
            raise DeclarationError(f"there is no option {name!r}{did_you_mean(name, known)}")
    description, skip, only = given.get("description"), given.get("skip"), given.get("only", False)
    if skip is not None and not is_text(skip):
        raise DeclarationError(f"skip is {skip!r}; say why, such as skip='needs the new parser'")
    if not isinstance(only, bool):
        raise DeclarationError(f"only is {only!r}; it takes True or False")
    if only and skip:
        raise DeclarationError("skip and only cannot both be given; drop one")
    if description is not None and not isinstance(description, str):
        raise DeclarationError(f"description is {description!r}; it takes a text")
    return {
        "options": check_options({name: value for name, value in given.items() if name in Options.__annotations__}),
        "description": description,
        "mode": "skip" if skip else "only" if only else "run",
        "skip_reason": skip,
    }


def check_options(given: Mapping[str, Any]) -> Options:
    """Return the options with tuples as lists; raise ``DeclarationError`` for a value that does not fit."""
    if not given:
        return {}
    plain = _plain(given)
    from pydantic_core import ValidationError

    try:
        _validator().validate_python(plain)
    except ValidationError as error:
        raise DeclarationError(_explain(error.errors(include_url=False), plain)) from None
    return cast("Options", plain)


def check_word(name: object, what: str) -> str:
    """Return the name of an eval or a group; raise ``DeclarationError`` when it cannot stand in a path."""
    if callable(name):
        raise DeclarationError(f"{what}() has no name; write @{what}('what it shows')")
    if not is_text(name):
        raise DeclarationError(f"{what}({name!r}): give it a name")
    if "::" in name or not name.isprintable() or name != name.strip() or len(name) > 200:
        raise DeclarationError(
            f"{what}({name!r}): a name is at most 200 characters on one line, without '::' and outer spaces"
        )
    return name


def is_text(value: object) -> TypeGuard[str]:
    """Say whether ``value`` is a text with something in it, whatever its annotation promises."""
    return isinstance(value, str) and bool(value.strip())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


@cache
def _validator() -> SchemaValidator:
    # Pydantic refuses typing.TypedDict before Python 3.12, and costs 60 ms to import; its core does neither.
    from pydantic_core import SchemaValidator

    return SchemaValidator(_schema(Options))


def _schema(hint: Any) -> CoreSchema:
    from pydantic_core import core_schema as core

    if is_typeddict(hint):
        fields = {
            name: core.typed_dict_field(_schema(inner), required=name in hint.__required_keys__)
            for name, inner in get_type_hints(hint).items()
        }
        return core.typed_dict_schema(fields, cls_name=hint.__name__, extra_behavior="forbid")
    origin, args = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return core.union_schema([_schema(arg) for arg in args], mode="left_to_right")
    if origin is Literal:
        return core.literal_schema(list(args))
    if origin is list:
        return core.list_schema(_schema(args[0]), strict=True)
    if origin is dict:
        return core.dict_schema(_schema(args[0]), _schema(args[1]), strict=True)
    return _SCALARS[hint]() if hint in _SCALARS else core.is_instance_schema(hint)


def _scalar(kind: str, **options: Any) -> Any:
    def make() -> CoreSchema:
        from pydantic_core import core_schema as core

        return cast("CoreSchema", getattr(core, f"{kind}_schema")(**options))

    return make


_SCALARS: dict[Any, Any] = {
    Any: _scalar("any"),
    str: _scalar("str", strict=True),
    int: _scalar("int", strict=True),
    float: _scalar("float", strict=True, allow_inf_nan=False),
    bool: _scalar("bool", strict=True),
}

_WORDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "True or False",
    "list_type": "a list",
    "dict_type": "a mapping",
}


def _explain(errors: list[ErrorDetails], given: Mapping[str, Any]) -> str:
    """Say it for the first option that does not fit, from the errors of every branch of its type."""
    name = str(errors[0]["loc"][0])
    mine = [error for error in errors if error["loc"][0] == name]
    misspelt = (str(error["loc"][-1]) for error in mine if error["type"] == "extra_forbidden")
    for word in misspelt:
        if word not in _keys_inside(name):
            return f"the option {name} has no {word!r}{did_you_mean(word, _keys_inside(name))}"
    # A key that another branch of the union knows says nothing.
    mine = [error for error in mine if error["type"] != "extra_forbidden"] or mine
    deepest = max(len(error["loc"]) for error in mine)
    value = next(error["input"] for error in mine if len(error["loc"]) == deepest)
    wanted = dict.fromkeys(_wanted(error) for error in mine if error["input"] is value)
    verb = "is" if value is given[name] else "holds"
    return f"the option {name} {verb} {value!r:.200}; it takes {' or '.join(wanted)}"


def _wanted(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return f"no {error['loc'][-1]!r} there"
    if kind == "missing":
        return f"a mapping with {error['loc'][-1]!r}"
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "is_instance_of":
        return f"an object of type {context['class']}"
    return _WORDS.get(kind, error["msg"])


@cache
def _keys_inside(option: str) -> frozenset[str]:
    found: set[str] = set()
    waiting: list[Any] = [get_type_hints(Options)[option]]
    while waiting:
        hint = waiting.pop()
        if is_typeddict(hint):
            found |= set(hint.__annotations__)
            waiting += get_type_hints(hint).values()
        waiting += get_args(hint) if get_origin(hint) is not Literal else ()
    return frozenset(found)

"""Which cases does an eval have, and what is each one's key?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any

from reeval.declare.options import is_text
from reeval.errors import DeclarationError
from reeval.schema.spec import CaseSpec

__all__ = ["build_cases"]


def build_cases(cases: Iterable[Any], name: str, key: str | Callable[[Any], str] | None) -> tuple[CaseSpec, ...]:
    """Return the cases with their keys; raise ``DeclarationError`` when there is none or two share a key.

    A key is ``key`` (a template like the name, or a function of the case), else the name filled with the case.
    It never comes from the position: an inserted case must not shift the history of the others.
    """
    values = _values(cases)
    template = name if key is None else key
    made = tuple(CaseSpec(key=_key(value, template), value=value) for value in values)
    first: dict[str, int] = {}
    for index, case in enumerate(made):
        if case.key in first:
            raise DeclarationError(
                f"the cases {first[case.key]} and {index} of {name!r} both have the key {case.key!r}; put what tells "
                "them apart into the name ({field}, or {} for a plain value), or give key="
            )
        first[case.key] = index
    return made


def _values(cases: Any) -> list[Any]:
    if isinstance(cases, str | bytes | Mapping) or not isinstance(cases, Iterable):
        raise DeclarationError(f"the cases are {type(cases).__name__}; give a list")
    values = list(cases)
    if not values:
        raise DeclarationError("there are no cases; an eval with none would check nothing")
    return values


def _key(value: Any, template: str | Callable[[Any], str]) -> str:
    key = _called(value, template) if callable(template) else _filled(value, template)
    if not is_text(key) or len(key) > 200:
        raise DeclarationError(f"the key of {value!r:.200} is {key!r:.300}; it takes a text of 1 to 200 characters")
    return key


def _called(value: Any, key: Callable[[Any], str]) -> str:
    try:
        return key(value)
    except Exception as error:
        raise DeclarationError(f"key= failed on {value!r:.200}: {type(error).__name__}: {error}") from error


def _filled(value: Any, template: str) -> str:
    try:
        return " ".join(_Filler().vformat(template, (value,), {}).split())
    except DeclarationError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise DeclarationError(f"the name {template!r} does not fit the case {value!r:.200}: {reason}") from error


class _Filler(Formatter):
    """Fills ``{field}`` from a mapping or an object's attribute, ``{}`` with the case itself."""

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:  # noqa: ARG002 - the base class's signature
        case = args[0]
        if isinstance(key, int):
            return case
        if key == "index":
            return _Nothing()
        if isinstance(case, Mapping) and key in case:
            return case[key]
        if not isinstance(case, Mapping) and hasattr(case, key):
            return getattr(case, key)
        raise DeclarationError(f"the name has {{{key}}}, but the case {case!r:.200} has no {key!r}")

    def parse(self, format_string: str) -> Any:
        try:
            yield from super().parse(format_string)
        except ValueError as error:
            raise DeclarationError(
                f"the name {format_string!r} is no template: {error}; write {{{{ for a brace"
            ) from None


class _Nothing:
    """What ``{index}`` adds to a key, whatever its format."""

    def __format__(self, spec: str) -> str:
        return ""

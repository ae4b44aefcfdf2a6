"""How is what is wrong with the config file said, with its line and what to write instead?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic_core import CoreSchema, ErrorDetails

from reeval.plan.nearest import hint
from reeval.plan.toml.lines import KeyPath

__all__ = ["dotted", "problems"]

At = Callable[..., str]
"""``reeval.config.toml:12`` of the keys that it is called with."""

_SHOWN = 80

_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "list_type": "a list",
    "too_short": "a list that is not empty",
    "dict_type": "a table",
    "typed_dict_type": "a table",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a text such as {pattern}",
}
_PATTERNS = {
    r"^[^=\x00]+$": "NAME, without =",
    r"^https?://[^\s]+$": "https://api.example.com/v1",
    r"^\d+ ?(d|kB|KB|MB|GB|TB)$": "'30d' or '2GB'",
}


def problems(
    errors: Sequence[ErrorDetails], form: CoreSchema, at: At, *, under: KeyPath = ()
) -> Iterator[tuple[str, str]]:
    """Yield place and text of each error that ``form`` found in the table that stands ``under`` these keys."""
    for error in errors:
        path, keys = _walk(error["loc"], form)
        yield at(*under, *path), _problem(error, (*under, *path), keys)


def _problem(error: ErrorDetails, path: KeyPath, keys: list[str]) -> str:
    if error["type"] == "extra_forbidden":
        return f"{dotted(path[:-1]) or 'the file'} has no key {path[-1]!r}; {hint(str(path[-1]), keys)}"
    if error["type"] == "missing":
        return f"{dotted(path[:-1])} needs {path[-1]!r}"
    if error["type"] == "value_error":
        text = str(error["ctx"]["error"])
        # The forms here say "it should be …" of the value; a harness kind says what it expects instead of the table.
        own = text.startswith("it ")
        return f"{dotted(path)} is {_shown(error['input'])}; {text}" if own else f"{dotted(path)}: expected {text}"
    return f"{dotted(path)} is {_shown(error['input'])}; it should be {_expected(error)}"


def dotted(path: KeyPath) -> str:
    """Return a key path as one would write it: ``environment.plain.setup[0].timeout``."""
    text = ""
    for key in path:
        text += f"[{key + 1}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _expected(error: ErrorDetails) -> str:
    context = dict(error.get("ctx", {}))
    if "pattern" in context:
        context["pattern"] = _PATTERNS.get(context["pattern"], context["pattern"])
    form = _EXPECTED.get(error["type"])
    return form.format(**context) if form else error["msg"]


def _shown(value: Any) -> str:
    text = "true" if value is True else "false" if value is False else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _walk(loc: tuple[int | str, ...], form: CoreSchema) -> tuple[KeyPath, list[str]]:
    """Split an error's location: the key path in the data, and the keys that the last table knows.

    A location also names the shape that a union took and ``[key]`` for a key itself; neither is in the data.
    """
    path: list[str | int] = []
    known: list[str] = []
    here: Any = form
    for step in loc:
        while here and here["type"] == "function-after":
            here = here["schema"]
        if step == "[key]":
            break
        kind = here["type"] if here else ""
        if kind == "tagged-union":
            here = here["choices"][step]
            continue
        path.append(step)
        known = list(here["fields"]) if kind == "typed-dict" else []
        here = _below(here, kind, step)
    return tuple(path), known


def _below(form: Any, kind: str, step: int | str) -> Any:
    if kind == "typed-dict":
        field = form["fields"].get(step)
        return field["schema"] if field else None
    return form.get("values_schema" if kind == "dict" else "items_schema") if form else None

"""Which functions may be the body of an eval, or of a group?"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from reeval.declare.drafts import EvalDraft
from reeval.errors import DeclarationError

__all__ = ["check_body", "check_group", "innermost", "refuse_same_body", "values_of"]


def check_body(body: Callable[..., Any], takes: Sequence[str]) -> CodeType:
    """Return the code of the innermost function; raise ``DeclarationError`` when this cannot be a body.

    ``takes`` names the arguments it will be called with.
    """
    inner = _function(body, "an eval body")
    _refuse_generator(body, inner)
    if inspect.iscoroutinefunction(inner) and not inspect.iscoroutinefunction(body):
        raise DeclarationError(
            f"the body {_name(body)} is async, but a decorator turned it into a plain function, which would never "
            "await it; make the wrapper 'async def'"
        )
    _check_arguments(body, takes)
    return inner.__code__


def check_group(function: Callable[..., Any]) -> None:
    """Raise ``DeclarationError`` when ``function`` cannot declare a group."""
    inner = _function(function, "a group")
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner):
        raise DeclarationError(f"the group {_name(function)} is 'async def'; a group only declares: make it 'def'")
    _refuse_generator(function, inner)
    _check_arguments(function, ())


def refuse_same_body(draft: EvalDraft, earlier: Sequence[EvalDraft]) -> None:
    """Raise ``DeclarationError`` when a loop declares one body again: all would run with the loop's last value.

    ``earlier`` are the evals with the same code.
    """
    for other in earlier:
        if _own(other.function) == _own(draft.function):
            raise DeclarationError(
                f"{draft.name!r} has the same body as {other.name!r} (line {other.line}): declared in a loop, each "
                "would run with the loop's last value; use @evaluate.each(cases, name), whose body is (c, case)"
            )


def innermost(function: Callable[..., Any]) -> Any:
    """Return what is below partials and ``functools.wraps``."""
    current: Any = function
    while True:
        if isinstance(current, functools.partial):
            current = current.func
        elif hasattr(current, "__wrapped__"):
            current = current.__wrapped__
        else:
            return current


def values_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the values that a function carries: closure cells, defaults and arguments of partials."""
    values: dict[str, Any] = {}
    current: Any = function
    while isinstance(current, functools.partial):
        values |= {f"argument {index}": value for index, value in enumerate(current.args)}
        values |= current.keywords
        current = current.func
    inner = innermost(current)
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
        values[name] = _content(cell)
    values |= {f"default {index}": value for index, value in enumerate(inner.__defaults__ or ())}
    return values | (inner.__kwdefaults__ or {})


def _own(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return what tells two bodies with one code apart: the identity of their cells, defaults and arguments."""
    inner = innermost(function)
    cells = tuple(id(cell) for cell in inner.__closure__ or ())
    others = values_of(function)
    return cells, tuple(id(value) for name, value in others.items() if name not in inner.__code__.co_freevars)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # named in the body, and not assigned yet
        return None


def _function(function: Any, role: str) -> FunctionType:
    inner = innermost(function)
    if isinstance(inner, FunctionType) and (isinstance(function, FunctionType | functools.partial)):
        return inner
    what = (
        f"the method {function.__qualname__}"
        if inspect.ismethod(function)
        else f"a value of type {type(function).__name__}"
    )
    raise DeclarationError(f"{role} is a function, 'def' or 'async def', and this is {what}; wrap it in a function")


def _refuse_generator(*functions: Callable[..., Any]) -> None:
    for function in functions:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise DeclarationError(f"{_name(function)} is a generator, so calling it runs nothing; take out its yield")


def _check_arguments(function: Callable[..., Any], takes: Sequence[str]) -> None:
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        signature.bind(*takes)
    except TypeError:
        wanted = f"({', '.join(takes)})"
        names = list(signature.parameters)
        hint = "; a method cannot be an eval" if names[:1] == ["self"] else ""
        raise DeclarationError(f"{_name(function)} takes ({', '.join(names)}), but must take {wanted}{hint}") from None


def _name(function: Any) -> str:
    return f"{getattr(innermost(function), '__name__', 'the body')}()"

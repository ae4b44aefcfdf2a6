"""``compare`` and ``questions``: what stands beside an eval or a group?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, get_args

from reeval.declare.drafts import Beside, collector
from reeval.errors import DeclarationError
from reeval.schema.environment import Environment
from reeval.schema.spec import CompareSpec, Question

__all__ = ["compare", "questions"]

Function = TypeVar("Function", bound=Callable[..., Any])
Gate = Literal["variants", "all", "none"]


def compare(
    *,
    variants: Sequence[Environment | str],
    baseline: Environment | str | None = None,
    gate: Gate = "variants",
    min_lift: float | None = None,
    harness: str | Sequence[str] | None = None,
) -> Callable[[Function], Function]:
    """Run the eval or group on each of ``variants`` and on ``baseline``, side by side.

    Without a ``baseline`` the control is the environment the eval would have had. ``min_lift``: -1 to 1.
    ``harness``: the only ones that are compared. Raises ``DeclarationError``.
    """
    spec = CompareSpec(
        variants=_sides(variants, baseline),
        baseline=baseline,
        gate=_gate(gate),
        min_lift=_lift(min_lift),
        harness=_names(harness),
    )

    def put(beside: Beside) -> None:
        if beside.compare is not None:
            raise DeclarationError("there are two @compare on one function; list all variants in one")
        beside.compare = spec

    return _standing(put)


def questions(*entries: Question | str) -> Callable[[Function], Function]:
    """Ask a model about each attempt, or across the sides of pairs; answers annotate and never decide.

    An eval's own list replaces its group's; ``@questions()`` clears it. Raises ``DeclarationError``.
    """
    asked = tuple(entry if isinstance(entry, Question) else Question(entry) for entry in entries)

    def put(beside: Beside) -> None:
        if beside.questions is not None:
            raise DeclarationError("there are two @questions on one function; list all entries in one")
        beside.questions = asked

    return _standing(put)


def _standing(put: Callable[[Beside], None]) -> Callable[[Function], Function]:
    into = collector()
    line = 0 if into is None else into.line()

    def decorate(function: Function) -> Function:
        if into is not None:
            put(into.beside(function, line))
        return function

    return decorate


def _sides(variants: Any, baseline: Any) -> tuple[Environment | str, ...]:
    if isinstance(variants, str | Environment) or not isinstance(variants, Sequence) or not variants:
        raise DeclarationError(f"compare has variants={_short(variants)}; give a list of at least one environment")
    sides = [*variants, *(() if baseline is None else (baseline,))]
    names = []
    for side in sides:
        if not isinstance(side, Environment | str):
            raise DeclarationError(
                f"compare has the side {_short(side)}; give an environment, or its name in the config"
            )
        names.append(side if isinstance(side, str) else side.name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DeclarationError(f"compare has the environment {twice!r} on two sides; name each side once")
    return tuple(variants)


def _gate(gate: Any) -> Gate:
    if gate not in get_args(Gate):
        raise DeclarationError(f"compare has gate={gate!r}; it takes 'variants', 'all' or 'none'")
    return gate  # type: ignore[no-any-return]  # one of the literals


def _lift(lift: Any) -> float | None:
    if lift is None:
        return None
    if isinstance(lift, bool) or not isinstance(lift, int | float) or not math.isfinite(lift) or not -1 <= lift <= 1:
        raise DeclarationError(f"compare has min_lift={lift!r}; it takes a number from -1 to 1")
    return float(lift)


def _names(harness: Any) -> tuple[str, ...] | None:
    if harness is None:
        return None
    names = (harness,) if isinstance(harness, str) else tuple(harness)
    if not names or not all(isinstance(name, str) for name in names):
        raise DeclarationError(f"compare has harness={harness!r}; give the names of harnesses")
    return names


def _short(value: object) -> str:
    return f"{value!r:.120}"

"""Which value does each option take for an eval, and where does it come from?

Options fold from the outside in: config → profile → outer group → inner group → eval. The nearest wins;
``env`` merges by name, ``judge`` and ``question`` by field and their ``state`` key by key, ``tags`` add, and a
harness list may ``add`` to the inherited one or keep ``only`` some of it. A profile's limit then narrows what
is not pinned, and flags win over everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reeval.plan.nearest import hint
from reeval.schema.options import Limit, Options

__all__ = ["DEFAULT", "Cascade", "Flags", "Layer", "narrowed", "start"]

DEFAULT = "default"
"""The source of a value that nobody set."""

_MERGED = frozenset({"env", "judge", "question"})


@dataclass(frozen=True, slots=True)
class Layer:
    """One level that sets options."""

    source: str
    """As shown: ``config``, ``profile ci``, ``group greetings``, ``eval``, ``--runs``."""
    place: Callable[[str], str]
    """Where an option of it stands: ``evals/greet.eval.py:12``."""
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line sets instead of the options."""

    harnesses: tuple[str, ...] = ()
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class Cascade:
    """The options as they are at one level, each with the layer it came from. Never changed, only pushed on."""

    values: Mapping[str, Any]
    """``harness`` and ``tags`` are tuples, ``env``, ``judge`` and ``question`` mappings; the rest as declared."""
    origins: Mapping[str, Layer] = field(default_factory=dict)
    """``runs``, ``env.TOKEN``, ``judge.state.diff`` → the layer that set it."""
    problems: tuple[str, ...] = ()

    def push(self, layer: Layer) -> Cascade:
        """Return these options with a nearer layer on top."""
        if not layer.options:
            return self
        values, origins, problems = dict(self.values), dict(self.origins), list(self.problems)
        for option, value in layer.options.items():
            if option == "harness":
                values[option] = _harness(values[option], value, layer, problems)
                origins[option] = layer
            elif option == "tags":
                values[option] = tuple(dict.fromkeys((*values[option], *_strings(value))))
                origins[option] = _both(origins.get(option), layer)
            elif option in _MERGED:
                values[option] = _merged(values[option], _fields(value), option, layer, origins)
            else:
                values[option] = value
                origins[option] = layer
        return Cascade(values=values, origins=origins, problems=tuple(problems))

    def get(self, option: str) -> Any:
        """Return the value of an option; None when nobody set it."""
        return self.values.get(option)

    def source(self, option: str) -> str:
        """Return where an option's value came from."""
        origin = self.origins.get(option)
        return origin.source if origin else DEFAULT

    def place(self, option: str, otherwise: str) -> str:
        """Return the file and line where an option was set; ``otherwise`` when nobody set it."""
        origin = self.origins.get(option)
        return origin.place(option) if origin else otherwise

    def set(self, option: str, value: Any, layer: Layer) -> Cascade:
        """Return these options with one of them replaced."""
        values, origins = {**self.values, option: value}, {**self.origins, option: layer}
        return replace(self, values=values, origins=origins)


def start(harnesses: Sequence[str]) -> Cascade:
    """Return the options before any layer: every configured harness, and nothing else."""
    return Cascade(values={"harness": tuple(harnesses), "tags": (), "env": {}, "judge": {}, "question": {}})


def narrowed(cascade: Cascade, limit: Limit, by: Layer | None, flags: Flags) -> tuple[Cascade, tuple[str, ...]]:
    """Apply a profile's ``limit`` and the flags; return what is left, and notes about pins that held."""
    notes: list[str] = []
    pinned = frozenset(cascade.get("pin") or ())
    if flags.harnesses:
        flag = Layer("--harness", lambda _: "--harness")
        cascade = cascade.set("harness", tuple(dict.fromkeys(flags.harnesses)), flag)
    elif by and "harness" in limit:
        allowed = limit["harness"]
        kept = tuple(name for name in cascade.get("harness") if name in allowed)
        if kept != cascade.get("harness"):
            cascade = _unless_pinned(cascade, "harness", kept, by, pinned, notes)
    if flags.runs is not None:
        cascade = cascade.set("runs", flags.runs, Layer("--runs", lambda _: "--runs"))
    elif by and "runs" in limit:
        fewer = fewer_runs(cascade.get("runs"), limit["runs"])
        if fewer != cascade.get("runs"):
            cascade = _unless_pinned(cascade, "runs", fewer, by, pinned, notes)
    return cascade, tuple(notes)


def fewer_runs(runs: Any, limit: int) -> Any:
    """Return ``runs`` with at most ``limit`` attempts. One run needs no rule for when to stop."""
    if runs is None or limit == 1:
        return limit
    if isinstance(runs, int):
        return min(runs, limit)
    return {rule: min(most, limit) for rule, most in runs.items()}


def _unless_pinned(
    cascade: Cascade, option: str, value: Any, by: Layer, pinned: frozenset[str], notes: list[str]
) -> Cascade:
    if option not in pinned:
        return cascade.set(option, value, by)
    notes.append(f"{option} is pinned: the limit of {by.source} does not hold here")
    return cascade


def _harness(inherited: tuple[str, ...], value: Any, layer: Layer, problems: list[str]) -> tuple[str, ...]:
    if not isinstance(value, Mapping):
        return tuple(dict.fromkeys(_strings(value)))
    if "add" in value:
        return tuple(dict.fromkeys((*inherited, *_strings(value["add"]))))
    only = _strings(value.get("only", ()))
    place = layer.place("harness")
    problems += [
        f"{place}: harness only={name!r} is not among the inherited harnesses; {hint(name, inherited)}"
        for name in only
        if name not in inherited
    ]
    return tuple(name for name in inherited if name in only)


def _strings(value: Any) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _fields(value: Any) -> Mapping[str, Any]:
    """Return a judge or question option as a mapping: a plain text is its model."""
    return {"model": value} if isinstance(value, str) else value


def _merged(
    inherited: Mapping[str, Any], value: Mapping[str, Any], path: str, layer: Layer, origins: dict[str, Layer]
) -> dict[str, Any]:
    merged = dict(inherited)
    for key, item in value.items():
        if key == "state" and path != "env":
            merged[key] = _merged(inherited.get(key, {}), item, f"{path}.{key}", layer, origins)
        else:
            merged[key] = item
            origins[f"{path}.{key}"] = layer
    return merged


def _both(outer: Layer | None, inner: Layer) -> Layer:
    return Layer(f"{outer.source}, {inner.source}", inner.place) if outer else inner

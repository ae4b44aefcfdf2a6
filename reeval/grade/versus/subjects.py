"""In what do two runs differ, beside their results? What was declared differently, in words.

The digest of a cell's subject says whether anything differs; the two plans say what, as far as it is declared there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from reeval.grade.versus.sides import Place, RunSide
from reeval.schema.environment import Environment, Skill, skill_key
from reeval.schema.plan import NO_ENVIRONMENT, PlannedEval

__all__ = ["differences"]

_SHOWN = 40
"""Characters of a value that is shown; a longer one only changed."""
_HARNESS = ("kind", "model", "effort")
_SANDBOX = ("kind", "isolated")
_MISSING = object()


@dataclass(frozen=True)
class _Pair:
    """Both runs, and where they are compared."""

    earlier: RunSide
    later: RunSide
    places: Sequence[Place]

    def changed(self, place: Place) -> bool:
        """Say whether the digests of what ran a cell are known and differ."""
        sides = [run.cells[place].attempts.subjects for run in (self.earlier, self.later)]
        return all(sides) and sides[0] != sides[1]


def differences(earlier: RunSide, later: RunSide, evals: Sequence[tuple[PlannedEval, Sequence[Place]]]) -> list[str]:
    """Return what differs in what ran the cells that are compared, a line each; empty: nothing that is recorded."""
    pair = _Pair(earlier, later, [place for _, places in evals for place in places])
    parts = {f"harness {id}": list(_harness(pair, id)) for id in _names(pair, "harness")}
    parts |= {f"environment {id}": list(_environment(pair, id)) for id in _names(pair, "environment")}
    parts |= {f"sandbox {id}": list(_sandbox(pair, id)) for id in _names(pair, "sandbox")}
    parts |= {planned.id: list(_eval(pair, planned)) for planned, _ in evals}
    parts |= _contents(pair, parts)
    lines = [f"{what}: {difference}" for what, found in parts.items() for difference in found]
    return [*lines, *_around(pair)]


def _names(pair: _Pair, factor: str) -> list[str]:
    found = dict.fromkeys(getattr(place, factor) for place in pair.places)
    return [name for name in found if name != NO_ENVIRONMENT or factor != "environment"]


# --- what is declared ---------------------------------------------------------------------------------


def _harness(pair: _Pair, id: str) -> Iterator[str]:
    old, new = pair.earlier.plan.harnesses.get(id), pair.later.plan.harnesses.get(id)
    if old is None or new is None:
        return
    for name in _HARNESS:
        yield from _change(name, getattr(old, name), getattr(new, name))
    yield from _options(old.options, new.options)
    if old.model != new.model:
        return
    served = [
        sorted({model for place in pair.places if place.harness == id for model in run.cells[place].models})
        for run in (pair.earlier, pair.later)
    ]
    if all(served) and served[0] != served[1]:
        yield from _change("model that served", *map(", ".join, served))


def _sandbox(pair: _Pair, id: str) -> Iterator[str]:
    old, new = pair.earlier.plan.sandboxes.get(id), pair.later.plan.sandboxes.get(id)
    if old is None or new is None:
        return
    for name in _SANDBOX:
        yield from _change(name, getattr(old, name), getattr(new, name))
    yield from _options(old.options, new.options)


def _options(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    plain = [{name: value for name, value in options.items() if name != "env"} for options in (old, new)]
    yield from _each("option", plain[0], plain[1])
    yield from _each("variable", old.get("env") or {}, new.get("env") or {}, values=False)


def _environment(pair: _Pair, id: str) -> Iterator[str]:
    old, new = (run.plan.environments.get(id) or Environment(name=id) for run in (pair.earlier, pair.later))
    yield from _change("workspace", old.workspace, new.workspace)
    yield from _change("rules", old.rules, new.rules)
    yield from _each("file", old.files, new.files)
    yield from _each("skill", _skills(old), _skills(new))
    yield from _change("setup", [step.run for step in old.setup], [step.run for step in new.setup])
    yield from _each("MCP server", old.mcp, new.mcp, values=False)
    yield from _each("variable", old.env, new.env, values=False)
    yield from _change("egress", old.egress, new.egress)


def _eval(pair: _Pair, planned: PlannedEval) -> Iterator[str]:
    old = next(one for one in pair.earlier.plan.evals if one.id == planned.id)
    yield from _each("variable", old.env, planned.env, values=False)
    yield from _change("egress", old.egress, planned.egress)


def _skills(environment: Environment) -> dict[str, Skill]:
    return {skill_key(skill): skill for skill in environment.skills}


# --- what is not declared -----------------------------------------------------------------------------


def _contents(pair: _Pair, parts: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return what only the digests tell: cells whose subject changed though nothing that they name did."""
    silent = [place for place in pair.places if pair.changed(place) and not _declared(place, parts)]
    found: dict[str, list[str]] = {}
    for place in silent:
        if place.environment == NO_ENVIRONMENT:
            found[f"harness {place.harness}"] = ["the files that it is made of changed"]
        else:
            what = f"environment {place.environment} with harness {place.harness}"
            found[what] = ["declared alike, but the files of one of them changed"]
    return found


def _declared(place: Place, parts: Mapping[str, list[str]]) -> bool:
    names = f"harness {place.harness}", f"environment {place.environment}", f"sandbox {place.sandbox}", place.eval
    return any(parts.get(name) for name in names)


def _around(pair: _Pair) -> Iterator[str]:
    """Yield what surrounds every attempt, and is in no digest."""
    old, new = pair.earlier.record, pair.later.record
    yield from _change("reeval", old.reeval_version, new.reeval_version)
    yield from _change("Python", old.python_version, new.python_version)
    yield from _change("platform", old.platform, new.platform)
    yield from _change("host", old.host, new.host)


# --- words --------------------------------------------------------------------------------------------


def _each(what: str, old: Mapping[str, Any], new: Mapping[str, Any], *, values: bool = True) -> Iterator[str]:
    """Yield the entries of two mappings that differ; ``values`` that may be secret are not shown."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name, _MISSING), new.get(name, _MISSING)
        if after is _MISSING:
            yield f"{what} {name} is gone"
        elif before is _MISSING:
            yield f"{what} {name} is new"
        elif values:
            yield from _change(f"{what} {name}", before, after)
        elif before != after:
            yield f"{what} {name} changed"


def _change(what: str, old: Any, new: Any) -> Iterator[str]:
    if old == new:
        return
    before, after = _shown(old), _shown(new)
    yield f"{what} changed" if before is None or after is None else f"{what} {before} → {after}"


def _shown(value: Any) -> str | None:
    """Return a short value as it is read; None for one that is too long, or has parts of its own."""
    if value is None:
        return "none"
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(asdict(value) if is_dataclass(value) else value, ensure_ascii=False, default=str)  # type: ignore[arg-type] # no class is declared
    return text if 0 < len(text) <= _SHOWN and text.isprintable() and not is_dataclass(value) else None

"""Which evals do the files declare, each with the options it inherits?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reeval.plan.cascade import Cascade, Layer
from reeval.schema.options import Options
from reeval.schema.spec import CompareSpec, Declared, EvalKind, EvalSpec, FileSpec, GroupSpec, Question, TodoSpec

__all__ = ["Candidate", "DataDefaults", "candidates", "mixed_groups"]


@dataclass(frozen=True, slots=True)
class DataDefaults:
    """What the config gives to every data question."""

    cascade: Cascade
    compare: CompareSpec | None = None
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class _Inherited:
    """What a group gives to everything inside it."""

    file: str
    path: tuple[str, ...]
    cascade: Cascade
    compare: CompareSpec | None = None
    questions: tuple[Question, ...] = ()
    skip: bool = False
    skip_reason: str | None = None
    only: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One declared eval, or one still to write, before anything is selected."""

    id: str
    file: str
    path: tuple[str, ...]
    spec: EvalSpec | TodoSpec
    cascade: Cascade
    compare: CompareSpec | None
    questions: tuple[Question, ...]
    mode: Literal["run", "skip", "todo"]
    skip_reason: str | None
    only: bool

    @property
    def kind(self) -> EvalKind | None:
        """Its kind; None for an eval still to write."""
        return None if isinstance(self.spec, TodoSpec) else self.spec.kind

    @property
    def where(self) -> str:
        """Its file and line."""
        return f"{self.file}:{self.spec.line}"

    @property
    def tags(self) -> tuple[str, ...]:
        """Its own and its groups' tags."""
        tags: tuple[str, ...] = self.cascade.values["tags"]
        return tags


def candidates(files: Sequence[FileSpec], outermost: Cascade, data: DataDefaults | None = None) -> Iterator[Candidate]:
    """Yield every eval of the files, in their order; ``outermost`` holds the options of config and profile.

    Data questions inherit ``data`` instead, where it is given.
    """
    for file in files:
        above = _Inherited(file.path, (), outermost)
        if data and file.asks:
            above = _Inherited(file.path, (), data.cascade, data.compare, data.questions)
        yield from _inside(file.children, above)


def mixed_groups(files: Sequence[FileSpec]) -> list[str]:
    """Return a line for each outermost group that declares evals of both kinds."""
    found: list[str] = []
    for file in files:
        for group in _groups(file.children):
            kinds = {kind for kind, _ in _declared(group)}
            if len(kinds) > 1:
                names = "; ".join(f"{kind}: {', '.join(_names(group, kind))}" for kind in sorted(kinds))
                found.append(
                    f"{file.path}:{group.line}: group {group.name!r} declares evals of both kinds ({names}); "
                    "a group holds one kind, so make two groups"
                )
    return found


def _inside(children: Sequence[Declared], above: _Inherited) -> Iterator[Candidate]:
    for child in children:
        if isinstance(child, GroupSpec):
            yield from _inside(child.children, _entered(child, above))
        else:
            yield _candidate(child, above)


def _entered(group: GroupSpec, above: _Inherited) -> _Inherited:
    place = f"{above.file}:{group.line}"
    skipped = group.mode == "skip"
    return _Inherited(
        file=above.file,
        path=(*above.path, group.name),
        cascade=_pushed(above.cascade, f"group {group.name}", place, group.options),
        compare=group.compare or above.compare,
        questions=above.questions if group.questions is None else group.questions,
        skip=above.skip or skipped,
        skip_reason=group.skip_reason if skipped and not above.skip else above.skip_reason,
        only=above.only or group.mode == "only",
    )


def _candidate(spec: EvalSpec | TodoSpec, above: _Inherited) -> Candidate:
    path = (*above.path, spec.name)
    cascade, compare, questions = above.cascade, above.compare, above.questions
    mode: Literal["run", "skip", "todo"] = "todo"
    reason, only = None, above.only
    if isinstance(spec, EvalSpec):
        cascade = _pushed(cascade, "eval", f"{above.file}:{spec.line}", spec.options)
        compare = spec.compare or compare
        questions = questions if spec.questions is None else spec.questions
        skip = above.skip or spec.mode == "skip"
        mode = "skip" if skip else "run"
        reason = (above.skip_reason if above.skip else spec.skip_reason) if skip else None
        only = only or spec.mode == "only"
    return Candidate(
        _id(spec, above.file, path), above.file, path, spec, cascade, compare, questions, mode, reason, only
    )


def _id(spec: EvalSpec | TodoSpec, file: str, path: tuple[str, ...]) -> str:
    if isinstance(spec, EvalSpec) and spec.data:
        return spec.data.id
    return "::".join((file, *path))


def _pushed(cascade: Cascade, source: str, place: str, options: Options) -> Cascade:
    return cascade.push(Layer(source, lambda _: place, options)) if options else cascade


def _groups(children: Sequence[Declared]) -> Iterator[GroupSpec]:
    return (child for child in children if isinstance(child, GroupSpec))


def _declared(group: GroupSpec) -> Iterator[tuple[EvalKind, str]]:
    for child in group.children:
        if isinstance(child, GroupSpec):
            yield from _declared(child)
        elif isinstance(child, EvalSpec):
            yield child.kind, child.name


def _names(group: GroupSpec, kind: EvalKind) -> list[str]:
    names = [repr(name) for found, name in _declared(group) if found == kind]
    return names if len(names) <= 3 else [*names[:3], f"{len(names) - 3} more"]

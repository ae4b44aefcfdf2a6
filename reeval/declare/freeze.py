"""What has a file declared, now that it has ended? Drafts become specs that nothing changes any more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from reeval.declare.drafts import Collector, Draft, EvalDraft, GroupDraft, TodoDraft
from reeval.declare.words.judges import judge_models
from reeval.errors import DeclarationError
from reeval.schema.spec import Declared, EvalSpec, FileSpec, GroupSpec, TodoSpec

__all__ = ["freeze"]


def freeze(into: Collector, task: Callable[[EvalDraft], str]) -> FileSpec:
    """Return the file's specs; raise one ``DeclarationError`` with every problem that shows only at its end."""
    problems = [*_left_over(into), *_repeated(into.children, ()), *_only_in_ci(into.children)]
    if problems:
        lines = (f"{into.path}:{line}: {text}" for line, text in sorted(problems))
        raise DeclarationError("\n".join(lines))
    return FileSpec(path=into.path, children=_specs(into.children, task))


def _specs(children: Sequence[TodoDraft], task: Callable[[EvalDraft], str]) -> tuple[Declared, ...]:
    return tuple(_spec(child, task) for child in children)


def _spec(child: TodoDraft, task: Callable[[EvalDraft], str]) -> Declared:
    if isinstance(child, GroupDraft):
        return GroupSpec(
            name=child.name,
            line=child.line,
            options=child.options,
            children=_specs(child.children, task),
            description=child.description,
            mode=child.mode,
            skip_reason=child.skip_reason,
            compare=child.beside.compare,
            questions=child.beside.questions,
        )
    if not isinstance(child, EvalDraft):
        return TodoSpec(name=child.name, line=child.line)
    return EvalSpec(
        name=child.name,
        kind=child.kind,
        body=child.function,
        blocking=child.blocking,
        line=child.line,
        options=child.options,
        description=child.description,
        mode=child.mode,
        skip_reason=child.skip_reason,
        cases=child.cases,
        compare=child.beside.compare,
        questions=child.beside.questions,
        task=task(child),
        judge_models=judge_models(child.function),
    )


def _left_over(into: Collector) -> Iterator[tuple[int, str]]:
    for beside in into.left_over():
        word = "@compare" if beside.compare is not None else "@questions"
        name = getattr(beside.function, "__name__", "a function")
        text = f"{word} is on {name}(), which declares nothing; put it directly above or below @evaluate or @group"
        yield beside.line, f"{text} (other decorators go below both)"


def _repeated(children: Sequence[TodoDraft], path: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    first: dict[str, int] = {}
    for child in children:
        here = (*path, child.name)
        if child.name in first:
            text = f"{' › '.join(here)} is declared twice, first in line {first[child.name]}"
            yield child.line, f"{text}; the path is an eval's identity: give each its own name"
        first.setdefault(child.name, child.line)
        if isinstance(child, GroupDraft):
            yield from _repeated(child.children, here)


def _only_in_ci(children: Sequence[TodoDraft]) -> Iterator[tuple[int, str]]:
    if os.environ.get("CI", "").lower() in {"", "0", "false"}:
        return
    for child in _walk(children):
        if child.mode == "only":
            yield child.line, f"{child.name!r} has 'only', and CI is set: the rest would not run; take it out"


def _walk(children: Sequence[TodoDraft]) -> Iterator[Draft]:
    for child in children:
        if isinstance(child, Draft):
            yield child
        if isinstance(child, GroupDraft):
            yield from _walk(child.children)

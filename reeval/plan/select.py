"""Which evals were asked for?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from reeval.errors import SelectionError
from reeval.plan.config import CONFIG_NAME, Config, ProfileSelect
from reeval.plan.expand.candidates import Candidate
from reeval.plan.keyword import compile_keyword
from reeval.plan.nearest import hint, nearest
from reeval.schema.plan import Selection
from reeval.schema.spec import EvalKind

__all__ = ["MixedKindsError", "Selected", "files_of", "holds", "project_path", "select"]

_SHOWN = 20
_KINDS: tuple[EvalKind, ...] = get_args(EvalKind)


class MixedKindsError(SelectionError):
    """A selection holds evals of both kinds, and nothing says which a run is to have."""


@dataclass(frozen=True, kw_only=True)
class Selected:
    """What a selection comes to: evals of one kind, in the order they were declared."""

    evals: tuple[Candidate, ...]
    kind: EvalKind
    left_out: int = 0
    """Evals of the other kind."""
    notes: tuple[str, ...] = ()


def project_path(argument: str, cwd: Path, root: Path) -> str:
    """Return a ``PATH[::NAME]`` typed in ``cwd`` as it stands in ids: from the project's root, with ``/``.

    A path that is not there from ``cwd`` may be one that was copied from an id.
    """
    path, separator, name = argument.partition("::")
    there = (cwd / path).exists() or not (root / path).exists()
    absolute = ((cwd if there else root) / path).resolve()
    try:
        relative = absolute.relative_to(root.resolve()).as_posix()
    except ValueError:
        raise SelectionError(f"{argument!r} is outside the project in {root}; give a path inside it") from None
    return relative + separator + name


def files_of(paths: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return the eval files in which ``paths`` (``PATH[::NAME]``, none: everywhere) can find something.

    Raises ``SelectionError`` for a path that has no eval file.
    """
    wanted = [path.partition("::")[0] for path in paths]
    for path in wanted:
        if not any(holds(path, file) for file in files):
            raise SelectionError(f"no eval file is at {path!r}; {hint(path, _places(files))}")
    return tuple(file for file in files if not wanted or any(holds(path, file) for path in wanted))


def select(candidates: Sequence[Candidate], selection: Selection, config: Config) -> Selected:
    """Return the evals that ``selection`` and its profile ask for.

    Raises ``SelectionError`` when they are none, ``MixedKindsError`` when both kinds are there and nothing chooses.
    """
    profile = config.profiles[selection.profile].select if selection.profile else ProfileSelect()
    asked = Selection(
        paths=selection.paths or profile.paths,
        tags=selection.tags or profile.tags,
        kind=selection.kind or profile.kind,
        keyword=selection.keyword,
        evals=selection.evals,
    )
    chosen = _filtered(candidates, asked, config)
    notes: list[str] = []
    if any(candidate.only for candidate in chosen):
        alone = [candidate for candidate in chosen if candidate.only]
        if left := len(chosen) - len(alone):
            notes.append(f"only: {left} other eval{'s are' if left > 1 else ' is'} left out")
        chosen = alone
    kind = _kind(chosen, asked.kind, config.kind)
    evals = tuple(candidate for candidate in chosen if candidate.kind in (kind, None))
    if chosen and not any(candidate.kind for candidate in evals) and any(candidate.kind for candidate in chosen):
        raise SelectionError(f"no {kind} eval is selected; there are only {_listed(chosen)}")
    return Selected(evals=evals, kind=kind, left_out=len(chosen) - len(evals), notes=tuple(notes))


# --- filters ------------------------------------------------------------------------------------------


def _filtered(candidates: Sequence[Candidate], asked: Selection, config: Config) -> list[Candidate]:
    if not candidates:
        globs = ", ".join(map(repr, config.evals))
        raise SelectionError(
            f"no evals are declared in {globs} ({CONFIG_NAME}, evals); `reeval init` writes a first one"
        )
    chosen = list(candidates)
    for text, keeps, there in _filters(candidates, asked):
        chosen = [candidate for candidate in chosen if keeps(candidate)]
        if not chosen:
            raise SelectionError(f"{text}; {there()}")
    return chosen


_Filter = tuple[str, Callable[[Candidate], bool], Callable[[], str]]
"""What to say when nothing is left, the test, and what there is instead."""


def _filters(candidates: Sequence[Candidate], asked: Selection) -> Iterable[_Filter]:
    for path in asked.paths:
        if not any(_finds(path, candidate) for candidate in candidates):
            raise SelectionError(f"no eval is at {path!r}; {_near_path(path, candidates)}")
    if asked.paths:
        yield (
            f"no eval is at {_or(asked.paths)}",
            lambda candidate: any(_finds(path, candidate) for path in asked.paths),
            lambda: _there(candidates),
        )
    if asked.evals:
        exact = frozenset(asked.evals)
        yield (
            f"none of the {len(exact)} evals that were asked for by id is declared",
            lambda candidate: candidate.id in exact,
            lambda: _there(candidates),
        )
    if asked.tags:
        wanted = frozenset(asked.tags)
        yield (
            f"no eval that is selected has the tag {_or(asked.tags)}",
            lambda candidate: not wanted.isdisjoint(candidate.tags),
            lambda: _tags(asked.tags, candidates),
        )
    if asked.keyword is not None:
        matches = compile_keyword(asked.keyword)
        yield (
            f"no eval that is selected matches -k {asked.keyword!r}",
            lambda candidate: matches("\n".join((candidate.file, candidate.id, *candidate.tags)).casefold()),
            lambda: _there(candidates),
        )


def holds(path: str, file: str) -> bool:
    """Say whether ``path`` is the file, or a folder above it."""
    return path in {".", file} or file.startswith(f"{path.rstrip('/')}/")


def _finds(path: str, candidate: Candidate) -> bool:
    if path == candidate.id:
        return True
    whole = "::".join((candidate.file, *candidate.path))  # a data question's id does not name its file
    if path == whole or whole.startswith(f"{path}::"):
        return True
    return "::" not in path and holds(path, candidate.file)


def _near_path(path: str, candidates: Sequence[Candidate]) -> str:
    file, separator, _ = path.partition("::")
    inside = [candidate for candidate in candidates if candidate.file == file]
    if not (separator and inside):
        return hint(file, _places(candidate.file for candidate in candidates))
    names = {
        "::".join((file, *candidate.path[:end])) for candidate in inside for end in range(1, len(candidate.path) + 1)
    }
    meant = nearest(path, names)
    return f"did you mean {meant!r}?" if meant else f"{file} has {_some(sorted(names))}"


def _places(files: Iterable[str]) -> set[str]:
    """Return the files and every folder above them."""
    return {place for file in files for place in (file, *(str(folder) for folder in Path(file).parents))} - {"."}


def _tags(asked: Sequence[str], candidates: Sequence[Candidate]) -> str:
    known = {tag for candidate in candidates for tag in candidate.tags}
    return hint(asked[0], known) if known else "no eval has a tag"


def _there(candidates: Sequence[Candidate]) -> str:
    files = Counter(candidate.file for candidate in candidates)
    counts = [f"{file} ({count})" for file, count in files.items()]
    return f"there {'is' if len(candidates) == 1 else 'are'} {_plural(len(candidates), 'eval')} in {_some(counts)}"


# --- one kind -----------------------------------------------------------------------------------------


def _kind(chosen: Sequence[Candidate], asked: EvalKind | None, configured: EvalKind | None) -> EvalKind:
    kinds = {candidate.kind for candidate in chosen if candidate.kind}
    if asked:
        return asked
    if len(kinds) == 1:
        return kinds.pop()
    if not kinds or configured:
        return configured or _KINDS[0]
    raise MixedKindsError(
        "a run holds evals of one kind, and this selection has both:\n"
        + "".join(f"  {kind}: {_some(_ids(chosen, kind))}\n" for kind in _KINDS)
        + f'choose with --kind {_KINDS[0]} or --kind {_KINDS[1]}, a path, or kind = "{_KINDS[0]}" in {CONFIG_NAME}'
    )


def _ids(chosen: Sequence[Candidate], kind: EvalKind) -> list[str]:
    return [candidate.id for candidate in chosen if candidate.kind == kind]


def _listed(chosen: Sequence[Candidate]) -> str:
    return "; ".join(f"{kind}: {_some(ids)}" for kind in _KINDS if (ids := _ids(chosen, kind)))


# --- words --------------------------------------------------------------------------------------------


def _some(items: Sequence[str]) -> str:
    shown = ", ".join(items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"


def _or(items: Sequence[str]) -> str:
    return " or ".join(map(repr, items))


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"

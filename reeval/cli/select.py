"""Which eval files and which selection do a command's arguments mean?"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reeval.cli.project import Project
from reeval.errors import DeclarationError, SelectionError, UsageError

if TYPE_CHECKING:
    from reeval.plan.config import DataSettings
    from reeval.plan.parts.standby import Standby
    from reeval.schema.data.questions import PlannedDatabase
    from reeval.schema.plan import Plan, Selection
    from reeval.schema.spec import FileSpec

__all__ = ["Collected", "collect", "make_plan", "plan_of", "typed_paths", "typed_selection"]


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What the files that a selection means declare."""

    files: tuple[FileSpec, ...]
    unresolved: tuple[str, ...] = ()
    """A line for each data question whose certified query is not there."""


def typed_selection(
    project: Project,
    paths: Sequence[str] | None,
    tags: Sequence[str] | None,
    harnesses: Sequence[str] | None,
    last_failed: bool,
) -> Selection:
    """Return the selection that the flags of ``reeval run`` mean whose values are not taken as they are."""
    from reeval.schema.plan import Selection

    return Selection(
        paths=typed_paths(project, paths),
        tags=tuple(tags or ()),
        harnesses=_harnesses(project, harnesses or ()),
        evals=_failed_evals(project) if last_failed else (),
    )


def typed_paths(project: Project, paths: Sequence[str] | None) -> tuple[str, ...]:
    """Return ``PATH[::NAME]`` arguments, typed from the current directory, as they stand in ids."""
    from reeval.plan.select import project_path

    def typed(path: str) -> str:
        meant = project_path(path, Path.cwd(), project.root)
        there = meant == path or (project.root / meant.partition("::")[0]).exists()
        # From a folder below the root, what is no file may be a data question's id.
        return meant if there or path not in _ids(_questions(project, _question_files(project))) else path

    return tuple(map(typed, paths or ()))


def collect(project: Project, paths: Sequence[str] = ()) -> Collected:
    """Load the eval files and question files in which ``paths`` can find something; none: all of them.

    Raises ``DeclarationError`` with everything that does not load.
    """
    from reeval.declare.loader import find_eval_files, load_files
    from reeval.plan.select import files_of

    root = project.root
    evals, asked = find_eval_files(root, project.config.evals), _question_files(project)
    ids, every = _question_ids(project, paths, (*evals, *asked), asked)
    wanted = [path for path in paths if path not in ids]
    chosen = files_of(wanted, (*evals, *asked)) if wanted or not ids else ()
    problems: list[str] = []
    with redirect_stdout(sys.stderr):  # What a file prints as it is loaded is no part of any answer, such as JSON.
        files = _loaded(lambda: load_files(root, [path for path in evals if path in chosen]), problems)
    # An id is looked for in every file.
    questions = every if ids else _loaded(lambda: _questions(project, [p for p in asked if p in chosen]), problems)
    if files is None or questions is None:
        raise DeclarationError("\n\n".join(problems))
    return Collected(files=(*files, *questions.files), unresolved=questions.unresolved)


def make_plan(project: Project, selection: Selection) -> Plan:
    """Return the plan of a selection."""
    collected = collect(project, selection.paths)
    if selection.vs_branch is None:
        return plan_of(project, collected, selection)
    asking = tuple(file for file in collected.files if file.asks)
    if not asking:
        raise SelectionError("--vs-branch compares data questions, and none are selected; select some, or leave it out")
    plan = plan_of(project, Collected(files=asking), selection)
    ours = selection.branch or "the checkout"
    note = (
        f"branches: {ours} is compared with {selection.vs_branch}; the questions, the config and the agent's program "
    )
    note += f"are those of {ours} on both sides"
    return dataclasses.replace(plan, notes=(*plan.notes, note))


def plan_of(project: Project, collected: Collected, selection: Selection) -> Plan:
    """Return the plan of a selection from what its files declare."""
    import os

    from reeval.plan.build import build_plan

    def database(data: DataSettings, place: str) -> PlannedDatabase:
        from reeval.databases.urls import plan_database

        options = {"statement_timeout": data.statement_timeout, "max_rows": data.max_rows, "target": data.target}
        return plan_database(str(data.database), project.store.root, os.environ, place=place, options=options)

    standby = _standby(os.environ) if any(file.asks for file in collected.files) else None
    return build_plan(collected.files, project.config, selection, project.catalog, database, standby)


def _standby(environ: Mapping[str, str]) -> Standby:
    """Return which models may answer data questions where no harness is configured."""
    from reeval.models.checks import key_variable
    from reeval.models.standby import STANDBY_MODELS
    from reeval.plan.parts.standby import Standby

    return Standby(models=STANDBY_MODELS, key_variable=lambda planned: key_variable(planned, environ))


def _harnesses(project: Project, names: Sequence[str]) -> tuple[str, ...]:
    """Return the harnesses that replace the configured ones; ``auto`` means those, unless one is called so."""
    return tuple(name for name in names if name != "auto" or name in project.config.harnesses)


# --- data questions -----------------------------------------------------------------------------------


T = TypeVar("T")


def _loaded(load: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return load()
    except DeclarationError as error:
        problems.append(str(error))
        return None


def _question_files(project: Project) -> tuple[str, ...]:
    """Return the question files; where there is no folder for them, nothing is imported."""
    folder = project.config.data.folder
    if not (project.root / folder).is_dir():
        return ()
    from reeval.declare.data.questions import find_question_files

    return find_question_files(project.root, folder)


def _questions(project: Project, files: Sequence[str]) -> Collected:
    if not files:
        return Collected(files=())
    from reeval.declare.data.questions import load_questions

    questions = load_questions(project.root, project.config.data.folder, files)
    return Collected(files=questions.files, unresolved=questions.unresolved)


def _ids(questions: Collected) -> set[str]:
    from reeval.schema.spec import EvalSpec

    specs = (spec for file in questions.files for spec in file.children)
    return {spec.data.id for spec in specs if isinstance(spec, EvalSpec) and spec.data}


def _question_ids(
    project: Project, paths: Sequence[str], files: Sequence[str], asked: Sequence[str]
) -> tuple[set[str], Collected]:
    """Return the ``paths`` that name a data question by its id, and all questions where a path may be one."""
    from reeval.plan.nearest import nearest
    from reeval.plan.select import holds

    unknown = {path for path in paths if not any(holds(path.partition("::")[0], file) for file in files)}
    every = _questions(project, asked if unknown else ())
    ids = _ids(every)
    for path in sorted(unknown - ids):
        if path.partition("/")[0] in {id.partition("/")[0] for id in ids} and (meant := nearest(path, ids)):
            raise SelectionError(f"there is no data question {path!r}; did you mean {meant!r}?")
    return unknown & ids, every


def _failed_evals(project: Project) -> tuple[str, ...]:
    """Return the ids of the evals of the last run of which a gate does not hold or is undecided."""
    from reeval.record.compile import load_record
    from reeval.report.screen.evidence import is_open

    record = load_record(project.store.find("last"))
    failed = tuple(one.id for one in record.evals if is_open(one))
    if not failed:
        raise UsageError(f"--last-failed: nothing failed in run {record.run_id}; leave it out to run everything")
    return failed

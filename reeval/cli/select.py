"""Which eval files and which selection do a command's arguments mean?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.cli.project import Project
from reeval.errors import UsageError

if TYPE_CHECKING:
    from reeval.schema.plan import Plan, Selection
    from reeval.schema.spec import EvalKind, FileSpec

__all__ = ["collect", "make_plan", "typed_paths", "typed_selection"]


def typed_selection(
    project: Project,
    paths: Sequence[str] | None,
    tags: Sequence[str] | None,
    harnesses: Sequence[str] | None,
    last_failed: bool,
    *,
    keyword: str | None,
    kind: EvalKind | None,
    runs: int | None,
    profile: str | None,
) -> Selection:
    """Return the selection that the flags of ``reeval run`` mean."""
    from reeval.schema.plan import Selection

    return Selection(
        paths=typed_paths(project, paths),
        keyword=keyword,
        tags=tuple(tags or ()),
        kind=kind,
        harnesses=tuple(harnesses or ()),
        runs=runs,
        profile=profile,
        evals=_failed_evals(project) if last_failed else (),
    )


def typed_paths(project: Project, paths: Sequence[str] | None) -> tuple[str, ...]:
    """Return ``PATH[::NAME]`` arguments, typed from the current directory, as they stand in ids."""
    from reeval.plan.select import project_path

    return tuple(project_path(path, Path.cwd(), project.root) for path in paths or ())


def collect(project: Project, paths: Sequence[str] = ()) -> tuple[FileSpec, ...]:
    """Load the eval files in which ``paths`` can find something; none: every eval file.

    Raises ``DeclarationError`` with every file that does not load.
    """
    from reeval.declare.loader import find_eval_files, load_files
    from reeval.plan.select import files_of

    found = find_eval_files(project.root, project.config.evals)
    with redirect_stdout(sys.stderr):  # What a file prints as it is loaded is no part of any answer, such as JSON.
        return load_files(project.root, files_of(paths, found) if paths else found)


def make_plan(project: Project, selection: Selection) -> Plan:
    """Return the plan of a selection."""
    from reeval.plan.build import build_plan

    return build_plan(collect(project, selection.paths), project.config, selection, project.catalog)


def _failed_evals(project: Project) -> tuple[str, ...]:
    """Return the ids of the evals of the last run of which a gate does not hold or is undecided."""
    from reeval.record.compile import load_record
    from reeval.report.screen.evidence import is_open

    record = load_record(project.store.find("last"))
    failed = tuple(one.id for one in record.evals if is_open(one))
    if not failed:
        raise UsageError(f"--last-failed: nothing failed in run {record.run_id}; leave it out to run everything")
    return failed

"""``reeval check``: does everything that is declared add up? Nothing is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.arguments import Kind, Paths, Profile
from reeval.cli.output import guarded, make_page, print_lines
from reeval.errors import PlanError

if TYPE_CHECKING:
    from reeval.cli.project import Project
    from reeval.schema.plan import Plan
    from reeval.schema.spec import EvalKind

__all__ = ["check"]

_KINDS: tuple[EvalKind, ...] = ("pass-fail", "scored")
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


@dataclass(frozen=True, kw_only=True)
class _FileCount:
    file: str
    kind: str
    evals: int
    attempts: int
    not_run: int
    """Skipped and still to write."""


@guarded
def check(paths: Paths = None, kind: Kind = None, profile: Profile = None, as_json: Json = False) -> None:
    """Import every eval file and plan everything, as a run would; start nothing. For CI and editors.

    \b
    reeval check
    reeval check evals/greet.eval.py
    reeval check --kind scored --json

    Exit code 2 says that something is wrong; every problem is on stderr, with its file and line.
    """
    from reeval.cli.project import open_project

    plans = _plans(open_project(), paths, kind, profile)
    counts = _counts(plans)
    notes = [note for plan in plans for note in _notes(plan)]
    print_lines([_as_json(counts, notes)] if as_json else _lines(counts, notes))


def _plans(project: Project, paths: list[str] | None, kind: EvalKind | None, profile: str | None) -> list[Plan]:
    """Plan the selection; and the other kind as well, where only the config's ``kind`` left it out.

    A mixed selection is refused as a run refuses it, together with what else is wrong in either kind.
    """
    from reeval.cli.select import collect, typed_paths
    from reeval.plan.build import build_plan
    from reeval.plan.select import MixedKindsError
    from reeval.schema.plan import Selection

    typed = typed_paths(project, paths)
    files = collect(project, typed)

    def plan(kind: EvalKind | None) -> Plan:
        return build_plan(files, project.config, Selection(paths=typed, kind=kind, profile=profile), project.catalog)

    try:
        first = plan(kind)
    except MixedKindsError as error:
        raise PlanError("\n".join([*_problems(plan), str(error)])) from None
    if not first.left_out or kind is not None:
        return [first]
    return [first, plan("scored" if first.kind == "pass-fail" else "pass-fail")]


def _problems(plan: Callable[[EvalKind], Plan]) -> list[str]:
    """Plan each kind and return the lines of what is wrong, each once."""
    problems: dict[str, None] = {}
    for kind in _KINDS:
        try:
            plan(kind)
        except PlanError as error:
            problems |= dict.fromkeys(str(error).splitlines())
    return list(problems)


def _counts(plans: list[Plan]) -> list[_FileCount]:
    counts: dict[tuple[str, str], list[int]] = {}
    for plan in plans:
        for planned in plan.evals:
            row = counts.setdefault((planned.file, planned.kind), [0, 0, 0])
            row[0] += planned.mode == "run"
            row[1] += planned.attempts
            row[2] += planned.mode != "run"
    return [
        _FileCount(file=file, kind=kind, evals=row[0], attempts=row[1], not_run=row[2])
        for (file, kind), row in sorted(counts.items())
    ]


def _notes(plan: Plan) -> list[str]:
    return [*plan.notes, *(f"{planned.title}: {note}" for planned in plan.evals for note in planned.notes)]


def _as_json(counts: list[_FileCount], notes: list[str]) -> str:
    import json

    data = {
        "files": [asdict(row) for row in counts],
        "evals": sum(row.evals for row in counts),
        "attempts": sum(row.attempts for row in counts),
        "notes": notes,
    }
    return json.dumps(data, ensure_ascii=False)


def _lines(counts: list[_FileCount], notes: list[str]) -> list[str]:
    import sys

    from reeval.report.screen.numbers import plural
    from reeval.report.screen.table import table
    from reeval.report.text import one_line

    page = make_page(sys.stdout)
    rows = [
        [one_line(row.file), str(row.evals), str(row.attempts), row.kind, str(row.not_run or "·")] for row in counts
    ]
    first, *rest = table(["file", "evals", "attempts", "kind", "not run"], rows, keep=3, cells=page.cells)
    said = [line for note in notes for line in page.lines(f"note: {note}", 4, 0)]
    evals, attempts = sum(row.evals for row in counts), sum(row.attempts for row in counts)
    files = len({row.file for row in counts})
    total = f"{plural(evals, 'eval')}, {plural(attempts, 'attempt')} in {plural(files, 'file')}: nothing is wrong"
    return [page.ink("dim", first), *rest, "", *said, total]

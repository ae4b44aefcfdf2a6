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
    from reeval.cli.gold import Suspicion
    from reeval.cli.project import Project
    from reeval.report.screen.failures import Page
    from reeval.schema.plan import Plan
    from reeval.schema.spec import EvalKind

__all__ = ["check", "plans_of"]

_KINDS: tuple[EvalKind, ...] = ("pass-fail", "scored")
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Gold = Annotated[bool, typer.Option("--gold", help="Also run and audit the ground truths of data questions.")]


@dataclass(frozen=True, kw_only=True)
class _FileCount:
    file: str
    kind: str
    evals: int
    attempts: int
    not_run: int
    """Skipped and still to write."""


@dataclass(frozen=True, kw_only=True)
class _Question:
    id: str
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class _Found:
    counts: list[_FileCount]
    questions: list[_Question]
    notes: list[str]
    gold: list[Suspicion] | None
    """Ground truths that are suspicious; None: they were not audited."""


@guarded
def check(
    paths: Paths = None, kind: Kind = None, profile: Profile = None, gold: Gold = False, as_json: Json = False
) -> None:
    """Import every eval file and plan everything, as a run would; start nothing. For CI and editors.

    \b
    reeval check
    reeval check evals/greet.eval.py
    reeval check --kind scored --json
    reeval check --gold

    Exit code 2 says that something is wrong; every problem is on stderr, with its file and line.
    """
    from reeval.cli.project import open_project

    project = open_project()
    plans = plans_of(project, paths, kind, profile)
    found = _Found(
        counts=_counts(plans),
        questions=_questions(plans),
        notes=[note for plan in plans for note in _notes(plan)],
        gold=_gold(plans, project) if gold else None,
    )
    print_lines([_as_json(found)] if as_json else _lines(found))


def plans_of(
    project: Project, paths: list[str] | None = None, kind: EvalKind | None = None, profile: str | None = None
) -> list[Plan]:
    """Plan the selection; and the other kind as well, where only the config's ``kind`` left it out.

    A mixed selection is refused as a run refuses it, together with what else is wrong in either kind.
    """
    from reeval.cli.select import collect, plan_of, typed_paths
    from reeval.plan.select import MixedKindsError
    from reeval.schema.plan import Selection

    typed = typed_paths(project, paths)
    collected = collect(project, typed)

    def plan(kind: EvalKind | None) -> Plan:
        return plan_of(project, collected, Selection(paths=typed, kind=kind, profile=profile))

    try:
        first = plan(kind)
    except MixedKindsError as error:
        raise PlanError("\n".join([*collected.unresolved, *_problems(plan), str(error)])) from None
    except PlanError as error:
        raise PlanError("\n".join([*collected.unresolved, str(error)])) from None
    if collected.unresolved:
        raise PlanError("\n".join(collected.unresolved))
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
            row = counts.setdefault((planned.file, "data" if planned.data else planned.kind), [0, 0, 0])
            row[0] += planned.mode == "run"
            row[1] += planned.attempts
            row[2] += planned.mode != "run"
    return [
        _FileCount(file=file, kind=kind, evals=row[0], attempts=row[1], not_run=row[2])
        for (file, kind), row in sorted(counts.items())
    ]


def _questions(plans: list[Plan]) -> list[_Question]:
    evals = (planned for plan in plans for planned in plan.evals if planned.data)
    found = [_Question(id=planned.id, file=planned.file, line=planned.line) for planned in evals]
    return sorted(found, key=lambda question: (question.file, question.line))


def _gold(plans: list[Plan], project: Project) -> list[Suspicion]:
    asking = [plan for plan in plans if plan.database]
    if not asking:
        return []
    from reeval.cli.gold import suspicions

    return [suspicion for plan in asking for suspicion in suspicions(plan, project.catalog)]


def _notes(plan: Plan) -> list[str]:
    return [*plan.notes, *(f"{planned.title}: {note}" for planned in plan.evals for note in planned.notes)]


def _as_json(found: _Found) -> str:
    import json

    data = {
        "files": [asdict(row) for row in found.counts],
        "evals": sum(row.evals for row in found.counts),
        "attempts": sum(row.attempts for row in found.counts),
        "notes": found.notes,
    }
    if found.questions:
        data["questions"] = [asdict(question) for question in found.questions]
    if found.gold is not None:
        data["gold"] = [asdict(suspicion) for suspicion in found.gold]
    return json.dumps(data, ensure_ascii=False)


def _lines(found: _Found) -> list[str]:
    import sys

    from reeval.report.screen.numbers import plural
    from reeval.report.screen.table import table
    from reeval.report.text import one_line

    page, counts = make_page(sys.stdout), found.counts
    rows = [
        [one_line(row.file), str(row.evals), str(row.attempts), row.kind, str(row.not_run or "·")] for row in counts
    ]
    first, *rest = table(["file", "evals", "attempts", "kind", "not run"], rows, keep=3, cells=page.cells)
    said = [line for note in found.notes for line in page.lines(f"note: {note}", 4, 0)]
    said += [line for warning in _warnings(found) for line in page.lines(warning, 4, 0)]
    evals, attempts = sum(row.evals for row in counts), sum(row.attempts for row in counts)
    files = len({row.file for row in counts})
    total = f"{plural(evals, 'eval')}, {plural(attempts, 'attempt')} in {plural(files, 'file')}: {_end(found)}"
    return [page.ink("dim", first), *rest, "", *_question_lines(found.questions, page), *said, total]


def _warnings(found: _Found) -> list[str]:
    return [f"warning: {one.file}:{one.line}: {one.id}: {text}" for one in found.gold or () for text in one.warnings]


def _end(found: _Found) -> str:
    from reeval.report.screen.numbers import plural

    if not found.gold:
        return "nothing is wrong"
    return f"nothing is wrong, but {plural(len(found.gold), 'ground truth')} should be looked at"


def _question_lines(questions: list[_Question], page: Page) -> list[str]:
    if not questions:
        return []
    from reeval.report.screen.table import table
    from reeval.report.text import one_line

    rows = [[one_line(one.id), one_line(f"{one.file}:{one.line}")] for one in questions]
    first, *rest = table(["data question", "file"], rows, keep=2, cells=page.cells)
    return [page.ink("dim", first), *rest, ""]

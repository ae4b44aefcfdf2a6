"""How is a judge asked about a file of labelled examples? Everything is wired here, and nothing is decided."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.cli.output import make_page, print_lines, print_note
from reeval.cli.project import Project
from reeval.errors import ExitCode, PlanError, UsageError
from reeval.secrets import Masker

if TYPE_CHECKING:
    from reeval.grade.calibration.agreement import Minimum, Rated
    from reeval.grade.calibration.examples import Example
    from reeval.plan.expand.judge import PlannedJudge
    from reeval.report.agreement import Calibration
    from reeval.run.judging.measure import Measurement
    from reeval.schema.options import JudgeOptions
    from reeval.schema.spec import Judge

__all__ = ["Request", "calibrate"]

LARGEST = 256 * 1024 * 1024
"""Bytes of a file of examples."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What ``reeval judge check`` was asked."""

    file: Path
    judge: str | None
    """``PATH[::NAME]``."""
    rubric: str | None
    question: str | None
    options: JudgeOptions
    """The flags that were given."""
    minimum: Minimum
    full: bool = False
    as_json: bool = False


def calibrate(project: Project, request: Request) -> ExitCode:
    """Ask, show and say whether the minimum is met; nothing is asked before everything is checked."""
    import anyio

    from reeval.grade.calibration.examples import parse_examples
    from reeval.models.kinds import KINDS
    from reeval.plan.expand.judge import plan_judge
    from reeval.report.agreement import Calibration

    examples = parse_examples(_read(request.file), str(request.file))
    chosen = _chosen(project, request)
    planned = plan_judge(chosen, request.options, project.config, replace(project.catalog, models=KINDS))
    masker = _ready(planned)
    answers = anyio.run(_ask, planned, examples, masker, project.root)
    found = Calibration(
        file=str(request.file),
        judge=request.rubric or (chosen if isinstance(chosen, str) else chosen.name),
        model=planned.model.name,
        threshold=planned.threshold,
        votes=planned.votes,
        rated=[_rated(example, answer, masker) for example, answer in zip(examples, answers, strict=True)],
        cost=_cost(answers),
    )
    _print(found, request)
    return _exit_code(found, request.minimum)


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(f"{file} is larger than {LARGEST // 1024**2} MiB; check a sample of its examples")
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None


def _chosen(project: Project, request: Request) -> Judge | str:
    """Return the judge that is meant; a text is a bare question."""
    from reeval.declare.words.judges import judge

    given = [flag for flag in ("judge", "rubric", "question") if getattr(request, flag) is not None]
    if len(given) != 1:
        said = f"{' and '.join(f'--{flag}' for flag in given)} are given" if given else "which judge is not said"
        raise UsageError(f"{said}; add one of --judge PATH::NAME, --rubric TEXT, --question TEXT")
    if request.judge is not None:
        return _found(project, request.judge)
    for text in (request.rubric, request.question):
        if text is not None and not text.strip():
            raise UsageError(f"--{given[0]} is empty; give a text")
    return judge("the rubric", request.rubric) if request.rubric is not None else str(request.question)


def _found(project: Project, argument: str) -> Judge:
    from contextlib import redirect_stdout

    from reeval.declare.judges import find_judge
    from reeval.plan.select import project_path

    path, _, name = project_path(argument, Path.cwd(), project.root).partition("::")
    with redirect_stdout(sys.stderr):  # What a file prints as it is loaded is no part of the answer, such as JSON.
        return find_judge(project.root, path, name or None)


def _ready(planned: PlannedJudge) -> Masker:
    """Refuse a model that cannot be called; return what hides its key."""
    from reeval.models.checks import key_problem, key_value, url_problem

    problems = [text for text in (key_problem(planned.model, os.environ), url_problem(planned.model)) if text]
    if problems:
        raise PlanError("\n".join(problems))
    return Masker([key_value(planned.model, os.environ) or ""])


async def _ask(planned: PlannedJudge, examples: Sequence[Example], masker: Masker, root: Path) -> list[Measurement]:
    from reeval.models.kinds import KINDS
    from reeval.models.pool import ModelPool
    from reeval.run.asking.calibrating import Heartbeat, judge_examples

    def told(count: int) -> None:
        print_note(f"{count:,} of {len(examples):,} examples answered")

    name = planned.model.name
    async with ModelPool({name: planned.model}, KINDS, os.environ, root) as pool:
        ask = partial(pool.answer, name)
        return await judge_examples(ask, planned.judge, examples, masker, Heartbeat(tell=told), votes=planned.votes)


def _rated(example: Example, answer: Measurement, masker: Masker) -> Rated:
    from reeval.grade.calibration.agreement import Rated

    return Rated(
        example=example,
        score=answer.score,
        reason=masker.text(answer.reason),
        spread=answer.spread,
        error=None if answer.error is None else masker.text(answer.error),
    )


def _cost(answers: Sequence[Measurement]) -> float | None:
    costs = [answer.usage.cost for answer in answers]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _print(found: Calibration, request: Request) -> None:
    from reeval.report.agreement import calibration_data, calibration_lines

    if request.as_json:
        import json

        print_lines([json.dumps(calibration_data(found), ensure_ascii=False)])
    else:
        print_lines(calibration_lines(found, make_page(sys.stdout, full=request.full)))


def _exit_code(found: Calibration, minimum: Minimum) -> ExitCode:
    from reeval.grade.calibration.agreement import holds

    if all(one.score is None for one in found.rated):
        return ExitCode.UNDECIDED
    enough = holds(found.rated, found.threshold, minimum)
    if enough:
        return ExitCode.OK
    least = {"accuracy": minimum.accuracy, "kappa": minimum.kappa}
    asked = " and ".join(f"{name} {value:g}" for name, value in least.items() if value is not None)
    said = "it cannot be told whether the judge reaches" if enough is None else "the judge does not reach"
    print_note(f"{said} {asked}")
    return ExitCode.UNDECIDED if enough is None else ExitCode.GATE

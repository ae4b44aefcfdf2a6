"""How does a model get to read a run? Everything is wired here, and nothing is decided."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from reeval.cli.output import make_page, print_error, print_lines, print_note
from reeval.cli.project import Project
from reeval.errors import ExitCode, InfrastructureError, PlanError, RecordError, UsageError
from reeval.grade.analysis.claims import Cited, RunName
from reeval.secrets import Masker

if TYPE_CHECKING:
    from reeval.backends import ModelReply, ModelRequest
    from reeval.grade.analysis.digest import Part
    from reeval.grade.analysis.figures import Figures
    from reeval.grade.versus.results import Versus
    from reeval.record.answers.readings import RunReading
    from reeval.record.store import RunDirectory, RunStore
    from reeval.report.analysis import Analysis
    from reeval.run.asking.analyzing import Sample
    from reeval.schema.plan import PlannedModel

__all__ = ["Request", "analyze_run"]

WRONG, RIGHT = 8, 4
"""Attempts whose transcripts are sent: those that went wrong, and others; half as many of each of two runs."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What ``reeval analyze`` was asked."""

    run: str
    vs: str
    """A run, or ``none``."""
    model: str | None
    full: bool = False
    as_json: bool = False


@dataclass(frozen=True, kw_only=True)
class _Job:
    """An analysis that is about to be asked for."""

    runs: Mapping[RunName, RunReading]
    compared: Versus | None
    """None: there is one run."""
    figures: Figures
    model: PlannedModel
    masker: Masker
    request: ModelRequest
    places: Mapping[RunName, str | None] = field(default_factory=dict)


def analyze_run(project: Project, request: Request) -> ExitCode:
    """Read, ask, check, keep and show; nothing is asked before everything is there."""
    import anyio

    job = _job(project, request)
    size = len(job.request.prompt.encode())
    print_note(f"asking {job.model.name} about run {job.runs[RunName.THIS].run.id}, {size / 1000:,.0f} kB")
    began = monotonic()
    try:
        reply = anyio.run(_ask, job, project.root)
    except InfrastructureError as error:
        reason = job.masker.text(error.reason)
        _keep(job, {"error": reason, "detail": error.detail, "duration": round(monotonic() - began, 3)})
        print_error(reason)
        return ExitCode.UNDECIDED
    found = _checked(job, reply)
    place = _keep(job, {**_answered(found, reply), "duration": round(monotonic() - began, 3)})
    _print(found, request, place)
    return ExitCode.OK


def _job(project: Project, request: Request) -> _Job:
    from reeval.grade.analysis.figures import Figures
    from reeval.models.kinds import KINDS
    from reeval.plan.expand.analysis import plan_analysis
    from reeval.record.answers.readings import RunReading
    from reeval.run.asking.analyzing import analysis_request

    directories = _directories(project.store, request)
    model = plan_analysis(request.model, project.config, replace(project.catalog, models=KINDS))
    masker = _ready(model, directories)
    runs = {name: RunReading(directory, masker) for name, directory in directories.items()}
    if not runs[RunName.THIS].attempts:
        raise UsageError(f"run {directories[RunName.THIS].id} has no finished attempt; there is nothing to analyze")
    found = _compared(directories)
    figures = Figures()
    parts, samples = _parts(runs, found, figures, masker), _samples(runs)
    return _Job(
        runs=runs,
        compared=found,
        figures=figures,
        model=model,
        masker=masker,
        request=analysis_request(parts, samples, masker, two_runs=len(runs) > 1),
        places={name: project.store.ref_of(directory) for name, directory in directories.items()},
    )


# --- what is read -------------------------------------------------------------------------------------


def _directories(store: RunStore, request: Request) -> dict[RunName, RunDirectory]:
    from reeval.cli.versus import earlier_run

    this = store.find(request.run)
    if request.vs == "none":
        return {RunName.THIS: this}
    return {RunName.THIS: this, RunName.VS: earlier_run(store, request.vs, this)}


def _ready(model: PlannedModel, runs: Mapping[RunName, RunDirectory]) -> Masker:
    """Refuse a model that cannot be called; return what hides its key and what the runs' plans name as secrets."""
    from reeval.models.checks import key_problem, key_value, url_problem
    from reeval.plan.secrets import secret_names

    problems = [text for text in (key_problem(model, os.environ), url_problem(model)) if text]
    if problems:
        raise PlanError("\n".join(problems))
    plans = [run.plan() for run in runs.values()]
    names = frozenset[str]().union(*map(secret_names, plans))
    keys = [key_value(one, os.environ) or "" for plan in plans for one in (*plan.models.values(), model)]
    return Masker([*(os.environ.get(name, "") for name in names), *keys])


def _compared(runs: Mapping[RunName, RunDirectory]) -> Versus | None:
    """Compare the two runs, where there are two; raise ``UsageError`` when they have nothing in common."""
    if RunName.VS not in runs:
        return None
    from reeval.grade.versus.results import versus
    from reeval.record.versus.sides import run_side

    return versus(run_side(runs[RunName.VS]), run_side(runs[RunName.THIS]))


def _parts(runs: Mapping[RunName, RunReading], compared: Versus | None, figures: Figures, masker: Masker) -> list[Part]:
    from reeval.grade.analysis.digest import digest

    parts = [
        part
        for name, reading in runs.items()
        for part in digest(reading.record, reading.findings(), figures, name.value)
    ]
    if compared is not None:
        from reeval.grade.analysis.versus import differences

        parts.append(differences(compared, figures, masker.text))
    return parts


def _samples(runs: Mapping[RunName, RunReading]) -> list[Sample]:
    from reeval.grade.analysis.samples import chosen
    from reeval.run.asking.analyzing import Sample

    return [
        Sample(of=Cited(run=name, eval=eval_id, attempt=entry.attempt), record=reading.whole(eval_id, entry.attempt))
        for name, reading in runs.items()
        for eval_id, entry in chosen(reading.record, wrong=WRONG // len(runs), right=RIGHT // len(runs))
    ]


# --- what is answered ---------------------------------------------------------------------------------


async def _ask(job: _Job, root: Path) -> ModelReply:
    from reeval.models.kinds import KINDS
    from reeval.models.pool import ModelPool

    async with ModelPool({job.model.name: job.model}, KINDS, os.environ, root) as pool:
        return await pool.answer(job.model.name, job.request)


def _checked(job: _Job, reply: ModelReply) -> Analysis:
    from reeval.grade.analysis.checking import Known, check_claims
    from reeval.grade.analysis.claims import parse_claims
    from reeval.report.analysis import Analysis

    this, vs = job.runs[RunName.THIS], job.runs.get(RunName.VS)
    every = frozenset(one.id for reading in job.runs.values() for one in reading.record.evals)
    known = Known(
        figures=job.figures.known,
        attempts={name: reading.attempts for name, reading in job.runs.items()},
        texts=lambda cited: job.runs[cited.run].texts(cited.eval, cited.attempt),
        comparable=None if job.compared is None else frozenset(one.id for one in job.compared.evals),
        every=every,
    )
    kept, dropped = check_claims(parse_claims(_masked(reply.data, job.masker)), known)
    return Analysis(
        run=this.run.id,
        vs=None if vs is None else vs.run.id,
        places=job.places,
        model=job.model.name,
        kept=kept,
        dropped=dropped,
        figures=job.figures.known,
        usage=reply.usage,
        served=reply.model,
    )


def _masked(value: Any, masker: Masker) -> Any:
    """Mask an answer before it is held against a record that is masked too."""
    if isinstance(value, str):
        return masker.text(value)
    if isinstance(value, Mapping):
        return {key: _masked(one, masker) for key, one in value.items()}
    return [_masked(one, masker) for one in value] if isinstance(value, list) else value


def _answered(found: Analysis, reply: ModelReply) -> dict[str, Any]:
    from reeval.report.analysis import analysis_data

    return {"reply": reply.data, "tries": reply.tries, **analysis_data(found)}


def _keep(job: _Job, more: Mapping[str, Any]) -> Path | None:
    """Keep what was sent and answered; a record that cannot be written, such as a CI artifact, is still analyzed."""
    from reeval.record.answers.analyses import keep_analysis

    asked = {"model": job.model.name, "system": job.request.system, "prompt": job.request.prompt}
    try:
        return keep_analysis(job.runs[RunName.THIS].run, {**asked, **more}, job.masker)
    except RecordError as error:
        print_note(f"the analysis is not kept: {error}")
        return None


def _print(found: Analysis, request: Request, place: Path | None) -> None:
    from reeval.report.analysis import analysis_data, analysis_lines

    if request.as_json:
        import json

        print_lines([json.dumps({**analysis_data(found), "file": place and str(place)}, ensure_ascii=False)])
        return
    page = make_page(sys.stdout, full=request.full)
    print_lines(analysis_lines(found, page))
    if place is not None:
        print_lines(["", f"sent and answered: {page.line(str(place))}"])

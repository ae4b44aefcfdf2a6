"""How does a plan become a recorded run? Everything is wired here, and nothing is decided."""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reeval.cli.branches import on_branches
from reeval.cli.header import run_start
from reeval.cli.output import make_reporter, print_lines, print_note, terminal_width
from reeval.cli.project import Project
from reeval.cli.select import make_plan
from reeval.cli.sources import pinned
from reeval.cli.versus import Against, Wanted, against, exit_code
from reeval.errors import BegunError, ExitCode, PlanError, RecordError, UsageError
from reeval.protocols import Reporter
from reeval.secrets import Masker, keys_at_hand
from reeval.shelf import CACHE

if TYPE_CHECKING:
    from reeval.cli.detach import Began
    from reeval.record.store import RunDirectory
    from reeval.record.writer import RunWriter
    from reeval.report.live.plain import Verbosity
    from reeval.run.runner import RunOutcome
    from reeval.run.tools import Earlier, Tools
    from reeval.schema.plan import Plan, Selection
    from reeval.schema.record import RunEnd, RunRecord, RunStart

__all__ = ["Money", "Request", "Retry", "carry_out", "dry_run_of", "launch", "refuse_selection", "resume_run"]


@dataclass(frozen=True, kw_only=True)
class Money:
    """What a run may spend."""

    budget: float | None = None
    """US dollars; None: no limit."""
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no budget."""
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise UsageError(f"--budget takes US dollars above 0, such as --budget 2.50, not {self.budget:g}")
        if self.allow_unknown and self.budget is None:
            raise UsageError("--allow-unknown-cost goes with --budget USD; add it, or leave this out")


@dataclass(frozen=True, kw_only=True)
class Request:
    """How to run, beside what to run."""

    max_concurrent: int | None = None
    max_failures: int | None = None
    money: Money = field(default_factory=Money)
    keep_sandbox: bool = False
    debug: bool = False
    as_json: bool = False
    junit: Path | None = None
    versus: Wanted = field(default_factory=Wanted)
    verbosity: Verbosity = "normal"
    detach: bool = False
    began: Began | None = None
    """Called with the run's directory before anything is printed; None: the run stays in the foreground."""


@dataclass(frozen=True)
class Retry:
    """Which run to go on with; none: a new one begins."""

    resume: str | None = None
    again: str | None = None
    """The run of which what ended as error runs again."""

    @property
    def ref(self) -> str | None:
        """The run."""
        return self.resume or self.again


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A run that is about to begin, or to go on."""

    plan: Plan
    writer: RunWriter
    masker: Masker
    done: frozenset[str] = frozenset()
    """Keys of attempts that need not run."""
    facts: tuple[str, ...] = ()
    """More lines of the header."""
    earlier: Earlier | None = None
    """What was answered before; None: nothing is asked."""
    against: Against | None = None


def dry_run_of(project: Project, selection: Selection, request: Request) -> ExitCode:
    """Print the plan that a run would have."""
    from reeval.cli.forecast import expected_of, plan_line
    from reeval.record.compared.rates import control_rates
    from reeval.report.plan_table import plan_table

    with on_branches(project, selection) as on:
        plan = _planned(on, selection, request)
    against(project.store, request.versus, plan)
    if request.as_json:
        print_lines([plan_line(project.store, plan)])
    else:
        rates = control_rates(project.store, plan)
        expected = expected_of(project.store, plan, request.money.budget)
        print_lines(plan_table(plan, terminal_width(sys.stdout), rates, expected).splitlines())
    return ExitCode.OK


def launch(project: Project, selection: Selection, request: Request) -> ExitCode:
    """Plan, run and record a selection."""
    with on_branches(project, selection) as on:
        plan = _planned(on, selection, request)
        masker = _ready(project, plan, os.environ)
        earlier = against(project.store, request.versus, plan)
        plan = pinned(plan, project)
        with project.store.create(masker) as writer:
            return _run(on, _Job(plan=plan, writer=writer, masker=masker, against=earlier), request)


def carry_out(project: Project, selection: Selection, request: Request, *, dry_run: bool, retry: Retry) -> ExitCode:
    """Do what the flags of ``reeval run`` ask for: show a plan, go on with a run, or begin one."""
    if retry.ref:
        refuse_selection(selection, dry_run=dry_run)
    if request.detach:
        if dry_run or request.debug:
            raise UsageError("--detach runs in the background; leave out --dry-run and --debug")
        from reeval.cli.detach import detach

        request = replace(request, began=detach())
    if retry.ref:
        return resume_run(project, request, retry.ref, errors=bool(retry.again))
    return dry_run_of(project, selection, request) if dry_run else launch(project, selection, request)


def refuse_selection(selection: Selection, *, dry_run: bool) -> None:
    """Refuse what does not go with a resumed run, which takes its selection from the record."""
    from reeval.schema.plan import Selection

    if selection != Selection():
        raise UsageError("a resumed run keeps its own selection; leave out paths, -k, --tag, --kind, --harness, …")
    if dry_run:
        raise UsageError("--dry-run shows a new run; a resumed one says in its header what it keeps")


def resume_run(project: Project, request: Request, ref: str, *, errors: bool) -> ExitCode:
    """Go on with a recorded run: what is missing, what changed and, with ``errors``, what ended as error."""
    from reeval.cli.resume import kept_attempts

    run = project.store.find(ref)
    index = run.index()
    before = run.plan(index)
    with on_branches(project, before.selection) as on:
        plan = _planned(on, before.selection, request)
        masker = _ready(project, plan, os.environ)
        chosen = against(project.store, request.versus, plan, before=run)
        plan = pinned(plan, project, before)
        kept = kept_attempts(run, index, plan, on, retry_errors=errors)
        with project.store.resume(run, masker) as writer:
            for eval_id, reason in kept.changed.items():
                writer.supersede(eval_id, reason)
            job = _Job(
                plan=plan,
                writer=writer,
                masker=masker,
                done=kept.keys,
                facts=kept.facts,
                earlier=kept.earlier,
                against=chosen,
            )
            return _run(on, job, request)


def _planned(project: Project, selection: Selection, request: Request) -> Plan:
    """Plan a selection with the flags that shape a plan as a whole; refuse one that its budget could not hold."""
    plan = _shaped(make_plan(project, selection), request)
    if request.money.budget is not None and not request.money.allow_unknown:
        from reeval.cli.budget import refuse_unpriced

        refuse_unpriced(project, plan, os.environ)
    return plan


def _shaped(plan: Plan, request: Request) -> Plan:
    if request.debug:
        first = next((one for one in plan.evals if one.attempts), None)
        if first is not None:
            one = replace(first, cells=first.cells[:1], cases=first.cases[:1], runs=1)
            plan = replace(plan, evals=(one,), max_concurrent=1)
    return replace(plan, max_concurrent=request.max_concurrent) if request.max_concurrent else plan


def _ready(project: Project, plan: Plan, environ: Mapping[str, str]) -> Masker:
    """Refuse what cannot run; return what hides the plan's secrets."""
    from reeval.cli.access import access_problems
    from reeval.plan.secrets import secret_names

    if problems := access_problems(plan, project.catalog, environ):
        raise PlanError("\n".join(problems))
    named = [environ.get(name, "") for name in secret_names(plan)]
    return Masker([*named, *_model_keys(plan, environ), *_passwords(plan, environ), *keys_at_hand(environ)])


def _model_keys(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """Return the values of the keys that the run's models may use."""
    models = [*plan.models.values(), *plan.providers.values()]
    if not models:
        return []
    from reeval.models.checks import key_value

    return [key for planned in models if (key := key_value(planned, environ))]


def _passwords(plan: Plan, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the passwords of the database that data questions are asked about."""
    if plan.database is None:
        return ()
    from reeval.databases.urls import database_secrets

    return database_secrets(plan.database, environ)


def _run(project: Project, job: _Job, request: Request) -> ExitCode:
    """Begin the run; a record that can no longer be written then ends it as one that has begun."""
    from reeval.record.store import RunDirectory

    gc.freeze()  # what is loaded by now stays: no look for cycles among an attempt's objects goes through it
    run = RunDirectory(job.writer.directory)
    if request.began:
        request.began(run.path)
    start = run_start(job.plan, project.root, project.store.root, run_id=run.id, masker=job.masker)
    job.writer.start(start)
    try:
        return _run_to_its_end(project, job, request, run, start)
    except RecordError as error:
        raise BegunError(str(error)) from error


def _run_to_its_end(project: Project, job: _Job, request: Request, run: RunDirectory, start: RunStart) -> ExitCode:
    """Run what is to run, then record and report it."""
    import anyio

    from reeval.cli.warm import warming
    from reeval.record.compile import write_record
    from reeval.report.screen.evidence import load_failures
    from reeval.report.summary import write_summary

    reporter = make_reporter(
        masker=job.masker,
        verbosity=request.verbosity,
        as_json=request.as_json,
        live=not request.debug,
        reader=run,
        done=len(job.done),
        runs=os.path.relpath(project.store.runs),
        budget=request.money.budget,
    )
    try:
        reporter.run_started(job.plan, start, [*_facts(project, job.plan), *job.facts])
        with warming():
            outcome = anyio.run(_swept_and_run, project, job.plan, _tools(project, job, request, reporter))
        job.writer.end(_run_end(outcome))
        record = write_record(run)
        failures = load_failures(record, run)
        reporter.run_finished(record, failures)
    finally:
        reporter.close()
    job.writer.close()
    write_summary(run.path / "summary.md", record, failures, run)
    _tidy(project, run)
    if request.junit:
        _write_junit(request.junit, record, run)
    return exit_code(job.against, run, record, as_json=request.as_json)


def _run_end(outcome: RunOutcome) -> RunEnd:
    from reeval.schema.record import RunEnd

    ended_at = int(time.time() * 1000)
    return RunEnd(state=outcome.state, ended_at=ended_at, notes=list(outcome.notes), budget=outcome.budget)


def _tools(project: Project, job: _Job, request: Request, reporter: Reporter) -> Tools:
    """Wire what the run needs besides its plan."""
    from reeval.run.tools import Earlier, Tools

    return Tools(
        catalog=project.catalog,
        root=project.root,
        home=project.store.root,
        run_id=job.writer.directory.name,
        recorder=job.writer,
        reporter=reporter,
        environ=os.environ,
        masker=job.masker,
        keep_sandbox=request.keep_sandbox,
        max_failures=request.max_failures,
        budget=request.money.budget,
        allow_unknown_cost=request.money.allow_unknown,
        done=job.done,
        earlier=job.earlier or Earlier(),
        debug=request.debug,
    )


async def _swept_and_run(project: Project, plan: Plan, tools: Tools) -> RunOutcome:
    """Remove what killed runs of this project left, run, and end what the attempts shared."""
    import anyio

    from reeval.run.runner import run_plan

    kinds = [project.catalog.sandboxes[name] for name in {sandbox.kind: None for sandbox in plan.sandboxes.values()}]
    for kind in kinds:
        for removed in await kind.sweep(project.store.root):
            tools.reporter.warning(f"removed what a killed run left: {removed}")
    try:
        return await run_plan(plan, tools)
    finally:
        with anyio.CancelScope(shield=True):
            for kind in kinds:
                await kind.finish(project.store.root, project.config.cache.size)


def _facts(project: Project, plan: Plan) -> list[str]:
    """Return the header's lines about where attempts run and what was left out."""
    used = {cell.sandbox for one in plan.evals if one.mode == "run" for cell in one.cells}
    sandboxes = [it for id, it in plan.sandboxes.items() if id in used]
    facts = list(dict.fromkeys(project.catalog.sandboxes[it.kind].describe(it) for it in sandboxes))
    if plan.left_out:
        other = "scored" if plan.kind == "pass-fail" else "pass-fail"
        evals = "eval is" if plan.left_out == 1 else "evals are"
        facts.append(f"{plan.left_out} {other} {evals} left out; `--kind {other}` selects that kind")
    return [*facts, *plan.notes]


def _write_junit(path: Path, record: RunRecord, run: RunDirectory) -> None:
    from reeval.report.junit import write_junit

    write_junit(path, record, run)


def _tidy(project: Project, run: RunDirectory) -> None:
    """Bring the run into the history, and drop what the history settings no longer keep."""
    from reeval.record.history import index_run
    from reeval.record.retention import apply_retention

    index_run(project.store, run, print_note)
    if (cache := project.store.root / CACHE).exists():
        from reeval.environments.cache import limited

        limited(cache, project.config.cache.size)
    apply_retention(project.store, project.config.history, run)

"""How is an attempt of a plan run in this process? Its eval is loaded again, and must be the one that was planned."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from reeval.declare.loader import load_file
from reeval.errors import InfrastructureError, Phase, PlanError, RecordError, UserError
from reeval.grade.outcome import AttemptFacts, judge_attempt
from reeval.plan.build import planned_task
from reeval.protocols import Harness, Recorder, SandboxRequest
from reeval.run.asking.models import Models
from reeval.run.attempt import AttemptJob, AttemptResult, run_attempt
from reeval.run.body.context import Context
from reeval.run.body.escaped import told
from reeval.run.room.room import RoomRequest
from reeval.run.room.variables import declared_variables, plain_values, values_for
from reeval.run.shared import Shared, SharedParts
from reeval.run.stage.process import staged
from reeval.run.tools import Tools
from reeval.schema.environment import cached_steps
from reeval.schema.plan import Plan, PlannedAttempt, PlannedEval
from reeval.schema.record import AttemptFailure, AttemptRecord
from reeval.schema.spec import Declared, EvalSpec, GroupSpec
from reeval.schema.transcript import Channel
from reeval.shelf import CACHE

if TYPE_CHECKING:
    from reeval.run.data.body import DataTask
    from reeval.run.data.database import RunDatabase

__all__ = ["LocalExecutor"]

TRIES = 2
"""How often an attempt begins when its sandbox or its session does not start."""


class LocalExecutor:
    """Implements ``protocols.Executor``."""

    def __init__(self, tools: Tools, models: Models | None = None, database: RunDatabase | None = None) -> None:
        """``models`` and ``database`` are the run's; None: each attempt opens its own."""
        self._tools = tools
        self._models = models
        self._database = database
        self._plan: _OpenPlan | None = None

    async def execute(
        self, plan: Plan, key: str, recorder: Recorder, collected: Callable[[], None] = lambda: None
    ) -> AttemptRecord:
        """Run the attempt ``key`` and record it.

        Raises ``PlanError`` when the plan has no such attempt, or when the eval has changed since it was made.
        """
        if self._plan is None or self._plan.plan is not plan:
            self._plan = _OpenPlan(plan, self._tools)
        opened = self._plan
        attempt = opened.attempt(key)
        spec = opened.spec(attempt.eval)
        with staged():
            async with self._asked(plan) as models, self._queried(attempt, plan) as data:
                make = partial(self._job, opened, attempt, spec, _Parts(models, data))
                record = await self._run(opened, attempt, make, _Hearers(recorder, collected))
        return recorder.attempt(record)

    @asynccontextmanager
    async def _asked(self, plan: Plan) -> AsyncIterator[Models]:
        if self._models is not None:
            yield self._models
            return
        async with Models(plan, self._tools.catalog, self._tools.environ, self._tools.root) as models:
            yield models

    @asynccontextmanager
    async def _queried(self, attempt: PlannedAttempt, plan: Plan) -> AsyncIterator[DataTask | None]:
        """Yield the question of an attempt at one, with the database that it is asked about."""
        question, tools = attempt.eval.data, self._tools
        if question is None:
            yield None
            return
        from reeval.run.data.body import DataTask
        from reeval.run.data.database import RunDatabase

        needs_schema = tools.catalog.harnesses[plan.harnesses[attempt.cell.harness].kind].needs_schema
        if self._database is not None:
            yield DataTask(question=question, database=self._database, tells_schema=needs_schema)
            return
        async with RunDatabase(plan, tools.catalog, tools.environ) as database:
            yield DataTask(question=question, database=database, tells_schema=needs_schema)

    async def _run(
        self, opened: _OpenPlan, attempt: PlannedAttempt, make: Callable[[Shared], AttemptJob], hearers: _Hearers
    ) -> AttemptRecord:
        """Return the attempt's record: whatever goes wrong is in it."""
        started_at = time.time_ns() // 1_000_000
        try:
            job = make(await opened.shared.of(attempt))
            await opened.shared.ready(job.room.sandbox)
            result = await _tried(job, hearers)
        except RecordError:
            raise
        except InfrastructureError as error:
            failure = AttemptFailure(reason=error.reason, phase=error.phase, detail=error.detail)
        except UserError as error:
            failure = AttemptFailure(reason=str(error), phase=Phase.SETUP)
        except Exception as error:  # noqa: BLE001 - a defect of reeval or of a plug-in ends this attempt, not the run
            reason, detail = told(error, "")
            failure = AttemptFailure(reason=f"an unexpected error: {reason}", phase=Phase.BODY, detail=detail)
        else:
            return result.record
        return _unstarted(attempt, started_at, failure)

    def _job(
        self, opened: _OpenPlan, attempt: PlannedAttempt, spec: EvalSpec, parts: _Parts, shared: Shared
    ) -> AttemptJob:
        tools, planned, environment = self._tools, attempt.eval, shared.environment
        harness = opened.plan.harnesses[attempt.cell.harness]
        sandbox = opened.plan.sandboxes[attempt.cell.sandbox]
        variables = declared_variables(environment, planned.env)
        request = SandboxRequest(
            key=attempt.key,
            run_id=tools.run_id,
            sandbox=sandbox,
            tree=shared.tree,
            egress=shared.egress,
            hosts=tools.catalog.harnesses[harness.kind].hosts(harness, values_for("agent", variables, tools.environ)),
            cached=cached_steps(environment.setup) if environment else (),
            cached_env=plain_values(variables),
            programs=shared.programs,
            root=tools.keeper,
            keep=tools.keep_sandbox,
            kept=lambda place: tools.reporter.warning(f"{attempt.key}: the sandbox is kept in {place}"),
        )
        room = RoomRequest(
            sandbox=request,
            sandbox_kind=tools.catalog.sandboxes[sandbox.kind],
            harness=opened.harness(attempt.cell.harness),
            planned_harness=harness,
            setup=environment.setup[len(request.cached) :] if environment else (),
            variables=variables,
            mcp=environment.mcp if environment else {},
            host=tools.environ,
            ask=parts.models.answer,
        )
        return AttemptJob(
            attempt=attempt,
            spec=spec,
            case=opened.case(attempt, spec),
            room=room,
            timeout=None if tools.debug else planned.timeout,
            unreported=opened.unreported(attempt.cell.harness),
            subject=shared.subject,
            root=str(opened.root),
            models=parts.models,
            data=parts.data,
            masker=tools.masker,
        )


class _Parts(NamedTuple):
    """What an attempt asks."""

    models: Models
    data: DataTask | None


class _Hearers(NamedTuple):
    """Who hears of an attempt."""

    recorder: Recorder
    collected: Callable[[], None]


async def _tried(job: AttemptJob, hearers: _Hearers) -> AttemptResult:
    result = await run_attempt(job, *hearers)
    for tries in range(2, TRIES + 1):
        if not result.start_failed:
            break
        result = await run_attempt(replace(job, tries=tries), *hearers)
    return result


class _OpenPlan:
    """A plan with what belongs to it in this process."""

    def __init__(self, plan: Plan, tools: Tools) -> None:
        self.plan = plan
        self.root = tools.root.resolve()
        self.shared = SharedParts(plan, tools.catalog, tools.root, tools.keeper / CACHE)
        self._catalog = tools.catalog
        self._evals = {planned.id: planned for planned in plan.evals}
        self._harnesses: dict[str, Harness] = {}
        self._unreported: dict[str, frozenset[Channel]] = {}
        self._files: dict[str, dict[tuple[str, ...], EvalSpec]] = {}
        self._specs: dict[str, EvalSpec] = {}

    def attempt(self, key: str) -> PlannedAttempt:
        """Find an attempt by its key."""
        # An eval's name may hold an @, an attempt's id holds none.
        eval_id, _, attempt_id = key.rpartition("@")
        planned = self._evals.get(eval_id)
        head, _, run = attempt_id.rpartition("#")
        if planned is not None and run.isdigit() and 0 < int(run) <= planned.runs:
            for cell in planned.cells:
                if head == cell.key and not planned.cases:
                    return PlannedAttempt(eval=planned, cell=cell, case=None, run=int(run))
                case = head.removeprefix(f"{cell.key}[").removesuffix("]")
                if head == f"{cell.key}[{case}]" and case in planned.cases:
                    return PlannedAttempt(eval=planned, cell=cell, case=case, run=int(run))
        raise PlanError(f"the plan has no attempt {key!r}; take a key from the plan itself")

    def spec(self, planned: PlannedEval) -> EvalSpec:
        """Return the eval as its file declares it now; raise ``PlanError`` when that is not what was planned."""
        spec = self._specs.get(planned.id)
        if spec is None:
            spec = self._specs[planned.id] = _asking(planned) if planned.data is not None else self._find(planned)
        return spec

    def case(self, attempt: PlannedAttempt, spec: EvalSpec) -> Any:
        """Return the value of the attempt's case. Keys are written for ids in the plan, the order is the file's."""
        if attempt.case is None or spec.cases is None:
            return None
        return spec.cases[attempt.eval.cases.index(attempt.case)].value

    def harness(self, id: str) -> Harness:
        """Return a configured agent, made once."""
        if id not in self._harnesses:
            planned = self.plan.harnesses[id]
            self._harnesses[id] = self._catalog.harnesses[planned.kind].open(planned, self.root)
        return self._harnesses[id]

    def unreported(self, id: str) -> frozenset[Channel]:
        """Return what a configured agent cannot report; its options are read once."""
        if id not in self._unreported:
            planned = self.plan.harnesses[id]
            self._unreported[id] = self._catalog.harnesses[planned.kind].unreported(planned.options)
        return self._unreported[id]

    def _find(self, planned: PlannedEval) -> EvalSpec:
        if planned.file not in self._files:
            self._files[planned.file] = dict(_evals((), load_file(self.root, planned.file).children))
        spec = self._files[planned.file].get(planned.path)
        if spec is None or planned_task(spec.task, planned.gate, planned.judge) != planned.task:
            what = "is gone" if spec is None else "has changed"
            raise PlanError(
                f"{planned.file}:{planned.line}: {planned.name!r} {what} since the run was planned; run again"
            )
        return spec


def _asking(planned: PlannedEval) -> EvalSpec:
    """Return a data question as an eval: the plan holds all of it, so that no file is read again."""
    return EvalSpec(
        name=planned.name, kind=planned.kind, body=Context.send, blocking=False, line=planned.line, options={}, task=""
    )


def _evals(above: tuple[str, ...], children: Sequence[Declared]) -> Iterator[tuple[tuple[str, ...], EvalSpec]]:
    for child in children:
        path = (*above, child.name)
        if isinstance(child, EvalSpec):
            yield path, child
        elif isinstance(child, GroupSpec):
            yield from _evals(path, child.children)


def _unstarted(attempt: PlannedAttempt, started_at: int, failure: AttemptFailure) -> AttemptRecord:
    """Return the record of an attempt whose body never began."""
    verdict = judge_attempt(AttemptFacts(kind=attempt.eval.kind, checks=(), failure=failure))
    return AttemptRecord(
        eval=attempt.eval.id,
        attempt=attempt.id,
        outcome=verdict.outcome,
        started_at=started_at,
        duration=0.0,
        harness=attempt.cell.harness,
        sandbox=attempt.cell.sandbox,
        run=attempt.run,
        environment=attempt.cell.environment,
        case=attempt.case,
        role=attempt.cell.role,
        verdict=verdict.verdict,
        score_state=verdict.score_state,
        failure=failure,
        task=attempt.eval.task,
    )

"""How does one attempt become a record? Open, run the body, settle, judge: always a record, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from reeval.declare.asserts import failed_asserts
from reeval.errors import Phase
from reeval.grade.ledger import Ledger
from reeval.grade.outcome import AttemptFacts, judge_attempt
from reeval.protocols import Recorder
from reeval.run.asking.models import Models
from reeval.run.body.calls import Calls
from reeval.run.body.context import Body, Context
from reeval.run.body.escaped import told, without_control
from reeval.run.body.handles import BlockingHandle, BlockingScoredHandle, Handle, ScoredHandle
from reeval.run.body.invoke import BodyEnd, BodyRun, run_body
from reeval.run.body.notes import Notes
from reeval.run.body.workspace import WorkspaceCalls
from reeval.run.room.clock import Clock
from reeval.run.room.conversation import Conversation
from reeval.run.room.room import AttemptRoom, RoomRequest
from reeval.run.stage.routing import LOG_LIMIT
from reeval.run.stage.text import Excerpt
from reeval.schema.plan import PlannedAttempt
from reeval.schema.record import AttemptFailure, AttemptRecord, SpenderUsage
from reeval.schema.spec import EvalKind, EvalSpec
from reeval.schema.transcript import Channel, Turn
from reeval.secrets import Masker
from reeval.usage import Usage

if TYPE_CHECKING:
    from reeval.run.data.body import DataBody, DataTask
    from reeval.run.judging.judges import Bench, Judges

__all__ = ["AttemptJob", "AttemptResult", "run_attempt"]

TIMEOUT = "timeout"
"""The reason of an attempt whose agent's own turn ran out of time."""

_HANDLES: dict[tuple[EvalKind, bool], Callable[..., Any]] = {
    ("pass-fail", False): Handle,
    ("pass-fail", True): BlockingHandle,
    ("scored", False): ScoredHandle,
    ("scored", True): BlockingScoredHandle,
}
"""By kind, and whether the body is a plain ``def``."""


class AttemptJob(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt with everything it needs."""

    attempt: PlannedAttempt
    spec: EvalSpec
    case: Any
    """The case's value; None for an eval without cases."""
    room: RoomRequest
    timeout: float | None
    """Seconds of the body; None: no limit."""
    unreported: frozenset[Channel]
    subject: str
    root: str
    """The project's root: whose frames a traceback shows."""
    models: Models
    data: DataTask | None = None
    """A data question, which has a body of reeval's own."""
    masker: Masker
    tries: int = 1


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is not written yet."""

    record: AttemptRecord
    start_failed: bool
    """Its sandbox or its session did not start, which may pass."""


async def run_attempt(job: AttemptJob, recorder: Recorder, collected: Callable[[], None]) -> AttemptResult:
    """Run one attempt; only cancellation and a record that cannot be written are raised.

    ``collected`` is called when its sandbox is closed and only judges are still to answer.
    """
    started_at = time.time_ns() // 1_000_000
    work = _Work(job, recorder)
    try:
        try:
            end = await run_body(work.body, blocking=job.spec.blocking)
            await work.end_cut_turn(end)
            failure = work.failure(end)
            judges = work.judges_to_ask(failure)
            if judges is not None:
                await judges.collect()
        finally:
            with anyio.CancelScope(shield=True):
                work.notes.diagnostics += await work.room.close()
        work.context.settle()
        if judges is not None:
            collected()
            await judges.settle()
    finally:
        if work.judges is not None:
            with anyio.CancelScope(shield=True):
                await work.judges.close()
    return AttemptResult(record=work.record(started_at, failure), start_failed=work.start_failed)


class _Work:
    """What one attempt has in hand."""

    def __init__(self, job: AttemptJob, recorder: Recorder) -> None:
        self._job = job
        attempt, spec = job.attempt, job.spec
        self.clock = Clock(job.timeout)
        self.room = AttemptRoom(job.room, self.clock)
        self.conversation = Conversation(self.room, self.clock, job.unreported)
        self.calls = Calls(f"{job.root}/{attempt.eval.file}")
        self.ledger = Ledger(spec.kind, attempt.eval.file)
        self.notes = Notes(lambda name, data: recorder.artifact(attempt, name, data))
        self.log = Excerpt(LOG_LIMIT)
        self.workspace = WorkspaceCalls(self.room)
        self.judges: Judges | None = None
        """None: no judge was called."""
        self._keep = partial(recorder.document, attempt)
        self.context = self._context()
        self.data = self._data()
        self.body = BodyRun(
            name=attempt.key,
            function=spec.body if self.data is None else self.data.run,
            arguments=() if spec.cases is None else (job.case,),
            context=self.context,
            calls=self.calls,
            clock=self.clock,
            log=self.log,
            ledger=self.ledger,
            agent_acts=lambda: self.room.agent_acts,
        )

    def _context(self) -> Context[Any]:
        body = Body(
            attempt=self._job.attempt,
            case=self._job.case,
            calls=self.calls,
            ledger=self.ledger,
            notes=self.notes,
            conversation=self.conversation,
            workspace=self.workspace,
            judges=self._judges,
        )
        return Context(body, _HANDLES[self._job.spec.kind, self._job.spec.blocking])

    def _data(self) -> DataBody | None:
        if self._job.data is None:
            return None
        from reeval.run.data.body import DataBody

        return DataBody(self._job.data, self.clock.paused)

    def _judges(self) -> Judges:
        """Return the attempt's judges, made with the first: most attempts have none."""
        if self.judges is None:
            from reeval.run.judging.judges import Judges

            self.judges = Judges(self._bench())
        return self.judges

    def _bench(self) -> Bench:
        from reeval.run.judging.contents import workspace_contents
        from reeval.run.judging.judges import Bench

        async def contents(wanted: Sequence[str]) -> dict[str, str | None]:
            return await workspace_contents(await self.room.sandbox(), wanted)

        return Bench(
            models=self._job.models,
            masker=self._job.masker,
            keep=self._keep,
            contents=contents,
            commands=self.workspace.ran,
            observations=self.notes.observations,
            pictures=self.notes.pictures,
            waits=self.clock.paused,
        )

    def judges_to_ask(self, failure: AttemptFailure | None) -> Judges | None:
        """Return the judges when some are still to be asked: nothing they say changes what the machinery failed."""
        if self.judges is None or not self.judges.waiting or (failure is not None and failure.phase is not None):
            return None
        return self.judges

    @property
    def start_failed(self) -> bool:
        return self.calls.failure is not None and self.calls.failure.retryable

    async def end_cut_turn(self, end: BodyEnd) -> None:
        reason = self.calls.failure.reason if self.calls.failure else "the body ended this turn"
        problem = await self.conversation.end_cut_turn(TIMEOUT if end.timed_out else reason)
        if problem:
            self.notes.diagnostics.append(problem)

    def failure(self, end: BodyEnd) -> AttemptFailure | None:
        """Return what made it an error or a fail, the machinery first; failed asserts become checks."""
        machinery = self.calls.failure
        if machinery is not None:
            return AttemptFailure(reason=machinery.reason, phase=machinery.phase, detail=machinery.detail)
        if end.timed_out:
            return self._timeout(end)
        error = without_control(end.error) if end.error is not None else None
        if error is not None:
            return self._escaped(error)
        return AttemptFailure(reason=end.left, phase=Phase.BODY) if end.left else None

    def _timeout(self, end: BodyEnd) -> AttemptFailure:
        if end.given_up:
            self.notes.diagnostics.append("the body swallowed its cancellation and was given up")
        if end.agent_acted:
            turn = len(self.conversation.turns)  # the cut one is kept by now, as the last
            detail = f"the limit of {self._job.timeout:g} s passed while turn {turn} was still running"
            return AttemptFailure(reason=TIMEOUT, detail=detail)
        where = end.during or "code of the body itself"
        reason = f"the attempt's timeout of {self._job.timeout:g} s passed in {where}, not in the agent's turn"
        return AttemptFailure(reason=reason, phase=Phase.CHECK if end.during else Phase.BODY)

    def _escaped(self, error: BaseException) -> AttemptFailure | None:
        failures = failed_asserts(error, self._job.attempt.eval.file)
        if failures is None:
            reason, detail = told(error, self._job.root)
            return AttemptFailure(reason=reason, phase=Phase.BODY, detail=detail)
        for failed in failures:
            if self.ledger.closed:
                self.notes.diagnostics.append(f"after the body was stopped, an assert failed: {failed.label}")
            else:
                self.ledger.failed_assert(failed.label, failed.message, failed.line)
        return None

    def record(self, started_at: int, failure: AttemptFailure | None) -> AttemptRecord:
        attempt, turns, checks = self._job.attempt, self.conversation.turns, self.ledger.seal()
        if self.data is not None:
            data, verdict = self.data.ended(failure)
        else:
            facts = AttemptFacts(kind=attempt.eval.kind, checks=checks, failure=failure, skip_reason=self.calls.skipped)
            data, verdict = None, judge_attempt(facts)
        return AttemptRecord(
            eval=attempt.eval.id,
            attempt=attempt.id,
            outcome=verdict.outcome,
            started_at=started_at,
            duration=round(self.clock.elapsed, 6),
            harness=attempt.cell.harness,
            sandbox=attempt.cell.sandbox,
            run=attempt.run,
            environment=attempt.cell.environment,
            case=attempt.case,
            role=attempt.cell.role,
            verdict=verdict.verdict,
            score=verdict.score,
            score_state=verdict.score_state,
            partial_score=verdict.partial_score,
            failure=verdict.failure,
            skip_reason=verdict.skip_reason,
            checks=checks,
            turns=list(turns),
            diff="".join(turn.changes.patch for turn in turns),
            log=self.log.text(),
            commands=list(self.workspace.ran) if _shows_commands(attempt) else [],
            observations=self.notes.observations,
            diagnostics=self.notes.diagnostics,
            refused=self.room.refused,
            artifacts=self.notes.artifacts,
            data=[] if data is None else [data],
            judgments=self.judges.judgments(self.ledger.sealed) if self.judges else [],
            usage=_usage(turns) + (self.judges.usage() if self.judges else []),
            model=turns[-1].model if turns else None,
            start_duration=self.room.start_duration and round(self.room.start_duration, 6),
            tries=self._job.tries,
            task=attempt.eval.task,
            subject=self._job.subject,
        )


def _shows_commands(attempt: PlannedAttempt) -> bool:
    return any(question.state.get("checks") for question in attempt.eval.questions)


def _usage(turns: Sequence[Turn]) -> list[SpenderUsage]:
    """Add up what the agent used; nothing when no turn reports it."""
    known = [turn.usage for turn in turns if turn.usage is not None]
    if not known:
        return []
    # A turn that does not report makes the sum unknown: less than all would read as all.
    usage = sum(known[1:], known[0]) if len(known) == len(turns) else Usage()
    return [SpenderUsage(spender="agent", usage=usage, model=turns[-1].model)]

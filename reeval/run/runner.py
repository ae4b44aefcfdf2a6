"""How does a plan become results? Attempts start as soon as there is room, and stop when the run has to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio.abc import TaskGroup

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import UserError
from reeval.protocols import Executor
from reeval.run.asking.models import Models
from reeval.run.body.context import Context
from reeval.run.body.invoke import drive_body
from reeval.run.dispatch import Dispatcher, limits_of
from reeval.run.executor import LocalExecutor
from reeval.run.stage.interrupt import interruptible
from reeval.run.stage.process import staged
from reeval.run.stage.watchdog import Blocked, watching
from reeval.run.tools import Tools
from reeval.schema.plan import Plan, PlannedAttempt, planned_attempts
from reeval.schema.record import AttemptRecord, Outcome, RunState
from reeval.schema.recorded.budget import BudgetRecord

if TYPE_CHECKING:
    from reeval.run.budget import Budget
    from reeval.run.data.database import RunDatabase
    from reeval.run.questions.schedule import Asker
    from reeval.run.stopping import Stopping

__all__ = ["RunOutcome", "run_plan"]

SHOWN = 50
"""Attempts that did not pass whose records are kept, to be shown in detail."""
_BAD = frozenset({Outcome.ERROR, Outcome.FAIL, Outcome.REVIEW})


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the run itself ended. What its attempts add up to is compiled from the journal."""

    state: RunState
    notes: tuple[str, ...] = ()
    """Why it stopped before its end."""
    failures: tuple[AttemptRecord, ...] = ()
    """The first attempts that did not pass, at most 50, as they stand in the journal."""
    budget: BudgetRecord | None = None
    """What was spent of the budget; None: there is none."""


async def run_plan(plan: Plan, tools: Tools) -> RunOutcome:
    """Run every attempt of the plan that has no record yet.

    A first SIGINT or SIGTERM ends it in order (state ``interrupted``), a second one ends the process at once. A record
    that cannot be written ends it with state ``failed``.
    """
    run = _Run(plan, tools)
    with staged(), interruptible(run.interrupt), run.watched():
        async with run.models, run.database or nullcontext(), run.asking(), anyio.create_task_group() as tasks:
            run.begin(tasks)
    return run.outcome()


class _Once:
    """Calls a function the first time that it is called."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function: Callable[[], None] | None = function

    def __call__(self) -> None:
        function, self._function = self._function, None
        if function is not None:
            function()


class _Run:
    """One run while it runs."""

    def __init__(self, plan: Plan, tools: Tools) -> None:
        self._plan = plan
        self._tools = tools
        self.models = Models(plan, tools.catalog, tools.environ, tools.root)
        """Judges and questions share them: a provider's limit holds for the whole run."""
        self.database = _database(plan, tools)
        self._executor: Executor = tools.executor or LocalExecutor(tools, self.models, self.database)
        limits = limits_of(plan)
        ahead = (attempt for attempt in planned_attempts(plan) if attempt.key not in tools.done)
        self._stopping = _stopping(plan, tools)
        needed = self._stopping.needed if self._stopping else lambda _: True
        self._dispatcher = Dispatcher(ahead, msgspec.structs.replace(limits, run=1) if tools.debug else limits, needed)
        self._tasks: TaskGroup | None = None
        self._asker: Asker | None = None
        self._state = RunState.COMPLETED
        self._notes: list[str] = []
        self._failures: list[AttemptRecord] = []
        self._failed = 0
        self._stopped = False
        self._budget = _budget(tools)
        self._held = False
        """The budget lets nothing more begin; what runs comes to its end."""
        self._kept_back = 0
        """Attempts that were about to begin then."""

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Ask the plan's questions beside its attempts; leaving the block waits for the answers."""
        if not any(planned.questions for planned in self._plan.evals):
            yield
            return
        from reeval.run.questions.schedule import asking

        async with asking(self._plan, self._tools, self._answered, self._broken) as self._asker:
            yield

    def begin(self, tasks: TaskGroup) -> None:
        """Start what has room; every attempt that ends starts the next, so that no task waits for one."""
        self._tasks = tasks
        if self._stopping is not None:
            self._leave_out(self._stopping.begin())
        self._start_next()

    def outcome(self) -> RunOutcome:
        """Say how it ended."""
        budget = self._spent()
        state = RunState.INTERRUPTED if budget is not None and budget.stopped else self._state
        return RunOutcome(state=state, notes=tuple(self._notes), failures=tuple(self._failures), budget=budget)

    def interrupt(self) -> None:
        """Stop in order: what runs is cleaned up, what ended is recorded."""
        self._tools.reporter.warning("interrupted: cleaning up and recording; press Ctrl-C again to leave at once")
        self._stop(RunState.INTERRUPTED, "interrupted")

    def watched(self) -> AbstractContextManager[None]:
        """Watch for bodies that block the event loop, except in a debugger, which does."""
        if self._tools.debug:
            return nullcontext()
        return watching(self._tools.root.resolve(), drive_body.__code__, self._blocked)

    def _start_next(self) -> None:
        while self._tasks is not None and not (self._stopped or self._held):
            attempt = self._dispatcher.take()
            if attempt is None:
                return
            if self._stopping is not None:
                self._stopping.started(attempt)
            self._tasks.start_soon(self._attempt, attempt, name=attempt.key)

    async def _attempt(self, attempt: PlannedAttempt) -> None:
        if self._stopped or self._held:
            self._kept_back += 1
            return
        self._tools.reporter.attempt_started(attempt)
        give_back = _Once(partial(self._dispatcher.release, attempt))

        def collected() -> None:
            self._tools.reporter.attempt_judging(attempt)
            if self._budget is None:  # With one, its room bounds how many attempts cost what is not counted yet.
                give_back()
                self._start_next()

        try:
            record = await self._executor.execute(self._plan, attempt.key, self._tools.recorder, collected)
        except UserError as error:
            # The plan no longer fits the project, or nothing more can be recorded: no other attempt would fare better.
            self._broken(error)
        else:
            self._ended(attempt, record)
        finally:
            give_back()
        self._start_next()

    def _ended(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        if self._stopping is not None:
            self._leave_out(self._stopping.ended(attempt, record.outcome))
        self._tools.reporter.attempt_finished(attempt, record)
        if self._asker is not None:
            self._asker.ended(attempt, record.outcome, record.verdict)
        if self._budget is not None:
            self._budget.attempt(record)
            self._look_at_budget(self._budget)
        self._count(record)

    def _leave_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        if not attempts:
            return
        self._tools.reporter.attempts_left_out(attempts)
        if self._asker is not None:
            self._asker.left_out(attempts)

    def _count(self, record: AttemptRecord) -> None:
        if record.outcome not in _BAD and record.verdict != "fail":
            return
        self._failed += 1
        if len(self._failures) < SHOWN:
            self._failures.append(record)
        most = self._tools.max_failures
        if most is not None and self._failed >= most:
            plural = "s" if most > 1 else ""
            self._stop(RunState.COMPLETED, f"stopped after {most} attempt{plural} that did not pass")

    async def _answered(self, model: str, request: ModelRequest) -> ModelReply:
        """Ask a model for the questions, whose answers cost something too."""
        reply = await self.models.answer(model, request)
        if self._budget is not None:
            self._budget.answer(model, reply.usage)
            self._look_at_budget(self._budget)
        return reply

    def _look_at_budget(self, budget: Budget) -> None:
        """Begin nothing more once the budget says so."""
        if self._held or (why := budget.why_stop) is None:
            return
        self._held = True
        self._tools.reporter.warning(f"{why}: what runs comes to its end, nothing more begins")
        if self._asker is not None:
            self._asker.hold()

    def _spent(self) -> BudgetRecord | None:
        if self._budget is None:
            return None
        in_order = self._held and not self._stopped
        unstarted = self._dispatcher.left() + self._kept_back
        return self._budget.record(
            unstarted=unstarted, unasked=self._asker.unasked if self._asker else 0, in_order=in_order
        )

    def _broken(self, error: UserError) -> None:
        self._stop(RunState.FAILED, self._tools.masker.text(str(error)))

    def _stop(self, state: RunState, note: str) -> None:
        """Start no more attempts. Questions about those that ended are still asked when the run ends in order."""
        # A run that was stopped in order may still be interrupted, or break, while questions are asked.
        if self._stopped and not (self._state is RunState.COMPLETED and state is not RunState.COMPLETED):
            return
        self._stopped = True
        self._state = state
        self._notes.append(note)
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
        if self._asker is not None and state is not RunState.COMPLETED:
            self._asker.cancel()

    def _blocked(self, blocked: Blocked) -> None:
        context = blocked.body
        whose = f"the body of {context.attempt.key}" if isinstance(context, Context) else "code of the project"
        text = f"{blocked.place}: {whose} blocks every other attempt; await something asynchronous, or make it a `def`"
        if isinstance(context, Context):
            context.note(text)
        self._tools.reporter.warning(text)


def _budget(tools: Tools) -> Budget | None:
    if tools.budget is None:
        return None
    from reeval.run.budget import Budget

    return Budget(tools.budget, allow_unknown=tools.allow_unknown_cost)


def _database(plan: Plan, tools: Tools) -> RunDatabase | None:
    """Return where the queries of data questions run; None: the plan asks none."""
    if not any(planned.data for planned in plan.evals):
        return None
    from reeval.run.data.database import RunDatabase

    return RunDatabase(plan, tools.catalog, tools.environ)


def _stopping(plan: Plan, tools: Tools) -> Stopping | None:
    """Return what stops evals early; None when none does."""
    if not any(planned.until for planned in plan.evals):
        return None
    from reeval.run.stopping import Stopping

    earlier = {key: outcome for key, (outcome, _) in tools.earlier.attempts.items()}
    return Stopping(plan, run_id=tools.run_id, done=tools.done, earlier=earlier)

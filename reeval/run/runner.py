"""How does a plan become results? Attempts start as soon as there is room, and stop when the run has to."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from reeval.errors import RecordError, UserError
from reeval.protocols import Executor
from reeval.run.body.invoke import drive_body
from reeval.run.dispatch import Dispatcher, limits_of
from reeval.run.executor import LocalExecutor
from reeval.run.stage.interrupt import interruptible
from reeval.run.stage.process import staged
from reeval.run.stage.watchdog import Blocked, watching
from reeval.run.tools import Tools
from reeval.schema.plan import Plan, PlannedAttempt, planned_attempts
from reeval.schema.record import AttemptRecord, Outcome, RunState

__all__ = ["RunOutcome", "run_plan"]

SHOWN = 50
"""Attempts that did not pass whose records are kept, to be shown in detail."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """How the run itself ended. What its attempts add up to is compiled from the journal."""

    state: RunState
    notes: tuple[str, ...] = ()
    """Why it stopped before its end."""
    failures: tuple[AttemptRecord, ...] = ()
    """The first attempts that did not pass, at most 50, as they stand in the journal."""


async def run_plan(plan: Plan, tools: Tools) -> RunOutcome:
    """Run every attempt of the plan that has no record yet.

    A first SIGINT or SIGTERM ends it in order (state ``interrupted``), a second one ends the process at once. A record
    that cannot be written ends it with state ``failed``.
    """
    run = _Run(plan, tools)
    with staged(), interruptible(run.interrupt):
        async with run.watched(), anyio.create_task_group() as tasks:
            run.begin(tasks)
    return run.outcome()

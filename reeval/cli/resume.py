"""Which finished attempts of a run still count when it goes on?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import anyio

from reeval.cli.project import Project

if TYPE_CHECKING:
    from reeval.record.format.journal import JournalIndex
    from reeval.record.store import RunDirectory
    from reeval.run.tools import Earlier
    from reeval.schema.plan import Plan, PlannedAttempt
    from reeval.schema.record import Outcome
    from reeval.schema.recorded.answers import AnswerRecord, PairRecord

__all__ = ["Kept", "kept_attempts"]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a resume need not run again."""

    keys: frozenset[str] = frozenset()
    changed: dict[str, str] = field(default_factory=dict)
    """Eval → why its finished attempts no longer count."""
    facts: tuple[str, ...] = ()
    """Lines of the header."""
    earlier: Earlier | None = None
    """What questions and early stops need to know; None: the plan has none."""


class _Finished(NamedTuple):
    """What a resume must know of a recorded attempt: a run may hold many."""

    eval: str
    task: str
    subject: str
    outcome: Outcome
    verdict: str | None


def kept_attempts(run: RunDirectory, index: JournalIndex, plan: Plan, project: Project, *, retry_errors: bool) -> Kept:
    """Return the finished attempts whose eval's task and subject are what they were.

    With ``retry_errors`` an attempt that ended as ``error`` runs again; every other one that finished is kept.
    """
    from reeval.schema.plan import planned_attempts
    from reeval.schema.record import Outcome

    planned = {attempt.key: attempt for attempt in planned_attempts(plan)}
    finished = {
        key: _Finished(record.eval, record.task, record.subject, record.outcome, record.verdict)
        for record in run.attempts(index)
        if (key := f"{record.eval}@{record.attempt}") in planned
    }
    subjects = anyio.run(_subjects, plan, project, [planned[key] for key in finished])
    changed: dict[str, str] = {}
    for key, record in finished.items():
        if reason := _difference(record, planned[key], subjects[planned[key].cell.key, record.eval]):
            changed.setdefault(record.eval, reason)
    again = {Outcome.ERROR} if retry_errors else set()
    keys = {key for key, it in finished.items() if it.eval not in changed and it.outcome not in again}
    return Kept(
        keys=frozenset(keys),
        changed=changed,
        facts=_facts(run, len(keys), len(planned), changed),
        earlier=_earlier(run, index, plan, {key: finished[key] for key in keys}),
    )


def _earlier(run: RunDirectory, index: JournalIndex, plan: Plan, kept: dict[str, _Finished]) -> Earlier | None:
    """Return how kept attempts ended that may still be asked about, or that may end their eval early.

    With them, which questions were answered as they are now.
    """
    asked = {planned.id: planned.questions for planned in plan.evals if planned.questions}
    known = asked.keys() | {planned.id for planned in plan.evals if planned.until}
    if not known:
        return None
    from reeval.grade.asked.tallies import answers_it
    from reeval.run.tools import Earlier

    answered = [
        answer.key
        for answer in run.answers(index)
        if _is_kept(answer, kept)
        and answer.complete
        and any(answers_it(answer, one) for one in asked.get(answer.eval, ())[answer.question - 1 : answer.question])
    ]
    return Earlier(
        attempts={key: (it.outcome, it.verdict) for key, it in kept.items() if it.eval in known},
        answered=frozenset(answered),
    )


def _is_kept(answer: AnswerRecord | PairRecord, kept: dict[str, _Finished]) -> bool:
    return all(f"{answer.eval}@{attempt}" in kept for attempt in answer.key.attempts)


def _difference(record: _Finished, attempt: PlannedAttempt, subject: str) -> str | None:
    if record.task != attempt.eval.task:
        return "its task changed"
    if record.subject and record.subject != subject:
        return "what runs it changed"
    return None


async def _subjects(plan: Plan, project: Project, attempts: list[PlannedAttempt]) -> dict[tuple[str, str], str]:
    """Return the digest of what runs each cell of the evals that have finished attempts."""
    from reeval.run.shared import SharedParts
    from reeval.shelf import CACHE

    parts = SharedParts(plan, project.catalog, project.root, project.store.root / CACHE)
    found: dict[tuple[str, str], str] = {}
    for attempt in attempts:
        place = (attempt.cell.key, attempt.eval.id)
        if place not in found:
            found[place] = (await parts.of(attempt)).subject
    return found


def _facts(run: RunDirectory, kept: int, planned: int, changed: dict[str, str]) -> tuple[str, ...]:
    lines = [f"resumed {run.id}: {kept:,} of {planned:,} attempts are kept"]
    lines += [f"runs again: {eval_id}, since {reason}" for eval_id, reason in changed.items()]
    return tuple(lines)

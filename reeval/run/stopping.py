"""Which attempts of a run need not start, since what they were for is known already?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reeval.grade.early.early import Early, Group, place_of
from reeval.grade.early.rules import early_of
from reeval.schema.plan import Plan, PlannedAttempt, planned_attempts
from reeval.schema.record import Outcome

__all__ = ["Stopping"]


class Stopping:
    """The evals of a run that stop early. What runs when an answer gets known is not cut short: it is recorded too."""

    def __init__(self, plan: Plan, *, run_id: str, done: Iterable[str], earlier: Mapping[str, Outcome]) -> None:
        """``done`` are the keys of attempts that do not run again, and ``earlier`` says how they ended (resume)."""
        self._rules = {planned.id: rule for planned in plan.evals if (rule := early_of(planned, seed=run_id))}
        self._waiting: dict[tuple[str, Group], dict[int, PlannedAttempt]] = {}
        done = frozenset(done)
        for attempt in planned_attempts(plan) if self._rules else ():
            if attempt.eval.id not in self._rules:
                continue
            if attempt.key in earlier:
                self._add(attempt, earlier[attempt.key])
            if attempt.key not in done:
                self._waiting.setdefault(_place(attempt), {})[attempt.run] = attempt
        self._left_out = [attempt for id, rule in self._rules.items() for attempt in self._closed(id, rule)]

    def begin(self) -> list[PlannedAttempt]:
        """Return what need not start after what ran before: of a resumed run."""
        return self._left_out

    def needed(self, attempt: PlannedAttempt) -> bool:
        """Say whether an attempt should start."""
        return attempt.eval.id not in self._rules or attempt.run in self._waiting.get(_place(attempt), ())

    def started(self, attempt: PlannedAttempt) -> None:
        """An attempt begins: it will be recorded, needed or not."""
        if attempt.eval.id in self._rules:
            self._waiting[_place(attempt)].pop(attempt.run, None)

    def ended(self, attempt: PlannedAttempt, outcome: Outcome) -> list[PlannedAttempt]:
        """Count an attempt that is settled; return what need not start any more."""
        rule = self._rules.get(attempt.eval.id)
        if rule is None:
            return []
        self._add(attempt, outcome)
        return list(self._closed(attempt.eval.id, rule))

    def _add(self, attempt: PlannedAttempt, outcome: Outcome) -> None:
        self._rules[attempt.eval.id].add(place_of(attempt.cell), attempt.case, attempt.run, outcome)

    def _closed(self, eval_id: str, rule: Early) -> Iterator[PlannedAttempt]:
        for group in rule.closed():
            waiting = self._waiting.get((eval_id, group), {})
            for run in [run for run in waiting if not rule.needed(group, run)]:
                yield waiting.pop(run)


def _place(attempt: PlannedAttempt) -> tuple[str, Group]:
    return attempt.eval.id, (place_of(attempt.cell), attempt.case)

"""What do the attempts of one side of a compare come to? Folded one by one; a few numbers of each are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reeval.errors import Phase
from reeval.grade.cells import agent_cost, agent_tokens
from reeval.grade.compared.differences import Counted
from reeval.grade.compared.lifts import Side
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, CheckRecord, FileRef, Outcome

__all__ = ["MEASURES", "SideFold"]

MEASURES = ("tokens", "cost", "duration", "turns", "tool_calls")
_MOST_CHECKS = 500
"""Labels that are counted: those of a generated eval may go into the thousands."""

Key = tuple[str | None, int]
"""Case, and run from 1."""


class SideFold:
    """The attempts of one harness, environment and sandbox of an eval."""

    def __init__(self, cases: Sequence[str] = ()) -> None:
        self._places: dict[str | None, int] = {case: place for place, case in enumerate(cases)}
        self._values: dict[Key, float] = {}
        self._measures: dict[str, dict[Key, float]] = {name: {} for name in MEASURES}
        self._held: dict[str, list[int]] = {}
        self._body_errors = False
        self._errors: defaultdict[str | None, int] = defaultdict(int)
        self._skipped: set[Key] = set()
        self.finished = 0
        """Attempts that ended, without skipped ones."""
        self.subjects: set[str] = set()
        """Digests of what ran."""

    def add(self, attempt: AttemptRecord, *, tool_calls: int | None) -> None:
        """Count one finished attempt, whose checks were read back; ``tool_calls`` of all its turns, None: unknown."""
        if attempt.outcome == Outcome.SKIPPED:
            self._skipped.add((attempt.case, attempt.run))
            return
        self.finished += 1
        self.subjects |= {attempt.subject} - {""}
        if attempt.outcome == Outcome.ERROR:
            self._errors[attempt.case] += 1
            self._body_errors |= attempt.failure is not None and attempt.failure.phase == Phase.BODY
            return
        key = (attempt.case, attempt.run)
        scored = attempt.outcome == Outcome.SCORED
        self._values[key] = (attempt.score or 0.0) if scored else float(attempt.outcome == Outcome.PASS)
        self._measure(key, attempt, tool_calls)
        for check in () if isinstance(attempt.checks, FileRef) else attempt.checks:
            self._check(check)

    def _measure(self, key: Key, attempt: AttemptRecord, tool_calls: int | None) -> None:
        found = {
            "tokens": agent_tokens(attempt),
            "cost": agent_cost(attempt),
            "duration": attempt.duration,
            "turns": None if isinstance(attempt.turns, FileRef) else float(len(attempt.turns)),
            "tool_calls": tool_calls,
        }
        for name, value in found.items():
            if value is not None:
                self._measures[name][key] = value

    def _check(self, check: CheckRecord) -> None:
        held = check.holds
        if held is None and check.status in {CheckStatus.MATCHED, CheckStatus.MISMATCHED}:
            held = check.status == CheckStatus.MATCHED
        if held is not None and (check.label in self._held or len(self._held) < _MOST_CHECKS):
            counts = self._held.setdefault(check.label, [0, 0])
            counts[0] += held
            counts[1] += 1

    @property
    def side(self) -> Side:
        """The decided attempts: passes, or complete scores."""
        return Side(attempts=self._by_case(self._values), body_errors=self._body_errors)

    @property
    def passed(self) -> int:
        """Attempts that passed; of a side without scores."""
        return int(sum(self._values.values()))

    @property
    def errors(self) -> int:
        """Attempts that ended in an error."""
        return sum(self._errors.values())

    def measure(self, name: str) -> Mapping[str | None, Sequence[float]]:
        """Return the known values of one of ``MEASURES``."""
        return self._by_case(self._measures[name])

    def checks(self) -> dict[str, Counted]:
        """Return how often each check held; measurements without a gate are not among them."""
        return {label: Counted(held=held, evaluated=count) for label, (held, count) in self._held.items()}

    def bounds(self, runs: int) -> dict[str | None, tuple[float, int, int]]:
        """Return for each case what its decided attempts sum up to, how many can still change it, and all that count.

        Of each case ``runs`` attempts count. A case whose attempts were all skipped is left out.
        """
        decided = self._by_case(self._first(runs))
        found: dict[str | None, tuple[float, int, int]] = {}
        for case in self._places or (None,):
            values = decided.get(case, ())
            skipped = sum((case, run) in self._skipped for run in range(1, runs + 1))
            count = max(runs - skipped, len(values))
            if count:
                found[case] = (sum(values), count - len(values), count)
        return found

    def first(self, runs: int) -> list[float]:
        """Return the decided attempts of the first ``runs`` runs, in any order."""
        return list(self._first(runs).values())

    def _first(self, runs: int) -> dict[Key, float]:
        return {key: value for key, value in self._values.items() if key[1] <= runs}

    def _by_case(self, values: Mapping[Key, float]) -> dict[str | None, list[float]]:
        """Attempts end in any order; what is said of them must not depend on it."""
        found: dict[str | None, list[float]] = {}
        for case, run in sorted(values, key=lambda key: (self._places.get(key[0], 0), key[1])):
            found.setdefault(case, []).append(values[case, run])
        return found

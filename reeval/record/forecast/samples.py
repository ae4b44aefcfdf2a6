"""What did earlier attempts of the evals of a plan take, with the same agent and model?"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reeval.errors import RecordError
from reeval.grade.asked.tallies import answered_usage
from reeval.grade.cells import attempt_cost
from reeval.grade.forecast.estimate import Ran, Samples
from reeval.record.format.journal import last_lines
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.plan import Plan, PlannedHarness
from reeval.schema.record import AttemptRecord, Outcome
from reeval.schema.recorded.answers import AnswerRecord, PairRecord

__all__ = ["samples"]

ENOUGH = 30
"""Attempts of an eval with one agent; what ran before them says little more."""
MOST_RUNS = 20
_PLENTY = 1024 * 1024
"""Bytes after which nothing more is read once something is known of each."""
MOST = 8 * 1024 * 1024
"""Bytes that are read at all, in about 40 ms: a dry run must not read a year of them."""
_TELLING = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.REVIEW, Outcome.SCORED})


class _Agents(msgspec.Struct):
    harnesses: dict[str, PlannedHarness]


class _Head(msgspec.Struct, tag="run"):
    plan: _Agents


_head = msgspec.json.Decoder(_Head).decode


def samples(store: RunStore, plan: Plan) -> Samples:
    """Return what is known, from the ends of the newest journals. What is damaged is passed over.

    An agent is the same while its kind, model and effort are; questions count whatever was asked.
    """
    found = _Found(plan)
    for run in _newest(store):
        if found.enough:
            break
        found.add(run)
    return Samples(ran={key: ran for key, ran in found.ran.items() if ran.seconds}, asked=found.asked)


def _newest(store: RunStore) -> Sequence[RunDirectory]:
    try:
        return store.list()[:MOST_RUNS]
    except RecordError:
        return ()


class _Found:
    """What was found so far."""

    def __init__(self, plan: Plan) -> None:
        running = [planned for planned in plan.evals if planned.attempts]
        self.ran = {(planned.id, cell.harness): Ran() for planned in running for cell in planned.cells}
        self.asked: dict[tuple[str, bool], list[float]] = {}
        self._evals = {planned.id for planned in running}
        self._agents = {id: _agent(harness) for id, harness in plan.harnesses.items()}
        self._short = len(self.ran)
        """Evals with an agent of which more would be told, if there were more."""
        self._unknown = len(self.ran)
        self._read = 0

    @property
    def enough(self) -> bool:
        """Whether more would say little more, or take too long to read."""
        return not self._short or self._read >= (MOST if self._unknown else _PLENTY)

    def add(self, run: RunDirectory) -> None:
        """Add what a run tells."""
        try:
            with run.journal.open("rb") as file:
                head = _head(file.readline())
                size = file.seek(0, 2)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return
        same = {id for id, harness in head.plan.harnesses.items() if self._agents.get(id) == _agent(harness)}
        if not same:
            return
        left = MOST - self._read
        self._read += min(left, size)
        for line in last_lines(run.journal, left):
            if isinstance(line, AttemptRecord):
                if line.harness in same:
                    self._attempt(line)
            elif line.eval in self._evals:
                self._answer(line)

    def _attempt(self, record: AttemptRecord) -> None:
        ran = self.ran.get((record.eval, record.harness))
        if ran is None or record.outcome not in _TELLING or len(ran.seconds) >= ENOUGH:
            return
        ran.seconds.append(record.duration + (record.start_duration or 0.0))
        if (cost := attempt_cost(record)) is not None:
            ran.costs.append(cost)
        self._unknown -= len(ran.seconds) == 1
        self._short -= len(ran.seconds) == ENOUGH

    def _answer(self, record: AnswerRecord | PairRecord) -> None:
        costs = self.asked.setdefault((record.eval, isinstance(record, PairRecord)), [])
        if (cost := answered_usage(record).cost) is not None and len(costs) < ENOUGH:
            costs.append(cost)


def _agent(harness: PlannedHarness) -> tuple[str, str | None, str | None]:
    return harness.kind, harness.model, harness.effort

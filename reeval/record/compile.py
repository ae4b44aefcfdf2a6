"""What does a run add up to? ``record.json``, made from the journal: at the end of a run, and for a killed one.

Everything is counted from the attempts that count, never from counters kept on the way.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from reeval.errors import RecordError
from reeval.grade.asked.tallies import QuestionFold, answered_usage, answers_it
from reeval.grade.cells import CellFold, TotalsFold, run_exit_code
from reeval.grade.early.early import Place, place_of
from reeval.grade.early.rules import cell_record, early_of
from reeval.grade.remarks import Remarks
from reeval.record.format.journal import JournalIndex, Span, whole_size
from reeval.record.store import RunDirectory
from reeval.record.writer import writing
from reeval.schema.plan import Plan, PlannedEval, Selection
from reeval.schema.record import (
    SCHEMA_VERSION,
    AccuracyRecord,
    AttemptEntry,
    AttemptRecord,
    EvalRecord,
    RunRecord,
    RunState,
)
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.schema.recorded.lifts import LiftRecord
from reeval.schema.transcript import Turn

if TYPE_CHECKING:
    from reeval.grade.compared.stopping import Stopped
    from reeval.grade.comparing.recorded import CompareFold

__all__ = ["RECORD", "compile_record", "load_record", "write_record"]

RECORD = "record.json"
_SAME = (
    "created_at",
    "created_by",
    "project",
    "reeval_version",
    "python_version",
    "platform",
    "host",
    "command",
    "git_commit",
    "git_branch",
    "git_dirty",
)
"""What a record takes over from the head of its journal."""
_REASON = 200
"""Characters of a reason in an entry; the journal has all of it."""


def compile_record(run: RunDirectory) -> RunRecord:
    """Make the record of a run from its journal; raise ``RecordError`` when there is no head to it."""
    index = run.index()
    start, plan = run.start(index), run.plan(index)
    folds = _Folds(plan, run.id)
    for span, attempt in zip(sorted(index.spans()), run.attempts(index), strict=True):
        folds.add(run, attempt, span)
    for answer in run.answers(index):
        folds.answer(answer)
    state = _state(run, index)
    budget = index.end.budget if index.end else None
    evals, accuracy = _with_accuracy(folds.evals(run.id))
    return RunRecord(
        schema_version=SCHEMA_VERSION,
        run_id=run.id,
        state=state,
        kind=plan.kind,
        exit_code=run_exit_code(evals, state, by_budget=budget is not None and budget.stopped),
        ended_at=index.end.ended_at if index.end else None,
        **{name: getattr(start, name) for name in _SAME},
        profile=plan.selection.profile,
        selection=_typed(plan.selection),
        totals=folds.totals.record(sum(cell.planned for planned in evals for cell in planned.cells)),
        evals=evals,
        lifts=folds.pooled(run.id, scored=plan.kind == "scored"),
        accuracy=accuracy,
        target=plan.database.target if plan.database and accuracy else None,
        remarks=folds.remarks.lines(),
        notes=[*plan.notes, *_notes(index, folds.unplanned)],
        budget=budget,
        dropped=_dropped(run),
        journal_bytes=index.size,
    )


def write_record(run: RunDirectory, dropped: Iterable[str] = ()) -> RunRecord:
    """Make the record and put it into ``record.json``, whole or not at all; ``dropped`` is added to what it says."""
    record = compile_record(run)
    record = msgspec.structs.replace(record, dropped=list(dict.fromkeys([*record.dropped, *dropped])))
    path = run.path / RECORD
    new = path.with_suffix(".json.new")
    with writing(path):
        try:
            with new.open("wb") as file:
                file.write(msgspec.json.encode(record))
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    return record


def load_record(run: RunDirectory) -> RunRecord:
    """Return the record: ``record.json`` while it still fits the journal, else made from the journal."""
    found = _stored(run)
    if found is not None and found.schema_version <= SCHEMA_VERSION and not _is_stale(run, found):
        return found
    return compile_record(run)


def _stored(run: RunDirectory) -> RunRecord | None:
    try:
        return msgspec.json.decode((run.path / RECORD).read_bytes(), type=RunRecord)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _is_stale(run: RunDirectory, record: RunRecord) -> bool:
    try:
        return record.journal_bytes != whole_size(run.journal) or record.run_id != run.id
    except OSError as error:
        raise RecordError(f"{run.journal}: cannot be read: {error.strerror}") from error


# --- adding up ----------------------------------------------------------------------------------------


@dataclass
class _Fold:
    """One eval and what its attempts add up to so far."""

    planned: PlannedEval
    seed: str
    """The run's id."""
    cells: dict[tuple[str, str, str], CellFold] = field(init=False)
    entries: list[tuple[tuple[int, int, int], AttemptEntry]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = {place_of(cell): CellFold() for cell in self.planned.cells}
        self.early = early_of(self.planned, seed=self.seed)
        self.questions = [QuestionFold(number, one) for number, one in enumerate(self.planned.questions, 1)]
        self.asked: set[str] = set()
        """Attempts that count, where questions are asked about them."""
        self.answers: dict[str, list[AnswerRecord]] = {}
        self.pairs: list[PairRecord] = []
        self.cases = {case: number for number, case in enumerate(self.planned.cases)}
        self.order = {place: number for number, place in enumerate(self.cells)}

    def add(self, attempt: AttemptRecord, span: Span) -> bool:
        """Count an attempt; False when the plan has no such cell."""
        place = (attempt.harness, attempt.environment, attempt.sandbox)
        if place not in self.cells:
            return False
        self.cells[place].add(attempt)
        if self.early is not None:
            self.early.add(place, attempt.case, attempt.run, attempt.outcome)
        if self.questions:
            self.asked.add(attempt.attempt)
        order = (attempt.run, self.cases.get(attempt.case or "", 0), self.order[place])
        self.entries.append((order, _entry(attempt, span)))
        return True

    def answer(self, answer: AnswerRecord | PairRecord) -> bool:
        """Count an answer; False when the plan has no such question or attempt any more."""
        found = [one for one in self.questions if one.number == answer.question and answers_it(answer, one.question)]
        if not found or not self.asked.issuperset(answer.key.attempts):
            return False
        if isinstance(answer, PairRecord):
            found[0].add_pair(answer)
            self.pairs.append(answer)
        else:
            found[0].add(answer)
            self.answers.setdefault(answer.attempt, []).append(answer)
        return True

    def record(self, lifts: list[LiftRecord]) -> EvalRecord:
        """Return the eval, its attempts in the order of the plan."""
        planned = self.planned
        self.entries.sort(key=lambda entry: entry[0])
        names = "id file path slug kind mode skip_reason description tags runs cases task"
        return EvalRecord(
            **{name: getattr(planned, name) for name in names.split()},
            notes=(*planned.notes, *(self.early.notes() if self.early else ())),
            asks=planned.data.question if planned.data else None,
            cells=[cell_record(planned, cell, self.cells[place_of(cell)], self.early) for cell in planned.cells],
            attempts=[self._answered(entry) for _, entry in self.entries],
            lifts=lifts,
            questions=[question.record(planned) for question in self.questions],
            answers=self._pairs(),
        )

    def told(self) -> dict[Place, Stopped]:
        """Return what is known of variants whose runs were added until that was told."""
        return self.early.told() if self.early else {}

    def _pairs(self) -> list[PairRecord]:
        """Return the pairs in the order of the plan; attempts are in theirs by now."""
        if not self.pairs:
            return []
        places = {entry.attempt: place for place, (_, entry) in enumerate(self.entries)}
        return sorted(self.pairs, key=lambda pair: (pair.question, pair.factor, places[pair.left], places[pair.right]))

    def _answered(self, entry: AttemptEntry) -> AttemptEntry:
        answers = self.answers.get(entry.attempt)
        if answers is None:
            return entry
        return msgspec.structs.replace(entry, answers=sorted(answers, key=lambda answer: answer.question))


class _Folds:
    """A whole run, attempt by attempt."""

    def __init__(self, plan: Plan, seed: str) -> None:
        self._evals = {planned.id: _Fold(planned, seed) for planned in plan.evals}
        self._compares = _compares(plan)
        self.totals = TotalsFold()
        self.remarks = Remarks()
        self.unplanned = 0
        """Attempts that no cell of the plan stands for: the project changed, and the run was resumed."""

    def add(self, run: RunDirectory, attempt: AttemptRecord, span: Span) -> None:
        fold = self._evals.get(attempt.eval)
        if fold is None or not fold.add(attempt, span):
            self.unplanned += 1
            return
        self.totals.add(attempt)
        whole = _whole(run, attempt)
        self.remarks.add(whole)
        if attempt.eval in self._compares:
            self._compares[attempt.eval].add(whole, tool_calls=_tool_calls(run, attempt))

    def answer(self, answer: AnswerRecord | PairRecord) -> None:
        fold = self._evals.get(answer.eval)
        if fold is not None and fold.answer(answer):
            self.totals.add_cost(answered_usage(answer).cost)

    def evals(self, seed: str) -> list[EvalRecord]:
        lifts = {id: fold.lifts(seed, self._evals[id].told()) for id, fold in self._compares.items()}
        return [fold.record(lifts.get(eval_id, [])) for eval_id, fold in self._evals.items()]

    def pooled(self, seed: str, *, scored: bool) -> list[LiftRecord]:
        if len(self._compares) < 2:
            return []
        from reeval.grade.comparing.recorded import pooled_lifts

        return pooled_lifts(self._compares.values(), scored=scored, seed=seed)


def _with_accuracy(evals: list[EvalRecord]) -> tuple[list[EvalRecord], list[AccuracyRecord]]:
    """Settle what data questions come to together; where there are none, nothing is imported."""
    if all(one.asks is None for one in evals):
        return evals, []
    from reeval.grade.data.accuracy import with_accuracy

    return with_accuracy(evals)


def _compares(plan: Plan) -> dict[str, CompareFold]:
    """Return what compares add up in; a run without one loads no statistics."""
    compared = [planned for planned in plan.evals if planned.compare]
    if not compared:
        return {}
    from reeval.grade.comparing.recorded import CompareFold

    return {planned.id: CompareFold(planned) for planned in compared}


def _whole(run: RunDirectory, attempt: AttemptRecord) -> AttemptRecord:
    """Return an attempt with what remarks look at read back; a damaged file leaves it out."""
    if isinstance(attempt.turns, list) and isinstance(attempt.checks, list):
        return attempt
    try:
        statuses = run.turn_statuses(attempt)
        return msgspec.structs.replace(
            attempt, turns=[Turn(prompt="", status=status) for status in statuses], checks=run.checks(attempt)
        )
    except RecordError:
        return attempt


def _tool_calls(run: RunDirectory, attempt: AttemptRecord) -> int | None:
    try:
        return run.tool_calls(attempt)
    except RecordError:
        return None


def _entry(attempt: AttemptRecord, span: Span) -> AttemptEntry:
    reason = attempt.failure.reason if attempt.failure else attempt.skip_reason
    if reason and len(reason) > _REASON:
        reason = f"{reason[: _REASON - 1]}…"
    return AttemptEntry(
        attempt=attempt.attempt,
        outcome=attempt.outcome,
        duration=round(attempt.duration, 4),
        line=(span.offset, span.length),
        verdict=attempt.verdict,
        score=attempt.score,
        reason=reason,
        analysis=attempt.failure.analysis if attempt.failure else "",
    )


# --- what else it says --------------------------------------------------------------------------------


def _state(run: RunDirectory, index: JournalIndex) -> RunState:
    if index.end is not None:
        return index.end.state
    return RunState.RUNNING if run.is_alive() else RunState.INTERRUPTED


def _notes(index: JournalIndex, unplanned: int) -> list[str]:
    notes = list(index.end.notes) if index.end else []
    notes += [f"{one.eval} ran again: {one.reason}" for one in index.superseded]
    notes += [f"journal, {problem}" for problem in index.problems]
    if unplanned:
        notes.append(f"attempts that the plan no longer has, left out: {unplanned}")
    return notes


def _dropped(run: RunDirectory) -> list[str]:
    """Return what earlier records said was dropped: the journal does not know."""
    found = _stored(run)
    return found.dropped if found else []


def _typed(selection: Selection) -> str:
    """Return a selection as one types it after ``reeval run``."""
    words = [*selection.evals, *selection.paths]
    flags: list[tuple[str, str | None]] = [
        ("-k", selection.keyword),
        *(("--tag", tag) for tag in selection.tags),
        ("--kind", selection.kind),
        *(("--harness", harness) for harness in selection.harnesses),
        ("--branch", selection.branch),
        ("--vs-branch", selection.vs_branch),
        ("--runs", None if selection.runs is None else str(selection.runs)),
    ]
    for flag, value in flags:
        words += [] if value is None else [flag, value]
    return shlex.join(words)

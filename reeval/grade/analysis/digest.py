"""What is a model told of a run? Rates, lifts, failed checks, errors, scores, answers: bounded, numbers with ids.

Words of agents, authors and models stand on one line each, between quotation marks: they cannot look like a figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from reeval.grade.analysis.figures import Figures, Unit
from reeval.grade.analysis.findings import Findings, JudgeScores, Key
from reeval.grade.analysis.lifting import lift_figures
from reeval.grade.analysis.samples import by_cell, went_wrong
from reeval.schema.record import AttemptEntry, CellRecord, EvalRecord, Outcome, RunRecord, Totals
from reeval.schema.recorded.answers import QuestionRecord
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["Part", "digest", "words"]

T = TypeVar("T")

MOST_EVALS = 40
"""Evals that are shown; those where something went wrong come first, the rest is counted."""
MOST_CELLS = 80
"""Cells of all evals together."""
MOST_ROWS = 60
"""Checks, errors, scores and answers, of each kind."""
MOST_IDS = 5
"""Attempts that a cell names for each way to end."""
MOST_NOTES = 20
LIMIT = 300
"""Characters of one text."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One named part of a digest."""

    title: str
    text: str


def words(text: str, limit: int = LIMIT) -> str:
    """Return a text of somebody else on one line, bounded, between quotation marks."""
    line = " ".join(text[: 4 * limit].split())
    return f"“{line}”" if len(line) <= limit and len(text) <= 4 * limit else f"“{line[:limit]}” (cut here)"


def digest(record: RunRecord, findings: Findings, figures: Figures, run: str) -> list[Part]:
    """Return the parts of a run's digest; ``figures`` learns every number in them."""
    teller = _Teller(record, findings, figures, run)
    parts = {
        "Run": teller.head(),
        "Rates": teller.rates(),
        "Lifts": teller.lifts(),
        "Failed checks": teller.checks(),
        "Errors": teller.errors(),
        "Judges": teller.judges(),
        "Answers": teller.answers(),
    }
    which = "" if run == "this" else f" of the run {run!r}"
    return [Part(title=f"{title}{which}", text="\n".join(lines)) for title, lines in parts.items() if lines]


def _shown_evals(record: RunRecord) -> list[EvalRecord]:
    """Return the evals that are shown, in the order of the run."""
    odd = sorted(record.evals, key=lambda one: not any(map(_odd, one.attempts)))[:MOST_EVALS]
    ids = {one.id for one in odd}
    return [one for one in record.evals if one.id in ids]


def _odd(entry: AttemptEntry) -> bool:
    return entry.outcome is Outcome.ERROR or went_wrong(entry)


class _Teller:
    """Says what one run holds."""

    def __init__(self, record: RunRecord, findings: Findings, figures: Figures, run: str) -> None:
        self._record = record
        self._findings = findings
        self._figures = figures
        self._run = run
        self._shown = _shown_evals(record)
        self._ids = frozenset(one.id for one in self._shown)

    def head(self) -> list[str]:
        """Return what the run is, and what it says about itself."""
        record, totals = self._record, self._record.totals
        profile = f", profile {record.profile}" if record.profile else ""
        lines = [
            f"run {record.run_id} of {record.project}, {record.kind}, {record.state.value}",
            f"selection: {record.selection or 'everything'}{profile}",
            self._count("evals", len(record.evals)),
        ]
        lines += [self._count(short, amount) for short, amount in _counted(totals)]
        if totals.cost is not None:
            lines.append(self._figure("dollars spent by agents", totals.cost, "amount"))
        remarks = islice((*record.remarks, *record.notes, *record.dropped), MOST_NOTES)
        return [*lines, *(f"remark: {words(text)}" for text in remarks)]

    def rates(self) -> list[str]:
        """Return what the attempts of every cell come to."""
        lines: list[str] = []
        left = MOST_CELLS
        for planned in self._shown:
            lines += _eval(planned)
            entries = by_cell(planned)
            for cell in planned.cells[:left]:
                lines += [*self._cell(planned, cell), *_examples(entries[cell.key])]
            if len(planned.cells) > left:
                lines.append(f"  ({len(planned.cells) - left:,} more cells are left out)")
            left = max(0, left - len(planned.cells))
        if more := len(self._record.evals) - len(self._shown):
            lines.append(f"({more:,} more evals are left out, those where less went wrong)")
        return lines

    def lifts(self) -> list[str]:
        """Return what variants did: in each eval, then pooled."""
        found = [(lift, planned.id) for planned in self._shown for lift in planned.lifts]
        every: list[tuple[LiftRecord, str | None]] = [*found, *((lift, None) for lift in self._record.lifts)]
        return _joined([list(self._lift(lift, eval_id)) for lift, eval_id in every[:MOST_ROWS]], len(every))

    def checks(self) -> list[str]:
        """Return what did not hold, the most frequent first."""
        found = sorted(self._mine(self._findings.checks), key=lambda one: -one[1].attempts)
        rows = [
            [self._row(_CHECKED[check.decides], check.attempts, key), *_samples(check.samples)]
            for key, check in found[:MOST_ROWS]
        ]
        return _joined(rows, len(found), self._findings.left_out)

    def errors(self) -> list[str]:
        """Return where the machinery broke: never the agent's failure."""
        found = sorted(self._mine(self._findings.errors), key=lambda one: -one[1].attempts)
        rows = [
            [self._row("attempts that broke in the phase", errors.attempts, key), *_samples(errors.samples)]
            for key, errors in found[:MOST_ROWS]
        ]
        return _joined(rows, len(found))

    def judges(self) -> list[str]:
        """Return what judges gave."""
        found = self._mine(self._findings.judges)
        return _joined([self._judge(key, scores) for key, scores in found[:MOST_ROWS]], len(found))

    def answers(self) -> list[str]:
        """Return what models answered to questions, and whose side they took."""
        asked = [(planned, question) for planned in self._shown for question in planned.questions if question.asked]
        rows = [list(self._question(planned, question)) for planned, question in asked[:MOST_ROWS]]
        return _joined(rows, len(asked))

    # --- pieces -----------------------------------------------------------------------------------------

    def _figure(self, short: str, value: float, unit: Unit, *of: str, eval: str | None = None) -> str:
        return self._figures.add(short, value, unit, run=self._run, of=of, eval=eval)

    def _count(self, short: str, value: int, *of: str, eval: str | None = None) -> str:
        return self._figure(short, value, "count", *of, eval=eval)

    def _mine(self, found: Mapping[Key, T]) -> list[tuple[Key, T]]:
        return [(key, value) for key, value in found.items() if key[0] in self._ids]

    def _row(self, what: str, amount: int, key: Key) -> str:
        eval_id, cell, label = key
        return f"{self._count(what, amount, _named(label), cell, eval=eval_id)}: {words(label)} · {cell} · {eval_id}"

    def _cell(self, planned: EvalRecord, cell: CellRecord) -> Iterator[str]:
        yield f"  cell {cell.key}" + (f" ({cell.role})" if cell.role else "")
        counts = [*_counted(cell), ("attempts that count in the pass rate", cell.decided)]
        if cell.verdict_failed:
            counts.append(("scored attempts with the verdict fail", cell.verdict_failed))
        for short, amount in counts:
            yield "    " + self._count(short, amount, cell.key, eval=planned.id)
        amounts: tuple[tuple[str, float | None, Unit], ...] = (
            ("pass rate", cell.passed / cell.decided if cell.decided else None, "share"),
            ("mean score", cell.mean_score, "share"),
            ("mean seconds of an attempt", cell.duration, "amount"),
            ("mean tokens of an attempt", cell.tokens, "amount"),
            ("dollars of all attempts", cell.cost, "amount"),
        )
        for short, value, unit in amounts:
            if value is not None:
                yield "    " + self._figure(short, value, unit, cell.key, eval=planned.id)
        held = {True: "holds", False: "does not hold", None: "says nothing"}[cell.gate.holds]
        yield f"    gate {cell.gate.rule}: {held}"

    def _lift(self, lift: LiftRecord, eval_id: str | None) -> Iterator[str]:
        of = (f"{lift.variant} against {lift.control}", lift.harness or "all harnesses")
        doubt = f" ({words(lift.doubt)})" if lift.doubt else ""
        yield f"{' · '.join((*of, eval_id or 'all evals'))}: {lift.said}{doubt}"
        sides = ("the control", "the variant")
        yield from lift_figures(lift, self._figures, run=self._run, of=of, eval=eval_id, sides=sides)
        yield from (f"  alike on both sides: check {words(label)}" for label in lift.alike[:MOST_IDS])
        yield from (f"  flag: {words(flag)}" for flag in lift.flags)

    def _judge(self, key: Key, scores: JudgeScores) -> list[str]:
        eval_id, cell, label = key
        of = (_named(label), cell)
        row = [f"judge {words(label)} · {cell} · {eval_id}"]
        if scores.errors:
            row.append("  " + self._count("judgments without a score", scores.errors, *of, eval=eval_id))
        if not scores.scores:
            return row
        row.append("  " + self._count("scores of the judge", scores.scores, *of, eval=eval_id))
        for short, value in (
            ("mean score of the judge", scores.total / scores.scores),
            ("lowest score of the judge", scores.low),
            ("highest score of the judge", scores.high),
            ("largest spread of its votes", scores.spread),
        ):
            if value is not None:
                row.append("  " + self._figure(short, value, "share", *of, eval=eval_id))
        return [*row, *_samples([scores.lowest])]

    def _question(self, planned: EvalRecord, question: QuestionRecord) -> Iterator[str]:
        name, eval_id = f"question {question.number}", planned.id
        yield f"{name} · {eval_id}: {words(question.text)}"
        counts = [("answers that were asked for", question.asked), ("calls without an answer", question.errors)]
        counts += [(f"answers {words(choice, 60)}", amount) for choice, amount in question.tally.items()]
        if question.pairs:
            counts += [("pairs", question.pairs), ("pairs where the order decided", question.splits)]
        for factor, sides in question.sides.items():
            for side in sides:
                counts += [
                    (f"votes that {factor} {side.value} won", side.won),
                    (f"decided votes that {factor} {side.value} was in", side.of),
                ]
        yield from ("  " + self._count(short, amount, name, eval=eval_id) for short, amount in counts)
        yield from islice(_answered(planned, question.number), MOST_IDS)


_COUNTED = {
    "planned": "attempts planned",
    "passed": "attempts that passed",
    "failed": "attempts that failed",
    "review": "attempts that decided nothing",
    "error": "attempts that ended in an error",
    "skipped": "attempts skipped",
    "scored": "attempts scored",
}
_ALWAYS = frozenset({"passed", "failed"})
"""Also when there are none: that nothing passed is worth saying."""
_CHECKED = {True: "attempts in which a check failed", False: "attempts in which a check that decides nothing failed"}


def _counted(counts: Totals | CellRecord) -> list[tuple[str, int]]:
    """Return how many attempts ended in each way."""
    every = [(name, short, getattr(counts, name)) for name, short in _COUNTED.items()]
    return [(short, amount) for name, short, amount in every if amount or (name in _ALWAYS and not counts.scored)]


def _named(label: str) -> str:
    return " ".join(label[:120].split())


def _eval(planned: EvalRecord) -> Iterator[str]:
    tags = f", tags {', '.join(planned.tags)}" if planned.tags else ""
    cases = f", {len(planned.cases):,} cases" if planned.cases else ""
    yield f"eval {planned.id} ({planned.kind}{cases}{tags})"
    if planned.mode != "run":
        yield f"  {planned.mode}: {words(planned.skip_reason or 'no reason')}"
    if planned.description:
        yield f"  description: {words(planned.description)}"
    yield from (f"  note: {words(note)}" for note in planned.notes[:MOST_NOTES])


def _examples(entries: Sequence[AttemptEntry]) -> Iterator[str]:
    """Yield some attempts of a cell by how they ended."""
    ends: dict[str, list[AttemptEntry]] = {}
    for entry in entries:
        verdict = f", verdict {entry.verdict}" if entry.verdict and entry.outcome is Outcome.SCORED else ""
        ends.setdefault(f"{entry.outcome.value}{verdict}", []).append(entry)
    for end, found in ends.items():
        yield f"    {end}, for example: {', '.join(entry.attempt for entry in found[:MOST_IDS])}"


def _answered(planned: EvalRecord, number: int) -> Iterator[str]:
    for entry in planned.attempts:
        for answer in entry.answers:
            said = answer.reason if answer.choice else answer.answer
            if answer.question == number and answer.error is None and said:
                yield f"  {entry.attempt}: {answer.choice or ''} {words(said)}"
    for pair in planned.answers:
        reason = next((vote for vote in pair.votes if vote.reason), None)
        if pair.question == number and reason is not None:
            yield f"  {pair.left} against {pair.right}: {reason.winner} {words(reason.reason)}"


def _samples(samples: Sequence[tuple[str, str]]) -> Iterator[str]:
    for attempt, text in samples:
        if text:
            yield f"    {attempt}: {words(text)}"


def _joined(rows: Sequence[Sequence[str]], found: int, uncounted: int = 0) -> list[str]:
    lines = [line for row in rows for line in row]
    if found > len(rows):
        lines.append(f"({found - len(rows):,} more are left out)")
    return [*lines, f"({uncounted:,} more were not counted)"] if uncounted else lines

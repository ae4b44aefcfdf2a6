"""What did one eval come to? Its result block: a status word, the name, and a row for each thing it varies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reeval.report.answers import question_lines
from reeval.report.data.accuracy import first_wrong, tags_text
from reeval.report.screen.evidence import cell_of
from reeval.report.screen.ink import PLAIN, Ink
from reeval.report.screen.numbers import count, dollars, number, seconds
from reeval.report.screen.table import table
from reeval.report.text import bounded, one_line, pad, width
from reeval.schema.record import AttemptEntry, CellRecord, EvalRecord, Outcome

__all__ = ["SHOWN_CASES", "STATUS_WIDTH", "Status", "block", "reading", "status"]

Status = Literal["pass", "fail", "review", "error", "skipped", "scored", "undecided", "todo"]

SHOWN_CASES = 5
"""Cases of an eval that a block lists; the rest is counted."""
STATUS_WIDTH = 4
"""Cells of the shortest status words: names stand in one column in a run that goes well."""
_WHY_LINES = 20
"""More than an analysis has on any screen: what a block says whole is not said again below it."""
_INDENT = "  "
_TAGGED = {"fail", "review", "error"}
"""Columns that say less than the reasons of a data question."""
_BESIDE_LIFTS = {"fail", "review", "error", "skipped", "not run"}
"""Columns of a compare beside its lifts; its measures are compared, and every gate but the control's is to hold."""


# --- the status word ------------------------------------------------------------------------------------


def status(record: EvalRecord) -> Status:
    """Return the word of an eval: read from its gates, or from its attempts where no gate decides."""
    if record.mode != "run":
        return "todo" if record.mode == "todo" else "skipped"
    small = any(lift.holds is False for lift in record.lifts)
    if (failing := [cell for cell in record.cells if cell.gate.holds is False]) or small:
        only_review = all(cell.review and not cell.failed and not cell.verdict_failed for cell in failing)
        return "review" if only_review and record.kind == "pass-fail" and not small else "fail"
    open_lift = any(lift.undecided for lift in record.lifts)
    if undecided := [cell for cell in record.cells if cell.gate.undecided or open_lift]:
        return "error" if any(cell.error for cell in undecided) else "undecided"
    if any(cell.gate.holds for cell in record.cells):
        return "scored" if record.kind == "scored" else "pass"
    return _ungated(record)


def _ungated(record: EvalRecord) -> Status:
    """Return the word of an eval whose gates only report."""
    amounts: tuple[tuple[Status, int], ...] = (
        ("fail", sum(cell.failed for cell in record.cells)),
        ("review", sum(cell.review for cell in record.cells)),
        ("scored", sum(cell.scored for cell in record.cells)),
        ("pass", sum(cell.passed for cell in record.cells)),
        ("error", sum(cell.error for cell in record.cells)),
        ("skipped", sum(cell.skipped for cell in record.cells)),
    )
    return next((word for word, amount in amounts if amount), "undecided")


# --- columns --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column that is shown when a cell of the eval has something to say in it."""

    head: str
    text: Callable[[CellRecord], str]


def reading(cell: CellRecord) -> str:
    """Return a cell's main reading: ``2 of 4`` passed, or ``mean 6.25, 3 of 4 complete``."""
    if cell.scored or cell.mean_score is not None:
        mean = "–" if cell.mean_score is None else number(cell.mean_score)
        return f"mean {mean}, {cell.complete} of {cell.scored + cell.error} complete"
    return f"{cell.passed} of {cell.decided}"


def _missing(cell: CellRecord) -> int:
    return cell.planned - cell.decided - cell.scored - cell.error - cell.skipped


def _amount(amount: int) -> str:
    return str(amount) if amount else ""


def _gate(cell: CellRecord) -> str:
    gate = cell.gate
    if gate.rule == "all":
        return ""
    if gate.rule == "none":
        return "reports only"
    verb = {True: "holds", False: "does not hold", None: "undecided" if gate.undecided else "no gate"}[gate.holds]
    least = "" if gate.minimum is None else f" ≥ {number(gate.minimum)}"
    return f"{gate.rule.replace('_', ' ')}{least} {verb}"


_FACTORS = (
    _Column("harness", lambda cell: cell.harness),
    _Column("environment", lambda cell: cell.environment),
    _Column("sandbox", lambda cell: cell.sandbox),
)
_COUNTS = (
    _Column("fail", lambda cell: _amount(cell.verdict_failed)),
    _Column("review", lambda cell: _amount(cell.review)),
    _Column("error", lambda cell: _amount(cell.error)),
    _Column("skipped", lambda cell: _amount(cell.skipped)),
    _Column("not run", lambda cell: _amount(_missing(cell))),
    _Column("gate", _gate),
    _Column("time", lambda cell: "" if cell.duration is None else seconds(cell.duration)),
    _Column("tokens", lambda cell: count(cell.tokens) if cell.tokens else ""),
    _Column("cost", lambda cell: dollars(cell.cost) if cell.cost else ""),
)


def _varied(cells: Sequence[CellRecord]) -> list[_Column]:
    columns = [column for column in _FACTORS if len({column.text(cell) for cell in cells}) > 1]
    return columns or [_FACTORS[0]]


def _said(record: EvalRecord) -> list[_Column]:
    # The gate of data questions is one over all of them: it stands beside their accuracy.
    columns = [column for column in _COUNTS if record.asks is None or column.text is not _gate]
    return [column for column in columns if any(map(column.text, record.cells))]


# --- the block ------------------------------------------------------------------------------------------


def block(
    record: EvalRecord,
    *,
    ink: Ink = PLAIN,
    cells: int | None = None,
    all_cases: bool = False,
    with_file: bool = False,
) -> list[str]:
    """Return the lines of an eval's result block, at most ``cells`` wide, text of authors escaped.

    ``with_file`` is for an eval whose name another file has as well.
    """
    lines = _first_lines(record, record.title if with_file else " › ".join(record.path), ink, cells)
    if record.lifts:
        from reeval.report.screen.compares import compare_lines

        counts = [(column.head, column.text) for column in _said(record) if column.head in _BESIDE_LIFTS]
        lines += compare_lines(record, reading, counts, ink, cells, every=all_cases)
    elif len(record.cells) > 1:
        lines += _cells_table(record, ink, cells)
    if all_cases or _mixed(record):
        from reeval.report.screen.passes import pass_lines

        lines += pass_lines(record, ink, cells, _INDENT)
    if record.cases and record.attempts:
        lines += _cases_table(record, ink, cells, SHOWN_CASES if not all_cases else len(record.cases))
    if record.asks is not None and (wrong := first_wrong(record.attempts)):
        why = wrong.analysis if len(record.attempts) == 1 else f"{wrong.attempt}: {wrong.analysis}"
        lines += [_INDENT + ink("dim", line) for line in bounded(why, lines=_WHY_LINES, cells=_room(cells))]
    lines += question_lines(record, ink=ink, cells=cells, indent=_INDENT, every=all_cases)
    lines += [_INDENT + ink("dim", one_line(note, _room(cells))) for note in record.notes]
    return lines


def _mixed(record: EvalRecord) -> bool:
    """Say whether some attempts of a cell passed and others did not: else pass@k and pass^k say nothing more."""
    return record.runs > 1 and not record.lifts and any(0 < cell.passed < cell.decided for cell in record.cells)


def _room(cells: int | None) -> int | None:
    return None if cells is None else cells - len(_INDENT)


def _first_lines(record: EvalRecord, title: str, ink: Ink, cells: int | None) -> list[str]:
    word = status(record)
    shown = pad(word, STATUS_WIDTH)
    name = one_line(title, None if cells is None else max(8, cells - width(shown) - 1))
    first = f"{ink.word(word, shown)} {ink('bold', name)}"
    facts = _facts(record)
    if not facts:
        return [first]
    if cells is None or width(shown) + 1 + width(name) + 2 + width(facts) <= cells:
        return [f"{first}  {ink('dim', facts)}"]
    return [first, _INDENT + ink("dim", one_line(facts, _room(cells)))]


def _facts(record: EvalRecord) -> str:
    """Return what stands beside the name: why it did not run, or the numbers of its only cell."""
    if record.mode != "run":
        return one_line(record.skip_reason or "", 120)
    if len(record.cells) != 1:
        return ""
    cell = record.cells[0]
    tags = tags_text(record.attempts) if record.asks is not None else ""
    told = _TAGGED if tags else set()
    said = [
        text if column.head in {"time", "cost", "gate"} else f"{text} {column.head}"
        for column in _said(record)
        if column.head not in told and (text := column.text(cell))
    ]
    main = [] if cell.planned == 1 and not cell.scored else [reading(cell)]
    return " · ".join([*main, *([tags] if tags else []), *said])


def _cells_table(record: EvalRecord, ink: Ink, cells: int | None) -> list[str]:
    factors, said = _varied(record.cells), _said(record)
    if record.asks is not None:
        why = _Column("why", lambda cell: tags_text(one for one in record.attempts if cell_of(one) == cell.key))
        said = [*([why] if tags_text(record.attempts) else []), *(one for one in said if one.head not in _TAGGED)]
    main = "score" if record.kind == "scored" else "pass"
    head = [column.head for column in factors] + [main] + [column.head for column in said]
    rows = [
        [one_line(column.text(cell)) for column in factors]
        + [reading(cell)]
        + [column.text(cell) or "·" for column in said]
        for cell in record.cells
    ]
    first, *rest = table(head, rows, keep=len(factors) + 1, cells=cells, indent=_INDENT)
    painted = [
        ink("red", line) if cell.gate.holds is False else line for line, cell in zip(rest, record.cells, strict=True)
    ]
    return [ink("dim", first), *painted]


# --- cases ----------------------------------------------------------------------------------------------


@dataclass
class _Tally:
    good: int = 0
    ended: int = 0
    errors: int = 0
    points: float = 0.0
    scores: int = 0

    def add(self, entry: AttemptEntry) -> None:
        if entry.outcome is Outcome.ERROR:
            self.errors += 1
        elif entry.outcome is not Outcome.SKIPPED:
            self.ended += 1
            self.good += entry.outcome is Outcome.PASS or (
                entry.outcome is Outcome.SCORED and entry.verdict not in {"fail", "error"}
            )
        if entry.score is not None:
            self.points += entry.score
            self.scores += 1

    @property
    def clean(self) -> bool:
        return self.good == self.ended and not self.errors

    def text(self, *, scored: bool) -> str:
        if scored:
            return number(self.points / self.scores) if self.scores else "–"
        return f"{self.good} of {self.ended}"


def _case_of(attempt: str) -> str | None:
    """``terse/plain/fake[case]#1`` → ``case``; words of an id hold neither bracket."""
    before, bracket, rest = attempt.partition("[")
    return rest.rpartition("]")[0] if bracket and before else None


def _tallies(cases: Iterable[str], attempts: Iterable[AttemptEntry]) -> dict[str, _Tally]:
    tallies = {case: _Tally() for case in cases}
    for entry in attempts:
        case = _case_of(entry.attempt)
        if case in tallies:
            tallies[case].add(entry)
    return tallies


def _cases_table(record: EvalRecord, ink: Ink, cells: int | None, shown: int) -> list[str]:
    tallies = _tallies(record.cases, record.attempts)
    ordered = sorted(tallies.items(), key=lambda pair: pair[1].clean)  # stable: what went wrong comes first
    scored = record.kind == "scored"
    with_errors = any(tally.errors for tally in tallies.values())
    head = ["case", "score" if scored else "pass", *(["error"] if with_errors else [])]
    rows = [
        [one_line(case, 60), tally.text(scored=scored), *([_amount(tally.errors) or "·"] if with_errors else [])]
        for case, tally in ordered[:shown]
    ]
    first, *rest = table(head, rows, keep=2, cells=cells, indent=_INDENT)
    painted = [line if tally.clean else ink("red", line) for line, (_, tally) in zip(rest, ordered, strict=False)]
    return [ink("dim", first), *painted, *_more(ordered[shown:], ink)]


def _more(hidden: Sequence[tuple[str, _Tally]], ink: Ink) -> list[str]:
    if not hidden:
        return []
    wrong = sum(not tally.clean for _, tally in hidden)
    return [_INDENT + ink("dim", f"… {len(hidden)} more" + (f", {wrong} of them not passing" if wrong else ""))]

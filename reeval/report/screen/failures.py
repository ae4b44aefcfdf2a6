"""Why did an attempt not pass? Its failed checks with expected and got, its error, the end of its log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from reeval.errors import Phase
from reeval.report.data.accuracy import first_wrong
from reeval.report.screen.evidence import RunReader, attempt_key, checks_of, data_of, failing_of, log_of, turns_of
from reeval.report.screen.ink import PLAIN, Ink
from reeval.report.screen.numbers import number, seconds
from reeval.report.text import bounded, one_line
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, CheckRecord, EvalRecord, Outcome

__all__ = [
    "Alike",
    "Page",
    "alike",
    "check_lines",
    "checks_lines",
    "explains",
    "failure_lines",
    "failure_sections",
    "headline",
    "log_lines",
]

SHOWN_CHECKS = 10
"""Failed checks of one attempt that are shown; the rest is counted."""
MESSAGE_LINES = 12
LOG_LINES = 10
TURN_LINES = 5
SHOWN_TURNS = 3
"""Failed turns of one attempt that are shown; the rest is counted."""
DETAIL_LINES = 15
TITLE_LINES = 4
SHOWN_ALIKE = 3
"""Lines of names of attempts that failed in the same way."""
_SAID = frozenset({Phase.AGENT, Phase.TRUTH})
"""Phases of data questions, whose reasons begin with what failed."""
_MARKS = {CheckStatus.UNAVAILABLE: "?", CheckStatus.ERRORED: "!", CheckStatus.MEASURED: "·"}


@dataclass(frozen=True)
class Page:
    """How lines are written: their color, their width (None: unbounded), and where big parts are read."""

    ink: Ink = PLAIN
    cells: int | None = None
    reader: RunReader | None = None
    full: bool = False
    """Nothing is shortened."""
    passing: bool = False
    """Checks that hold are shown as well, and logs of attempts that pass."""

    def indented(self, texts: Iterable[str], indent: int, style: str | None = None) -> list[str]:
        """Return escaped lines behind ``indent`` spaces."""
        space = " " * indent
        return [space + (self.ink(style, text) if style else text) for text in texts]

    def lines(self, text: str, limit: int, indent: int, *, tail: bool = False, style: str | None = None) -> list[str]:
        """Return a text of an agent or a program: escaped, wrapped, bounded, indented."""
        cells = None if self.cells is None else max(10, self.cells - indent)
        lines = 1_000_000 if self.full else limit
        return self.indented(bounded(text, lines=lines, cells=cells, tail=tail), indent, style)

    def line(self, text: str, indent: int = 0, *, less: int = 0) -> str:
        """Return one escaped line, cut to the width; ``less`` cells are left for what is put behind it."""
        return " " * indent + one_line(text, None if self.cells is None else max(10, self.cells - indent - less))


# --- one check ------------------------------------------------------------------------------------------


def explains(check: CheckRecord) -> bool:
    """Say whether a check is a reason that its attempt did not pass."""
    if check.holds is False:
        return True
    decides = (check.gate or check.points is not None) and not check.optional
    return decides and check.status in {CheckStatus.UNAVAILABLE, CheckStatus.ERRORED}


def check_lines(check: CheckRecord, page: Page, indent: int) -> list[str]:
    """Return a check: its mark and label, its numbers, and its message below."""
    mark, style = _mark(check)
    label = page.line(f"{mark} {check.label}", indent)
    facts = ", ".join(_facts(check, page))
    first = label.replace(mark, page.ink(style, mark), 1)
    lines = [first]
    if facts:
        room = page.cells is None or len(label) + 2 + len(facts) <= page.cells
        note = page.ink("dim", facts)
        lines = [f"{first}  {note}"] if room else [first, " " * (indent + 4) + note]
    if check.message and not (check.status is CheckStatus.MATCHED and not page.passing):
        lines += page.lines(check.message, MESSAGE_LINES, indent + 4)
    return lines


def _mark(check: CheckRecord) -> tuple[str, str]:
    if check.holds is not None:
        return ("✓", "green") if check.holds else ("✗", "red")
    if check.status in _MARKS:
        return _MARKS[check.status], "dim" if check.status is CheckStatus.MEASURED else "yellow"
    return ("✓", "green") if check.status is CheckStatus.MATCHED else ("✗", "yellow")


def _facts(check: CheckRecord, page: Page) -> list[str]:
    facts = []
    if check.measurement is not None:
        least = "" if check.minimum is None else f" of at least {number(check.minimum)}"
        facts.append(f"{number(check.measurement)}{least}")
    if check.points is not None:
        earned = "–" if check.earned is None else number(check.earned)
        facts.append(f"{earned} of {number(check.points)} points")
    if check.status in {CheckStatus.UNAVAILABLE, CheckStatus.ERRORED}:
        facts.append(check.status.value)
    if check.optional:
        facts.append("optional")
    if check.stopped:
        facts.append("stopped here")
    if check.line is not None:
        facts.append(f"line {check.line}")
    if check.duration is not None and page.passing:  # else no two attempts would be alike
        facts.append(seconds(check.duration))
    return facts


# --- one attempt ----------------------------------------------------------------------------------------


def headline(record: AttemptRecord, checks: Sequence[CheckRecord] = ()) -> str:
    """Say in a few words, not escaped, why an attempt did not pass; empty when it did."""
    if record.outcome is Outcome.SKIPPED:
        return record.skip_reason or ""
    if record.failure is not None:
        phase = record.failure.phase
        where = f"{phase.value}: " if phase and phase not in _SAID else ""
        return where + record.failure.reason
    if record.outcome is Outcome.REVIEW:
        return "no check decided anything"
    failed = [check.label for check in checks if explains(check)]
    return failed[0] + (f" and {len(failed) - 1} more" if len(failed) > 1 else "") if failed else ""


def failure_lines(record: AttemptRecord, page: Page, indent: int = 2, told: str = "") -> list[str]:
    """Return an attempt that did not pass: what it is, why, its failed checks, and the end of its log.

    ``told`` is the analysis that stands above already.
    """
    checks = checks_of(record, page.reader)
    word = record.outcome.value
    verdict = f", verdict {record.verdict}" if record.outcome is Outcome.SCORED and record.verdict else ""
    why = headline(record) if record.failure or record.outcome is Outcome.REVIEW else ""
    turns = _turn_lines(record, page, indent + 2)
    tells = record.failure is not None and record.failure.phase is Phase.AGENT and turns  # the analysis is theirs
    if record.failure and record.failure.analysis not in {"", told} and not tells:
        why += f": {record.failure.analysis}"
    said = f"{word}{verdict}"
    first = page.line(record.attempt, indent, less=len(said) + 2) + "  " + page.ink.word(word, said)
    lines = [first, *turns]
    lines += page.lines(why, MESSAGE_LINES, indent + 2) if why else []
    if record.failure and record.failure.detail:
        lines += page.lines(record.failure.detail, DETAIL_LINES, indent + 4, tail=True, style="dim")
    lines += _data_lines(record, page, indent + 2)
    shown = [check for check in checks if page.passing or explains(check)]
    lines += checks_lines(shown, page, indent + 2, SHOWN_CHECKS)
    lines += log_lines(log_of(record, page.reader), page, indent + 2)
    return lines


@dataclass(frozen=True)
class Alike:
    """Attempts that failed in the same way: of one eval, or of any that the database broke."""

    first: AttemptRecord
    lines: list[str]
    """Of the first."""
    others: list[str] = field(default_factory=list)
    """The names of the others; of those of another eval their keys."""

    @property
    def key(self) -> str:
        """The first's, as ``reeval show`` takes it."""
        return attempt_key(self.first.eval, self.first.attempt)

    @property
    def more(self) -> str:
        """How many others there are."""
        return f"{len(self.others)} more{'' if _is_shared(self.first) else ' of this eval'} failed in the same way"


def alike(failures: Iterable[tuple[AttemptRecord, list[str]]]) -> list[Alike]:
    """Group attempts, given with their ``failure_lines`` and what else is said of them."""
    groups: dict[tuple[str | None, ...], Alike] = {}
    for record, lines in failures:
        # The first line says the outcome and the verdict beside the attempt's name.
        key = (None if _is_shared(record) else record.eval, record.outcome, record.verdict, *lines[1:])
        if key in groups:
            same = groups[key].first.eval == record.eval
            groups[key].others.append(record.attempt if same else attempt_key(record.eval, record.attempt))
        else:
            groups[key] = Alike(record, lines)
    return list(groups.values())


def _is_shared(record: AttemptRecord) -> bool:
    """Say whether what broke an attempt may have broken others alike: a database that no question can reach."""
    return record.failure is not None and record.failure.phase is Phase.TRUTH


def _data_lines(record: AttemptRecord, page: Page, indent: int) -> list[str]:
    """Return what else is to be known of an answer to a data question: what is to be doubted, which rows differ."""
    found = data_of(record, page.reader)
    if found is None:
        return []
    from reeval.report.data.attempt import difference_lines

    said = [line for text in found.warnings for line in page.lines(f"warning: {text}", TURN_LINES, indent)]
    return [*said, *difference_lines(found, page, indent)]


def _turn_lines(record: AttemptRecord, page: Page, indent: int) -> list[str]:
    """Return the turns that failed, each with the end of its error: checks below mostly fail because of them."""
    told = {record.failure.reason} if record.failure else set()  # stands below, with what failed
    turns = enumerate(turns_of(record, page.reader), 1)
    failed = [(at, turn) for at, turn in turns if turn.status == "failed" and turn.error not in told]
    shown = len(failed) if page.full else SHOWN_TURNS
    lines: list[str] = []
    for at, turn in failed[:shown]:
        first, _, rest = (turn.error or "it gave no reason").strip().partition("\n")
        said = page.lines(f"turn {at} failed: {first}", TURN_LINES, indent)
        said[0] = page.ink("red", said[0])
        lines += said
        lines += page.lines(rest, TURN_LINES, indent + 2, tail=True, style="dim") if rest else []
    more = len(failed) - shown
    return lines + ([" " * indent + f"… {more:,} more failed turns"] if more > 0 else [])


def checks_lines(checks: Sequence[CheckRecord], page: Page, indent: int, limit: int) -> list[str]:
    """Return at most ``limit`` checks in their order, those that explain the outcome before others; count the rest."""
    if page.full or len(checks) <= limit:
        limit = len(checks)
    order = sorted(range(len(checks)), key=lambda place: not explains(checks[place]))
    lines = [line for place in sorted(order[:limit]) for line in check_lines(checks[place], page, indent)]
    more = len(checks) - limit
    return lines + ([" " * indent + f"… {more:,} more checks"] if more > 0 else [])


def log_lines(log: str, page: Page, indent: int, limit: int = LOG_LINES) -> list[str]:
    """Return the end of what a body printed; nothing when it printed nothing."""
    if not log.strip():
        return []
    lines = page.lines(log, limit, indent + 2, tail=True, style="dim")
    title = f"log, last {limit} lines" if len(lines) > limit else "log"
    return [" " * indent + title, *lines]


def failure_sections(
    evals: Sequence[EvalRecord], failures: Sequence[AttemptRecord], page: Page
) -> tuple[list[str], list[str]]:
    """Return the lines of the section on failures and of the one on errors: the machinery's are apart."""
    errors = [record for record in failures if record.outcome is Outcome.ERROR]
    failed = [record for record in failures if record.outcome is not Outcome.ERROR]
    every = [entry for planned in evals for entry in failing_of(planned)]
    all_errors = sum(entry.outcome is Outcome.ERROR for entry in every)
    return (
        _section("failures", failed, len(every) - all_errors, evals, page),
        _section("errors", errors, all_errors, evals, page),
    )


def _section(
    name: str, shown: Sequence[AttemptRecord], total: int, evals: Sequence[EvalRecord], page: Page
) -> list[str]:
    if not total and not shown:
        return []
    titles = {planned.id: planned.title for planned in evals}
    told = {planned.id: wrong.analysis for planned in evals if (wrong := first_wrong(planned.attempts))}
    lines = [page.ink("bold", name)]
    title = None
    for group in alike((record, failure_lines(record, page, 4, told.get(record.eval, ""))) for record in shown):
        if group.first.eval != title:
            title = group.first.eval
            lines += ["", *page.lines(titles.get(title, title), TITLE_LINES, 2)]
        lines += group.lines
        if group.others:
            lines += page.lines(f"{group.more}: {', '.join(group.others)}", SHOWN_ALIKE, 6, style="dim")
    more = total - len(shown)
    noun = name if more != 1 else name.removesuffix("s")
    return lines + (["", f"  … {more:,} more {noun}"] if more > 0 else [])

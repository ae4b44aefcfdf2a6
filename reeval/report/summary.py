"""What does a pull request need to know of a run? ``summary.md``: outcome, table, lifts, failures, how to do it again.

Text of agents, programs and authors stands in code spans and fences only, so that none of it can become Markdown,
HTML, a link, a mention or a reference, whatever reads the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reeval.errors import RecordError
from reeval.report.answers import SHOWN_ANSWERS, answers_to, facts_of, sides_of
from reeval.report.screen.blocks import reading, status
from reeval.report.screen.ending import budget_lines, next_commands, silent_text, stopped_by_budget
from reeval.report.screen.evidence import RunReader, data_of, failing_of
from reeval.report.screen.failures import Alike, Page, alike, failure_lines
from reeval.report.screen.numbers import count, dollars, moment, number, seconds
from reeval.report.screen.points import lost_points
from reeval.report.text import escape
from reeval.schema.record import AttemptRecord, EvalRecord, Outcome, RunRecord, RunState
from reeval.schema.recorded.answers import QuestionRecord

if TYPE_CHECKING:
    from jinja2 import Template

    from reeval.report.data.summary import DataSummary
    from reeval.report.pictures.bars import Picture

__all__ = ["PICTURE", "cell", "code", "fence", "summary_text", "template", "write_summary"]

PICTURE = "lifts.svg"
"""Stands beside ``summary.md``: GitHub shows a picture in Markdown only from a file of its own."""

_TEMPLATES = Path(__file__).parent / "templates"
"""A section that is not always there is a file of its own, compiled when it is."""
_ROWS = 200
_FAILURES = 50
_ASKED = 100
"""Questions that are shown; the rest is counted."""
_CODE_CHARACTERS = 300
_BACKTICKS = re.compile("`+")
_PIPES = re.compile(r"(\\*)\|")


def write_summary(
    path: Path, record: RunRecord, failures: Sequence[AttemptRecord], reader: RunReader | None = None
) -> None:
    """Write the files, each whole or not at all; raise ``RecordError`` when one cannot be written.

    The picture of lifts comes first, so that the summary links to nothing that is not there; without lifts there is
    none.
    """
    _place(path.with_name(PICTURE), _picture_text(record))
    _place(path, summary_text(record, failures, reader))


def _picture(record: RunRecord) -> Picture | None:
    if not record.lifts and not any(planned.lifts for planned in record.evals):
        return None
    from reeval.report.pictures.bars import lifts_of, picture_of

    return picture_of(lifts_of(record))


def _data(record: RunRecord) -> DataSummary | None:
    if not record.accuracy:
        return None
    from reeval.report.data.summary import data_summary

    return data_summary(record)


def _picture_text(record: RunRecord) -> str | None:
    picture = _picture(record)
    if picture is None:
        return None
    from reeval.report.pictures.svg import svg_text

    return svg_text(picture)


def _place(path: Path, text: str | None) -> None:
    """Write a file; None removes what an earlier part of the run left there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if text is None:
            path.unlink(missing_ok=True)
            return
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RecordError(f"{path}: the summary cannot be written: {error.strerror or error}") from error


def summary_text(record: RunRecord, failures: Sequence[AttemptRecord], reader: RunReader | None = None) -> str:
    """Return the summary. ``failures`` are the attempts to show; the rest is counted from the record."""
    rows = list(_rows(record))
    asked = [_question(planned, one) for planned in record.evals for one in planned.questions]
    picture = _picture(record)
    return template().render(
        run=record,
        title=_title(record),
        elapsed=None if record.ended_at is None else (record.ended_at - record.created_at) / 1000,
        totals=_totals(record),
        rows=rows[:_ROWS],
        hidden_rows=max(0, len(rows) - _ROWS),
        lifts=list(islice(_lifts(record), _ROWS)),
        passes=list(islice(_passes(record), _ROWS)),
        picture=picture and {"file": PICTURE, "said": picture.summary},
        asked=asked[:_ASKED],
        hidden_asked=max(0, len(asked) - _ASKED),
        data=_data(record),
        silent=silent_text(record),
        lost=lost_points(record, reader),
        sections=list(_sections(record, failures, reader)),
        remarks="\n".join([*budget_lines(record), *record.remarks, *record.notes, *record.dropped]),
        commands="\n".join([*(command for _, command in next_commands(record, failures)), _again(record)]),
    )


@cache
def template() -> Template:
    """Return the compiled template; the first call takes a tenth of a short run."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown: the filters make text safe, HTML escaping would show
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(cell=cell, code=code, fence=fence, link=quote, moment=moment, seconds=seconds)
    return environment.get_template("summary.md.j2")


# --- text that cannot do anything -----------------------------------------------------------------------


def code(text: str) -> str:
    """Return ``text`` as a code span on one line."""
    text = escape(text).strip() or "–"
    if len(text) > _CODE_CHARACTERS:
        text = text[:_CODE_CHARACTERS] + "…"
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def cell(text: str) -> str:
    """Return ``text`` as a code span in a table's cell."""
    return _PIPES.sub(_odd, code(text))


def _odd(match: re.Match[str]) -> str:
    """Put an odd number of backslashes before a pipe: every reader of tables takes it as an escaped one."""
    slashes = match[1]
    return slashes + ("\\" if len(slashes) % 2 == 0 else "\\\\") + "|"


def fence(text: str, language: str = "text") -> str:
    """Return ``text`` as a fenced block whose fence is longer than any run of backticks in it."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    body = "\n".join(escape(line) for line in text.split("\n"))
    return f"{ticks}{language}\n{body}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


# --- what it says ---------------------------------------------------------------------------------------


def _title(record: RunRecord) -> str:
    words = {
        RunState.RUNNING: "running",
        RunState.FAILED: "the run failed",
        RunState.INTERRUPTED: "interrupted",
        RunState.COMPLETED: {0: "every gate holds", 1: "a gate does not hold"}.get(record.exit_code, "undecided"),
    }
    return f"reeval: {'stopped by its budget' if stopped_by_budget(record) else words[record.state]}"


def _lifts(record: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield a row for each lift, those over several evals first, with what else is to be known of it."""
    pooled = [(f"{lift.evals} evals", lift) for lift in record.lifts]
    lifts = [*pooled, *((one.title, lift) for one in record.evals for lift in one.lifts)]
    if not lifts:
        return
    from reeval.report.screen.compares import lift_parts, said_of

    for title, lift in lifts:
        counts = (lift.control_passed, lift.control_decided), (lift.variant_passed, lift.variant_decided)
        means = ("–" if mean is None else number(mean) for mean in (lift.control_mean, lift.variant_mean))
        shown = list(means) if lift.scored else [f"{passed} of {decided}" for passed, decided in counts]
        amount, interval = lift_parts(lift)
        yield {
            "title": title,
            "control": lift.control,
            "variant": lift.variant,
            "harness": lift.harness or "all",
            "rates": " → ".join(shown),
            "lift": amount,
            "interval": interval,
            "said": lift.said,
            "notes": "; ".join(said_of(lift)),
        }


def _passes(record: RunRecord) -> Iterator[dict[str, str]]:
    """Yield a row for each cell of which several attempts are decided: pass@k and pass^k for some k."""
    for planned in (one for one in record.evals if one.runs > 1):
        from reeval.report.screen.passes import cell_passes

        for found in cell_passes(planned):
            at, hat = (
                " · ".join(f"{k}: {value:.2f}" for k, value in values.items()) for values in (found.at, found.hat)
            )
            yield {"title": planned.title, "cell": found.cell, "at": at, "hat": hat}


def _totals(record: RunRecord) -> list[tuple[str, str]]:
    counts = record.totals
    amounts = [
        ("attempts", counts.planned),
        ("passed", counts.passed),
        ("scored", counts.scored),
        ("failed" if record.exit_code else "did not pass", counts.failed),
        ("to review", counts.review),
        ("errors", counts.error),
        ("skipped", counts.skipped),
        ("not run", max(0, counts.planned - counts.finished)),
    ]
    shown = [(name, f"{amount:,}") for name, amount in amounts if amount or name == "attempts"]
    return shown + ([("cost", dollars(counts.cost))] if counts.cost else [])


def _rows(record: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield the table's rows, what needs a look first: a row for each cell, or for an eval that did not run."""
    ranks = {"fail": 0, "error": 1, "review": 2, "undecided": 3}
    for planned in sorted(record.evals, key=lambda planned: ranks.get(status(planned), 4)):
        yield from _eval_rows(planned)


def _eval_rows(planned: EvalRecord) -> Iterator[dict[str, Any]]:
    row = {"status": status(planned), "name": planned.title, "cell": "", "reading": "", "time": "", "tokens": ""}
    if not planned.cells:
        yield {**row, "cell": planned.skip_reason or planned.mode, "cost": ""}
    for cell in planned.cells:
        errors = f", {cell.error} in error" if cell.error else ""
        failed = f", {cell.verdict_failed} with a failed verdict" if cell.verdict_failed else ""
        yield {
            **row,
            "cell": cell.key,
            "reading": reading(cell) + failed + errors,
            "time": "" if cell.duration is None else seconds(cell.duration),
            "tokens": count(cell.tokens) if cell.tokens else "",
            "cost": dollars(cell.cost) if cell.cost else "",
        }


@dataclass(frozen=True)
class _Question:
    text: str
    title: str
    """Of its eval."""
    facts: list[str]
    """What its answers add up to."""
    answers: list[tuple[str, str | None, str]]
    """The first ones: what was asked about, the file of what was sent, the answer."""
    more: int


def _question(planned: EvalRecord, question: QuestionRecord) -> _Question:
    facts = [*facts_of(question), *(f"{side} {won}" for side, won in sides_of(question))]
    if question.across:
        pairs = [pair for pair in planned.answers if pair.question == question.number]
        files = dict.fromkeys(pair.input.file for pair in pairs if pair.input)
        return _Question(question.text, planned.title, facts, [(file, file, "") for file in files], 0)
    found = answers_to(planned, question.number)
    shown = [
        (one.attempt, one.input.file if one.input else None, one.choice or one.answer or "")
        for one in found[:SHOWN_ANSWERS]
    ]
    return _Question(question.text, planned.title, facts, shown, len(found) - len(shown))


@dataclass(frozen=True)
class _Section:
    title: str
    query: str
    failures: list[Alike]
    more: int


def _sections(record: RunRecord, failures: Sequence[AttemptRecord], reader: RunReader | None) -> Iterator[_Section]:
    entries = [entry for planned in record.evals for entry in failing_of(planned)]
    errors = sum(entry.outcome is Outcome.ERROR for entry in entries)
    page = Page(reader=reader)
    for title, outcome, total in (("Failures", "fail", len(entries) - errors), ("Errors", "error", errors)):
        wanted = [one for one in failures if (one.outcome is Outcome.ERROR) == (outcome == "error")][:_FAILURES]
        shown = alike((one, _failure_lines(one, page)) for one in wanted)
        if wanted or total:
            sql = f"SELECT eval, attempt_id FROM attempts WHERE outcome = '{outcome}'"  # noqa: S608 - text to read
            query = f'reeval query "{sql}" --run {record.run_id}'
            yield _Section(title, query, shown, max(0, total - len(wanted)))


def _failure_lines(record: AttemptRecord, page: Page) -> list[str]:
    lines = failure_lines(record, page, 0)
    if (found := data_of(record, page.reader)) is not None:
        from reeval.report.data.attempt import query_lines

        lines += query_lines(found, page)
    return lines


def _again(record: RunRecord) -> str:
    return " ".join(["reeval run", record.selection]).strip()

"""Which runs are there? The rows of ``reeval runs``, read from each record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reeval.report.data.accuracy import short_accuracy
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import moment, number, percent
from reeval.report.screen.table import table
from reeval.report.text import one_line
from reeval.schema.plan import NO_ENVIRONMENT
from reeval.schema.record import CellRecord, RunRecord

__all__ = ["RunRow", "run_row", "run_table"]

_HEAD = (
    "run",
    "state",
    "result",
    "created (UTC)",
    "target",
    "agent",
    "environment",
    "selection",
    "created by",
    "last updated",
)
_SHOWN_NAMES = 3


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """One run, in a few words. Times are milliseconds since 1970, UTC."""

    run_id: str
    created: int
    state: str
    result: str
    """A pass rate, ``92% (11/12)``; or ``mean 6.5, 4 of 5 complete``; of data questions their accuracy."""
    accuracy: str = ""
    """Of data questions, ``80% (4/5)``; with several cells each of them. Empty: there are none."""
    target: str | None = None
    """Where data questions ran: ``dev``, ``staging``, ``prod``."""
    harnesses: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    selection: str = ""
    created_by: str | None = None
    updated: int | None = None

    def data(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return asdict(self)


def run_row(record: RunRecord, updated: int | None = None) -> RunRow:
    """Return the row of a run; ``updated`` says when it last wrote, where its record does not."""
    cells = [cell for planned in record.evals for cell in planned.cells]
    # Before an attempt has ended, an accuracy would say that none of the questions was answered right.
    accuracy = short_accuracy(record.accuracy) if any(cell.decided or cell.error for cell in cells) else ""
    environments = dict.fromkeys(cell.environment for cell in cells if cell.environment != NO_ENVIRONMENT)
    return RunRow(
        run_id=record.run_id,
        created=record.created_at,
        state=record.state.value,
        result=_result(record, cells, accuracy),
        accuracy=accuracy,
        target=record.target,
        harnesses=tuple(dict.fromkeys(cell.harness for cell in cells)),
        environments=tuple(environments),
        selection=record.selection,
        created_by=record.created_by,
        updated=record.ended_at or updated,
    )


def _result(record: RunRecord, cells: Sequence[CellRecord], accuracy: str) -> str:
    if record.kind == "scored":
        complete = sum(cell.complete for cell in cells)
        total = sum(cell.scored + cell.error for cell in cells)
        points = sum((cell.mean_score or 0.0) * cell.complete for cell in cells)
        return f"mean {number(points / complete)}, {complete} of {total} complete" if complete else "–"
    if not accuracy:
        counts = record.totals
        return percent(counts.passed, counts.passed + counts.failed + counts.review)
    others = [cell for planned in record.evals if planned.asks is None for cell in planned.cells]
    rate = percent(sum(cell.passed for cell in others), sum(cell.decided for cell in others))
    return f"{rate}, questions {accuracy}" if others else accuracy


def run_table(rows: Sequence[RunRow], page: Page) -> list[str]:
    """Return the table, a line for each run; a narrow terminal loses columns from the right."""
    # Columns of data questions are there where a run asked some.
    left_out = set() if any(row.target for row in rows) else {_HEAD.index("target")}
    head, *texts = (
        [text for at, text in enumerate(line) if at not in left_out] for line in (_HEAD, *map(_texts, rows))
    )
    first, *rest = table(head, texts, keep=3, whole=1, cells=page.cells)  # a cut id is of no use
    painted = [line.replace(row.state, page.ink.word(row.state), 1) for line, row in zip(rest, rows, strict=True)]
    return [page.ink("dim", first), *painted]


def _texts(row: RunRow) -> list[str]:
    texts = (
        row.run_id,
        row.state,
        row.result,
        moment(row.created),
        row.target or "–",
        _names(row.harnesses),
        _names(row.environments),
        row.selection or "everything",
        row.created_by or "–",
        "–" if row.updated is None else moment(row.updated),
    )
    return [one_line(text, 40) for text in texts]


def _names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return (", ".join(names[:_SHOWN_NAMES]) + (f" +{more}" if more > 0 else "")) or "–"

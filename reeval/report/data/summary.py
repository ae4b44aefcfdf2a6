"""What does ``summary.md`` say of data questions? Each cell's accuracy, and a row for each that did not pass."""

from __future__ import annotations

from dataclasses import dataclass

from reeval.report.data.accuracy import cell_name, gate_text
from reeval.report.screen.numbers import accuracy
from reeval.schema.record import Outcome, RunRecord

__all__ = ["DataSummary", "data_summary"]

_ROWS = 100


@dataclass(frozen=True)
class DataSummary:
    """Rows of two tables, not escaped, and how many of the second are left out."""

    cells: list[dict[str, str]]
    rows: list[dict[str, str]]
    hidden: int


def data_summary(record: RunRecord) -> DataSummary:
    """Return what the data questions of a run came to."""
    cells = [
        {
            "name": cell_name(one, record.accuracy),
            "accuracy": accuracy(one.passed, one.total),
            "mean": "" if one.mean is None else f"{100 * one.mean:.0f}%",
            "gate": gate_text(one) or "reports only",
        }
        for one in record.accuracy
    ]
    wrong = [
        {"outcome": entry.outcome.value, "name": planned.name, "attempt": entry.attempt, "why": entry.said}
        for planned in record.evals
        for entry in planned.attempts
        if planned.asks is not None and entry.outcome is not Outcome.PASS
    ]
    return DataSummary(cells, wrong[:_ROWS], max(0, len(wrong) - _ROWS))

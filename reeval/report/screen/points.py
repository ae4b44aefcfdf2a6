"""Which points did scored attempts not earn? The checks that lost some, by eval, added up over the first attempts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reeval.errors import RecordError
from reeval.report.screen.evidence import RunReader, checks_of
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import number
from reeval.report.text import one_line
from reeval.schema.record import CheckRecord, Outcome, RunRecord

__all__ = ["lost_points", "points_section"]

READ_ATTEMPTS = 50
"""Scored attempts of a run that are read; ``reeval query`` finds the rest."""
SHOWN_CHECKS = 10
"""Checks of one eval that are listed, those that lost most first; the rest is counted."""
_LABEL = 80


@dataclass
class _Loss:
    label: str
    attempts: int = 0
    """Those that lost points here."""
    earned: float = 0.0
    points: float = 0.0

    def add(self, check: CheckRecord) -> None:
        earned, points = check.earned or 0.0, check.points or 0.0
        self.attempts += earned < points
        self.earned += earned
        self.points += points

    def text(self, attempts: int) -> str:
        of = "" if attempts == 1 else f", lost in {self.attempts} of {attempts} attempts"
        return f"{one_line(self.label, _LABEL)}  {number(self.earned)} of {number(self.points)} points{of}"


def lost_points(record: RunRecord, reader: RunReader | None) -> list[tuple[str, list[str]]]:
    """Return for each scored eval its title and a line, escaped, for each check that lost points.

    Without a reader there is nothing to read them from.
    """
    if reader is None or record.kind != "scored":
        return []
    found = []
    left = READ_ATTEMPTS
    for planned in record.evals:
        scored = [entry.line for entry in planned.attempts if entry.outcome is Outcome.SCORED][:left]
        left -= len(scored)
        if scored and (lines := _lines(scored, reader)):
            found.append((planned.title, lines))
    return found


def _lines(attempts: list[tuple[int, int]], reader: RunReader) -> list[str]:
    losses: dict[str, _Loss] = {}
    for check in _scored_checks(attempts, reader):
        losses.setdefault(check.label, _Loss(check.label)).add(check)
    lost = sorted((one for one in losses.values() if one.attempts), key=lambda one: one.earned - one.points)
    more = len(lost) - SHOWN_CHECKS
    lines = [one.text(len(attempts)) for one in lost[:SHOWN_CHECKS]]
    return lines + ([f"… {more:,} more checks"] if more > 0 else [])


def _scored_checks(attempts: list[tuple[int, int]], reader: RunReader) -> Iterator[CheckRecord]:
    for line in attempts:
        try:
            checks = checks_of(reader.attempt_at(*line), reader)
        except RecordError:
            continue
        yield from (check for check in checks if check.points is not None)


def points_section(record: RunRecord, page: Page) -> list[str]:
    """Return the section of a run's last screen; nothing when no points were lost."""
    found = lost_points(record, page.reader)
    if not found:
        return []
    lines = [page.ink("bold", "points lost")]
    for title, rows in found:
        lines += ["", page.line(title, 2), *(page.line(row, 4) for row in rows)]
    return lines

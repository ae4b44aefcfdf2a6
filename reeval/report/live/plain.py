"""What does a run say when no person watches a terminal? One bounded line for each attempt, no control codes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal, TextIO

from reeval.report.answers import answer_texts
from reeval.report.data.accuracy import accuracy_texts
from reeval.report.live.progress import Progress
from reeval.report.live.writer import LineWriter
from reeval.report.screen.ending import blocks, header, screen, totals
from reeval.report.screen.evidence import checks_of, log_of
from reeval.report.screen.failures import Page, check_lines, failure_sections, headline, log_lines
from reeval.report.screen.numbers import number, seconds
from reeval.report.text import one_line, width
from reeval.schema.plan import Plan, PlannedAttempt
from reeval.schema.record import AttemptRecord, Outcome, RunRecord, RunStart
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.secrets import Masker

__all__ = ["HEARTBEAT", "PlainReporter", "Verbosity", "attempt_details", "attempt_line"]

Verbosity = Literal["quiet", "normal", "verbose"]

HEARTBEAT = 60.0
"""Seconds after which a line says how far the run is, what it cost and how long it may take."""
_LINE_CELLS = 300
_WHY_CELLS = 120


class PlainReporter:
    """Writes lines to a stream that may be a file or a pipe. ``close`` must be called, also when the run breaks."""

    def __init__(
        self,
        out: TextIO,
        *,
        masker: Masker,
        page: Page | None = None,
        verbosity: Verbosity = "normal",
        heartbeat: float = HEARTBEAT,
        done: int = 0,
    ) -> None:
        """``done`` attempts of the plan have a record already (resume), and will not be told."""
        self._done = done
        self.runs = ".reeval/runs"
        """Where records are, as one would type it."""
        self.budget: float | None = None
        """Dollars that may be spent; None: no limit."""
        self._page = page or Page(passing=verbosity == "verbose")
        self._verbosity = verbosity
        self._progress = Progress(total=0, began=time.monotonic())
        silent = verbosity == "quiet"
        self._writer = LineWriter(out, masker, every=None if silent else heartbeat, tick=self._beat)

    def run_started(self, plan: Plan, start: RunStart, facts: Sequence[str]) -> None:
        """Write the header."""
        self._progress = Progress(plan.attempts - self._done, time.monotonic(), budget=self.budget)
        if self._verbosity != "quiet":
            self._writer.write(header(plan, start, facts, self._page.ink, self._page.cells), now=True)

    def attempt_started(self, attempt: PlannedAttempt) -> None:
        """Remember that it runs, for the heartbeat."""
        self._progress.start(attempt, time.monotonic())

    def attempt_judging(self, attempt: PlannedAttempt) -> None:
        """Remember that it waits for judges."""
        self._progress.judge(attempt)

    def attempt_finished(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        """Write its line."""
        self._progress.finish(attempt, record)
        if self._verbosity == "quiet":
            return
        lines = [attempt_line(attempt, record, self._progress, self._page)]
        if self._verbosity == "verbose":
            lines += attempt_details(record, self._page)
        self._writer.write(lines)

    def attempts_left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """Count them out of what is to come."""
        self._progress.leave_out(len(attempts))

    def question_answered(self, record: AnswerRecord | PairRecord, waiting: int) -> None:
        """Count it; with ``-v`` write it."""
        self._progress.answer(record, waiting)
        if self._verbosity == "verbose":
            self._writer.write([self._page.line(line, 4) for line in answer_texts(record)])

    def warning(self, text: str) -> None:
        """Write it at once."""
        self._writer.write(self._page.lines(f"warning: {text}", 10, 0, style="yellow"), now=True)

    def run_finished(self, record: RunRecord, failures: Sequence[AttemptRecord]) -> None:
        """Write the last screen."""
        elapsed = time.monotonic() - self._progress.began
        if self._verbosity == "quiet":
            _, errors = failure_sections(record.evals, failures, self._page)
            lines = [*blocks(record.evals, self._page), *(["", *errors, ""] if errors else [])]
            lines += totals(record, elapsed, self._page)
            lines += [f"accuracy  {text}" for text in accuracy_texts(record.accuracy)]
        else:
            place = f"{self.runs}/{record.run_id}/"
            lines = ["", *screen(record, failures, self._page, elapsed=elapsed, place=place)]
        self._writer.write(lines, now=True)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _beat(self) -> Sequence[str]:
        facts = [text for text, _ in self._progress.facts(time.monotonic())]
        return ["… " + " · ".join(facts)]


def attempt_line(attempt: PlannedAttempt, record: AttemptRecord, progress: Progress, page: Page) -> str:
    """``[ 3/40] pass  evals/greet.eval.py › greets by name @ terse/-/fake#1  0.34 s``, and why it did not pass.

    On a narrow terminal the file is left out, then the end is cut.
    """
    size = len(str(progress.total))
    place = f"[{progress.done:>{size}}/{progress.total}]"
    word = f"{record.outcome.value:<5}"
    room = (page.cells or _LINE_CELLS) - len(place) - len(word) - 2
    said = f" @ {attempt.id}  {seconds(record.duration)}"
    if record.outcome is Outcome.SCORED and record.score is not None:
        said += f"  score {number(record.score)}"
    if why := headline(record, checks_of(record, page.reader)):
        said += f"  {one_line(why, _WHY_CELLS)}"
    title = attempt.eval.title
    if width(title) + width(said) > room:
        title = " › ".join(attempt.eval.path)
    return f"{place} {page.ink.word(record.outcome.value, word)} {one_line(title + said, room)}"


def attempt_details(record: AttemptRecord, page: Page) -> list[str]:
    """Return every check of an attempt, what broke it, and its log: what ``-v`` shows below its line."""
    lines = [line for check in checks_of(record, page.reader) for line in check_lines(check, page, 4)]
    if record.failure is not None and record.failure.detail:
        lines += page.lines(record.failure.detail, 15, 6, tail=True, style="dim")
    return lines + log_lines(log_of(record, page.reader), page, 4)

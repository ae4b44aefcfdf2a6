"""What does a person see while a run goes on? One live block below the results of the evals that are done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from reeval.report.answers import answer_texts
from reeval.report.live.folds import EvalFolds
from reeval.report.live.plain import Verbosity, attempt_details, attempt_line
from reeval.report.live.progress import Progress, progress_lines
from reeval.report.live.writer import LineWriter
from reeval.report.screen.blocks import block
from reeval.report.screen.ending import blocks, ending, header
from reeval.report.screen.evidence import is_failing
from reeval.report.screen.failures import Page
from reeval.schema.plan import Plan, PlannedAttempt
from reeval.schema.record import AttemptRecord, RunRecord, RunStart
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.secrets import Masker

__all__ = ["LiveReporter"]

_REFRESHES = 8
"""A second."""
_RUNNING_ROWS = 8


class _Above:
    """Prints above the live block."""

    encoding = "utf-8"

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str, /) -> None:
        self._console.print(Text.from_ansi(text.removesuffix("\n")), soft_wrap=True)

    def flush(self) -> None:
        self._console.file.flush()

    def fileno(self) -> int:
        return self._console.file.fileno()


class LiveReporter:
    """Draws on a terminal. ``close`` must be called, also when the run breaks: it gives the terminal back."""

    def __init__(
        self, out: TextIO, *, masker: Masker, page: Page, verbosity: Verbosity = "normal", done: int = 0
    ) -> None:
        """``done`` attempts of the plan have a record already (resume), and will not be told."""
        self._done = done
        self.runs = ".reeval/runs"
        """Where records are, as one would type it."""
        self.budget: float | None = None
        """Dollars that may be spent; None: no limit."""
        self._masker = masker
        self._page = page
        self._verbosity = verbosity
        self._progress = Progress(total=0, began=time.monotonic())
        self._folds = EvalFolds()
        self._apart = False
        """Whether the last line is an empty one."""
        self._names: Counter[tuple[str, ...]] = Counter()
        self._console = Console(
            file=out,
            force_terminal=True,
            color_system="standard" if page.ink.color else None,
            markup=False,
            emoji=False,
            highlight=False,
        )
        # One print draws the block anew: with thousands of results they must go out together.
        self._writer = LineWriter(_Above(self._console), masker)
        self._live = Live(
            console=self._console,
            refresh_per_second=_REFRESHES,
            transient=True,
            redirect_stdout=False,  # what a body prints is its attempt's; only one side may swap the streams
            redirect_stderr=False,
            get_renderable=self._draw,
        )

    def run_started(self, plan: Plan, start: RunStart, facts: Sequence[str]) -> None:
        """Print the header and begin to draw."""
        self._progress = Progress(plan.attempts - self._done, time.monotonic(), budget=self.budget)
        self._names.update(planned.path for planned in plan.evals)
        self._writer.write([*header(plan, start, facts, self._page.ink, self._console.width), ""], now=True)
        self._live.start()
        # A second Ctrl-C leaves at once, without a word to the terminal: it must not be left without a cursor.
        self._console.show_cursor(show=True)

    def attempt_started(self, attempt: PlannedAttempt) -> None:
        """Add it to the block."""
        self._progress.start(attempt, time.monotonic())

    def attempt_judging(self, attempt: PlannedAttempt) -> None:
        """Say so in the block."""
        self._progress.judge(attempt)

    def attempt_finished(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:
        """Print it if it did not pass, and its eval's result when this was its last attempt."""
        self._progress.finish(attempt, record)
        page = self._sized()
        lines: list[str] = []
        done = self._folds.add(attempt, record)
        told = done is not None and done.asks is not None and len(done.attempts) == 1  # the result says all of the line
        if self._verbosity == "verbose" or (is_failing(record) and not told):
            lines.append(attempt_line(attempt, record, self._progress, page))
        if self._verbosity == "verbose":
            lines += attempt_details(record, page)
        if done is not None:
            result = block(done, ink=page.ink, cells=page.cells, with_file=self._names[done.path] > 1)
            lines += [*result, ""] if len(result) > 1 else result
        if lines:
            self._writer.write(lines)
            self._apart = not lines[-1]

    def attempts_left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """Count them out of what is to come."""
        self._progress.leave_out(len(attempts))
        self._folds.leave_out(attempts)

    def question_answered(self, record: AnswerRecord | PairRecord, waiting: int) -> None:
        """Count it; with ``-v`` print it."""
        self._progress.answer(record, waiting)
        if self._verbosity == "verbose":
            page = self._sized()
            self._writer.write([page.line(line, 4) for line in answer_texts(record)])

    def warning(self, text: str) -> None:
        """Print it above the block, at once."""
        self._writer.write(self._sized().lines(f"warning: {text}", 10, 0, style="yellow"), now=True)

    def run_finished(self, record: RunRecord, failures: Sequence[AttemptRecord]) -> None:
        """Clear the block and print what has not been printed yet, and the end of the run."""
        self._writer.write([], now=True)
        self._live.stop()
        elapsed = time.monotonic() - self._progress.began
        page = self._sized()
        unseen = blocks(record.evals, page, self._folds.done)
        place = f"{self.runs}/{record.run_id}/"
        lines = ending(record, failures, page, elapsed=elapsed, place=place)
        gap = [] if self._apart and not unseen else [""]
        self._writer.write([*unseen, *gap, *lines], now=True)

    def close(self) -> None:
        """Print what is left and clear the block."""
        self._writer.close()
        self._live.stop()

    def _sized(self) -> Page:
        return replace(self._page, cells=self._console.width)

    def _draw(self) -> Text:
        size = self._console.size
        lines = progress_lines(
            self._progress,
            time.monotonic(),
            ink=self._page.ink,
            cells=size.width - 1,
            rows=max(0, min(_RUNNING_ROWS, size.height - 4)),
        )
        return Text.from_ansi(self._masker.text("\n".join(lines)), no_wrap=True, overflow="crop")

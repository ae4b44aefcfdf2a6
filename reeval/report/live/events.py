"""How does a program follow a run? ``--json``: one object a line, with the record's words.

| ``event`` | fields |
|---|---|
| ``run_started`` | ``run_id``, ``kind``, ``evals``, ``attempts``, ``created_at``, ``facts`` |
| ``attempt_started`` | ``eval``, ``attempt`` |
| ``attempt_judging`` | ``eval``, ``attempt``: only its judges are still to answer |
| ``attempt_finished`` | ``record``: the attempt as it stands in the journal, without turns, diff and log |
| ``attempts_left_out`` | ``eval``, ``count``: so many of its attempts will not start, since it stopped early |
| ``question_answered`` | ``record``: an answer or a pair as it stands in the journal; ``waiting``: how many more |
| ``warning`` | ``text`` |
| ``run_finished`` | ``record``: the run as in ``record.json``, without the list of attempts |
| ``compared`` | ``vs``, ``run``, ``differences``, ``cells``, ``pooled``, ``not_compared``, ``worse``: two runs |

The last one follows when the run has ended, where an earlier one was named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from reeval.report.live.writer import LineWriter
from reeval.schema.plan import Plan, PlannedAttempt
from reeval.schema.record import AttemptRecord, RunRecord, RunStart
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.secrets import Masker

if TYPE_CHECKING:
    from reeval.grade.versus.results import Versus

__all__ = ["JsonReporter", "compared"]

_encode = msgspec.json.Encoder().encode


class JsonReporter:
    """Writes events to a stream, and nothing else. ``close`` must be called, also when the run breaks."""

    def __init__(self, out: TextIO, *, masker: Masker) -> None:
        self._writer = LineWriter(out, masker)

    def run_started(self, plan: Plan, start: RunStart, facts: Sequence[str]) -> None:
        """Write ``run_started``."""
        running = sum(planned.mode == "run" for planned in plan.evals)
        self._put(
            {
                "event": "run_started",
                "run_id": start.run_id,
                "kind": plan.kind,
                "evals": running,
                "attempts": plan.attempts,
                "created_at": start.created_at,
                "facts": list(facts),
            },
            now=True,
        )

    def attempt_started(self, attempt: PlannedAttempt) -> None:
        """Write ``attempt_started``."""
        self._put({"event": "attempt_started", "eval": attempt.eval.id, "attempt": attempt.id})

    def attempt_judging(self, attempt: PlannedAttempt) -> None:
        """Write ``attempt_judging``."""
        self._put({"event": "attempt_judging", "eval": attempt.eval.id, "attempt": attempt.id})

    def attempt_finished(self, attempt: PlannedAttempt, record: AttemptRecord) -> None:  # noqa: ARG002 - the protocol's
        """Write ``attempt_finished``."""
        small = msgspec.structs.replace(record, turns=[], diff="", log="")
        self._put({"event": "attempt_finished", "record": small})

    def attempts_left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """Write ``attempts_left_out`` for each eval."""
        counts = Counter(attempt.eval.id for attempt in attempts)
        for eval_id, count in counts.items():
            self._put({"event": "attempts_left_out", "eval": eval_id, "count": count})

    def question_answered(self, record: AnswerRecord | PairRecord, waiting: int) -> None:
        """Write ``question_answered``."""
        self._put({"event": "question_answered", "record": record, "waiting": waiting})

    def warning(self, text: str) -> None:
        """Write ``warning``."""
        self._put({"event": "warning", "text": text}, now=True)

    def run_finished(self, record: RunRecord, failures: Sequence[AttemptRecord]) -> None:  # noqa: ARG002 - the protocol's
        """Write ``run_finished``."""
        evals = [msgspec.structs.replace(planned, attempts=[]) for planned in record.evals]
        self._put({"event": "run_finished", "record": msgspec.structs.replace(record, evals=evals)}, now=True)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _put(self, event: dict[str, Any], *, now: bool = False) -> None:
        self._writer.write([_encode(event).decode()], now=now)


def compared(found: Versus) -> str:
    """Return the event ``compared`` as a line: two runs, each cell with its ``LiftRecord``."""
    cells = [
        {"eval": cell.place.eval, "cell": cell.place.cell, "lift": cell.lift, "checks": cell.checks}
        for one in found.evals
        for cell in one.cells
    ]
    event = {
        "event": "compared",
        "vs": found.earlier.run_id,
        "run": found.later.run_id,
        "differences": found.differences,
        "cells": cells,
        "pooled": found.pooled,
        "not_compared": found.apart,
        "worse": [what for what, _ in found.worse()],
    }
    return _encode(event).decode()

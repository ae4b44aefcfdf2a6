"""Which rows does a recorded run become? One JSON line for each row, in one file for each table.

Long texts are cut here: the history is for finding, the record has everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec

from reeval.errors import RecordError
from reeval.record.answers.judgments import judgment_rows
from reeval.record.answers.rows import answer_row, pair_rows, question_usage
from reeval.record.compared.rows import lift_rows
from reeval.record.data.rows import data_row
from reeval.record.store import RunDirectory
from reeval.record.tables import TABLES
from reeval.schema.record import AttemptRecord, CellRecord, CheckRecord, EvalRecord, RunRecord, SpenderUsage
from reeval.schema.recorded.answers import AnswerRecord, JudgmentRecord
from reeval.schema.transcript import Turn

__all__ = ["MAX_ROW", "RowFiles"]

MAX_ROW = 1024 * 1024
"""Bytes of one line: far more than the cut texts of a row can be."""
_LONG = 4000
_SHORT = 1000
_LABEL = 300

Row = dict[str, Any]


class RowFiles:
    """The rows of some runs on their way into the history: a file for each table that has any."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self._encoder = msgspec.json.Encoder()
        self.attempts = 0
        """Attempts so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def add(self, run: RunDirectory, record: RunRecord) -> None:
        """Write every row of a run, one attempt at a time in memory.

        Raises ``RecordError`` when the run is damaged; then none of its rows stays.
        """
        before = {table: file.tell() for table, file in self._files.items()}
        try:
            self._add(run, record)
        except BaseException:
            for table, file in self._files.items():
                file.seek(before.get(table, 0))
                file.truncate()
            raise

    def _add(self, run: RunDirectory, record: RunRecord) -> None:
        self._put("runs", _run_row(run, record))
        for one in record.evals:
            self._put("evals", _eval_row(run.id, one))
            for cell in one.cells:
                self._put("cells", _cell_row(run.id, one.id, cell))
            for pair in one.answers:
                for table, row in pair_rows(run.id, pair, _cut):
                    self._put(table, row)
        for table, row in lift_rows(run.id, record):
            self._put(table, row)
        answers = {(one.id, it.attempt): it.answers for one in record.evals for it in one.attempts if it.answers}
        asked = {one.id: one.asks for one in record.evals}
        for attempt in run.attempts():
            self.attempts += 1
            for table, row in _data_rows(run, attempt, asked.get(attempt.eval)):
                self._put(table, row)
            for table, row in _attempt_rows(run, attempt):
                self._put(table, row)
            for table, row in _answer_rows(run.id, attempt, answers.get((attempt.eval, attempt.attempt), [])):
                self._put(table, row)

    def done(self) -> dict[str, Path]:
        """Return the file of each table that has rows, ready to be read."""
        names = [table.name for table in TABLES if table.name in self._files]
        self._close()
        return {name: self._path(name) for name in names}

    def _path(self, table: str) -> Path:
        return self._directory / f"{table}.ndjson"

    def _put(self, table: str, row: Row) -> None:
        file = self._files.get(table)
        if file is None:
            file = self._files[table] = self._path(table).open("wb")
        file.write(self._encoder.encode(row) + b"\n")

    def _close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


def _cut(text: str | None, limit: int = _SHORT) -> str | None:
    """Return the text cut in the middle; DuckDB's strings cannot hold the character zero."""
    if text is None:
        return None
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]} … {len(text) - 2 * half:,} characters cut … {text[-half:]}"
    return text.replace("\0", "\\0")


def _run_row(run: RunDirectory, record: RunRecord) -> Row:
    totals = record.totals
    same = (
        "state kind exit_code created_at ended_at created_by project profile target git_commit git_branch git_dirty "
        "host platform python_version reeval_version"
    )
    return {
        "run_id": run.id,
        **_fields(record, same),
        "selection": _cut(record.selection),
        "command": _cut(" ".join(record.command)),
        **_fields(totals, "planned passed failed review error skipped scored cost"),
    }


def _eval_row(run_id: str, one: EvalRecord) -> Row:
    return {
        "run_id": run_id,
        "eval": one.id,
        **_fields(one, "file name path kind mode tags runs task"),
        "skip_reason": _cut(one.skip_reason),
        "description": _cut(one.description, _LONG),
        "asks": _cut(one.asks),
        "cases": len(one.cases),
    }


def _cell_row(run_id: str, eval_id: str, cell: CellRecord) -> Row:
    same = (
        "harness environment sandbox role planned passed failed review error skipped scored verdict_failed mean_score "
        "complete duration tokens cost subject"
    )
    return {
        "run_id": run_id,
        "eval": eval_id,
        "cell": cell.key,
        **_fields(cell, same),
        "pass_rate": cell.passed / cell.decided if cell.decided else None,
        "gate": cell.gate.rule,
        **_fields(cell.gate, "minimum value holds undecided"),
    }


def _attempt_rows(run: RunDirectory, attempt: AttemptRecord) -> Iterator[tuple[str, Row]]:
    key = {"run_id": run.id, "eval": attempt.eval, "attempt_id": attempt.attempt}
    turns, checks = _turns(run, attempt), _checks(run, attempt)
    yield "attempts", key | _attempt_row(attempt, turns)
    for number, check in enumerate(checks or (), 1):
        yield "checks", key | _check_row(number, check)
    for number, turn in enumerate(turns or (), 1):
        yield "turns", key | _turn_row(number, turn)
        for place, call in enumerate(turn.tool_calls, 1):
            yield "tool_calls", key | {"turn": number, "n": place} | _call_row(call)
    for number, seen in enumerate(attempt.observations, 1):
        yield "observations", key | {"n": number} | _observation_row(seen.name, seen.value)
    for row in judgment_rows(_judgments(run, attempt), _cut):
        yield "judgments", key | row
    for number, usage in enumerate(attempt.usage, 1):
        yield "usage", key | _usage_row(number, usage)


def _data_rows(run: RunDirectory, attempt: AttemptRecord, asks: str | None) -> Iterator[tuple[str, Row]]:
    if not attempt.data:
        return
    key = {"run_id": run.id, "eval": attempt.eval, "attempt_id": attempt.attempt}
    try:
        found = run.data(attempt)
    except RecordError:
        return
    for one in found:
        yield "data_results", key | data_row(attempt, one, asks, _turns(run, attempt) or (), _cut)


def _answer_rows(run_id: str, attempt: AttemptRecord, answers: list[AnswerRecord]) -> Iterator[tuple[str, Row]]:
    key = {"run_id": run_id, "eval": attempt.eval, "attempt_id": attempt.attempt}
    for answer in answers:
        yield "attempt_answers", key | answer_row(attempt, answer, _cut)
    for number, row in enumerate(question_usage(answers), len(attempt.usage) + 1):
        yield "usage", key | {"n": number} | row


def _turns(run: RunDirectory, attempt: AttemptRecord) -> list[Turn] | None:
    """Return the turns; None when their file is damaged, which must not keep the attempt out."""
    try:
        return run.turns(attempt)
    except RecordError:
        return None


def _checks(run: RunDirectory, attempt: AttemptRecord) -> list[CheckRecord] | None:
    try:
        return run.checks(attempt)
    except RecordError:
        return None


def _judgments(run: RunDirectory, attempt: AttemptRecord) -> list[JudgmentRecord]:
    try:
        return run.judgments(attempt)
    except RecordError:
        return []


def _attempt_row(attempt: AttemptRecord, turns: list[Turn] | None) -> Row:
    same = (
        "harness environment sandbox case role run outcome verdict score score_state partial_score started_at duration "
        "start_duration model tries task subject"
    )
    failure = attempt.failure
    return {
        "cell": f"{attempt.harness}/{attempt.environment}/{attempt.sandbox}",
        **_fields(attempt, same),
        "phase": failure and failure.phase,
        "reason": _cut(failure.reason if failure else attempt.skip_reason),
        "turns": None if turns is None else len(turns),
        "tool_calls": None if turns is None else sum(len(turn.tool_calls) for turn in turns),
        "files_changed": None if turns is None else sum(len(turn.changes.files) for turn in turns),
        **_agent(attempt.usage),
    }


def _agent(usage: list[SpenderUsage]) -> Row:
    """Return what the agent spent; an attempt without a turn spent nothing that is known."""
    for one in usage:
        if one.spender == "agent":
            return {"tokens": one.usage.total, "cost": one.usage.cost}
    return {}


def _check_row(number: int, check: CheckRecord) -> Row:
    same = "match status measurement gate minimum holds points earned optional stopped line duration"
    return {
        "n": number,
        "label": _cut(check.label, _LABEL),
        "key": _cut(check.key, _LABEL),
        "message": _cut(check.message),
        **_fields(check, same),
    }


def _turn_row(number: int, turn: Turn) -> Row:
    usage = turn.usage
    return {
        "turn": number,
        "prompt": _cut(turn.prompt, _LONG),
        "message": _cut(turn.message, _LONG),
        "error": _cut(turn.error),
        "model": _cut(turn.model, _LABEL),
        "session": _cut(turn.session, _LABEL),
        **_fields(turn, "status started duration"),
        "events": len(turn.events),
        "tool_calls": len(turn.tool_calls),
        "files_changed": len(turn.changes.files),
        "tokens": usage and usage.total,
        "cost": usage and usage.cost,
    }


def _call_row(call: Any) -> Row:
    return {
        "name": _cut(call.name, _LABEL),
        "native": _cut(call.native, _LABEL),
        "input": None if call.input is None else _cut(_json(call.input)),
        "output": _cut(call.output),
        **_fields(call, "ok exit_code duration"),
    }


def _observation_row(name: str, value: Any) -> Row:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"name": _cut(name, _LABEL), "value": _cut(_json(value)), "number": float(value) if is_number else None}


def _usage_row(number: int, spent: SpenderUsage) -> Row:
    same = "input output cache_read cache_write reasoning cost"
    return {"n": number, "spender": spent.spender, "model": _cut(spent.model, _LABEL), **_fields(spent.usage, same)}


def _fields(struct: msgspec.Struct, names: str) -> Row:
    return {name: getattr(struct, name) for name in names.split()}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()

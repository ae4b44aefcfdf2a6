"""Which words stand in the record of an attempt, so that a quote of it can be found?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeVar

from reeval.schema.record import AttemptRecord, CheckRecord, FileRef
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.schema.transcript import (
    CommandResult,
    Event,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)

__all__ = ["attempt_texts"]


T = TypeVar("T")


def attempt_texts(attempt: AttemptRecord, answers: Iterable[AnswerRecord | PairRecord] = ()) -> Iterator[str]:
    """Yield every text of an attempt whose parts were read back; a part that is still a file has none."""
    for text in (attempt.log, attempt.diff, attempt.skip_reason):
        yield text if isinstance(text, str) else ""
    if attempt.failure is not None:
        yield from (attempt.failure.said, attempt.failure.detail)
    yield from attempt.diagnostics
    for seen in attempt.observations:
        yield f"{seen.name}: {_json(seen.value)}"
    for turn in _inline(attempt.turns):
        yield from _turn(turn)
    for check in _inline(attempt.checks):
        yield from _check(check)
    for command in _inline(attempt.commands):
        yield from _command(command)
    for judgment in _inline(attempt.judgments):
        yield from (judgment.reason, judgment.error or "", *(vote.reason for vote in judgment.votes))
    for answer in answers:
        yield from _answer(answer)


def _inline(part: list[T] | FileRef) -> list[T]:
    return [] if isinstance(part, FileRef) else part


def _turn(turn: Turn) -> Iterator[str]:
    yield from (turn.prompt, turn.message, turn.error or "", turn.changes.patch)
    yield "\n".join(f"{file.status} {file.path}" for file in turn.changes.files)
    for event in turn.events:
        yield from _event(event)


def _event(event: Event) -> Iterator[str]:
    match event:
        case Text() | Reasoning():
            yield event.text
        case ToolCall():
            yield event.output
            yield _json(event.input)
            command = event.input.get("command") if isinstance(event.input, dict) else event.input
            yield command if isinstance(command, str) else ""
        case FileEdit():
            yield f"{event.kind} {event.path}"
        case WebSearch():
            yield event.query
        case WebFetch():
            yield event.url
        case Notice():
            yield event.message


def _check(check: CheckRecord) -> Iterator[str]:
    yield from (check.label, check.message)


def _command(command: CommandResult) -> Iterator[str]:
    yield from (f"$ {command.command} exit code {command.exit_code}", command.stdout, command.stderr)


def _answer(answer: AnswerRecord | PairRecord) -> Iterator[str]:
    if isinstance(answer, PairRecord):
        yield from (vote.reason for vote in answer.votes)
    else:
        yield from (answer.answer or "", answer.choice or "", answer.reason or "")


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return ""

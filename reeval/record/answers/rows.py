"""Which rows do the answers to questions become?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from reeval.grade.asked.tallies import answered_usage
from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.answers import AnswerRecord, PairRecord

__all__ = ["answer_row", "pair_rows", "question_usage"]

Row = dict[str, Any]
Cut = Callable[[str | None, int], str | None]
"""Bounds a text that a model or an author wrote."""
_LONG, _SHORT, _LABEL = 4000, 1000, 300


def answer_row(attempt: AttemptRecord, answer: AnswerRecord, cut: Cut) -> Row:
    """Return the row of ``attempt_answers``, without the attempt's key."""
    return {
        "n": answer.question,
        **_fields(attempt, "case harness environment role outcome"),
        "question": cut(answer.text, _LONG),
        "answer": cut(answer.answer, _LONG),
        "choice": cut(answer.choice, _SHORT),
        "reason": cut(answer.reason, _SHORT),
        "error": cut(answer.error, _SHORT),
        **_common(answer, cut),
        "duration": answer.duration,
    }


def pair_rows(run_id: str, pair: PairRecord, cut: Cut) -> Iterator[tuple[str, Row]]:
    """Yield the row of ``question_pairs``, then those of ``votes``, each with its table."""
    key = {
        "run_id": run_id,
        "eval": pair.eval,
        "n": pair.question,
        "factor": pair.factor,
        "left_attempt": pair.left,
        "right_attempt": pair.right,
    }
    winners = [vote.winner for vote in pair.votes]
    yield (
        "question_pairs",
        key
        | {
            **_fields(pair, "left_value right_value split"),
            "question": cut(pair.text, _LONG),
            "left_wins": winners.count("left"),
            "right_wins": winners.count("right"),
            "ties": winners.count("tie"),
            "errors": winners.count(None),
            **_common(pair, cut),
        },
    )
    names = {"left": pair.left_value, "right": pair.right_value, "tie": "tie"}
    for vote in pair.votes:
        said = {"winner": names.get(vote.winner or ""), "side": vote.winner, "shown_first": vote.shown_first}
        yield "votes", key | said | {"reason": cut(vote.reason, _SHORT), "error": cut(vote.error, _SHORT)}


def question_usage(answers: list[AnswerRecord]) -> Iterator[Row]:
    """Yield what the questions about one attempt used, one row of ``usage`` for each model."""
    for model in dict.fromkeys(answer.model for answer in answers):
        used = [answer.usage for answer in answers if answer.model == model]
        total = sum(used[1:], used[0])
        same = _fields(total, "input output cache_read cache_write reasoning cost")
        yield {"spender": "question", "model": model, **same}


def _common(record: AnswerRecord | PairRecord, cut: Cut) -> Row:
    return {
        "model": cut(record.model, _LABEL),
        "served": cut(record.served, _LABEL),
        "cost": answered_usage(record).cost,
        "input": record.input.file if record.input else None,
    }


def _fields(struct: msgspec.Struct, names: str) -> Row:
    return {name: getattr(struct, name) for name in names.split()}

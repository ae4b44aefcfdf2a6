"""Which rows does what judges said about an attempt become, in the history?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reeval.schema.recorded.answers import JudgmentRecord

__all__ = ["judgment_rows"]

_LABEL = 300


def judgment_rows(judgments: Sequence[JudgmentRecord], cut: Callable[..., str | None]) -> list[dict[str, Any]]:
    """Return a row for each judgment, without the attempt's key; ``cut`` bounds texts."""
    return [_row(number, judgment, cut) for number, judgment in enumerate(judgments, 1)]


def _row(number: int, judgment: JudgmentRecord, cut: Callable[..., str | None]) -> dict[str, Any]:
    error = judgment.error
    return {
        "n": number,
        "label": cut(judgment.label, _LABEL),
        "judge": cut(judgment.judge, _LABEL),
        "question": cut(judgment.question),
        "model": cut(judgment.model, _LABEL),
        "served": cut(judgment.served, _LABEL),
        "score": judgment.score,
        "reason": cut(judgment.reason) if error is None else None,
        "votes": None if judgment.score is None else len(judgment.votes) or 1,
        "spread": judgment.spread,
        "error": cut(error),
        "duration": judgment.duration,
        "input": judgment.input and judgment.input.file,
        "tokens": judgment.usage.total,
        "cost": judgment.usage.cost,
    }

"""Which row does the answer to a data question become, in the history?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.data import DataRecord, ResultSample
from reeval.schema.transcript import Turn

__all__ = ["data_row"]

_LONG = 4000
_LABEL = 300
_WARNINGS = 10


def data_row(
    attempt: AttemptRecord, found: DataRecord, asks: str | None, turns: Sequence[Turn], cut: Callable[..., str | None]
) -> dict[str, Any]:
    """Return the row, without the attempt's key; ``cut`` bounds texts."""
    return {
        "cell": f"{attempt.harness}/{attempt.environment}/{attempt.sandbox}",
        "harness": attempt.harness,
        "environment": attempt.environment,
        "role": attempt.role,
        "run": attempt.run,
        "space": cut(found.space, _LABEL),
        "question": cut(found.question, _LABEL),
        "asks": cut(asks),
        "outcome": attempt.outcome,
        "reason": found.reason,
        "analysis": cut(found.analysis),
        "warnings": [cut(warning) for warning in found.warnings[:_WARNINGS]],
        "certified_query": cut(found.certified_query, _LABEL),
        "truth_sql": cut(found.truth_sql, _LONG),
        "agent_sql": cut(found.agent_sql, _LONG),
        **_size("truth", found.truth),
        **_size("agent", found.agent),
        "response": cut(turns[-1].message, _LONG) if turns else None,
    }


def _size(side: str, sample: ResultSample | None) -> dict[str, Any]:
    return {
        f"{side}_rows": sample and sample.row_count,
        f"{side}_columns": None if sample is None else sample.column_count,
    }

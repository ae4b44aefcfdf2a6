"""Which attempt does a person mean by what they typed?"""

from __future__ import annotations

from collections.abc import Iterator

from reeval.errors import SelectionError
from reeval.schema.record import AttemptEntry, EvalRecord, RunRecord

__all__ = ["find_attempt"]

_SHOWN = 10
Found = tuple[EvalRecord, AttemptEntry]


def find_attempt(record: RunRecord, text: str) -> AttemptEntry:
    """Return the attempt of a run that ``EVAL@ATTEMPT`` names, with blanks around the ``@`` or without.

    Either side may be an exact id, its end, or any part of it; the closest reading counts, and without ``@`` the
    text may name either side. Raises ``SelectionError`` with the candidates when it is none or several.
    """
    best: list[Found] = []
    nearest = 99
    for found, distance in _readings(record, text):
        if distance < nearest:
            best, nearest = [], distance
        if distance == nearest:
            best.append(found)
    if len(best) == 1:
        return best[0][1]
    raise SelectionError(_several(record, text, best) if best else _none(record, text))


def _readings(record: RunRecord, text: str) -> Iterator[tuple[Found, int]]:
    """Yield every attempt that fits, with how far its ids are from what was typed."""
    eval_part, at, attempt_part = (part.strip() for part in text.rpartition("@"))
    for planned in record.evals:
        whole = _eval_distance(planned, text)
        left = _eval_distance(planned, eval_part) if at else None
        for entry in planned.attempts:
            distances = []
            if whole is not None:
                distances.append(whole * 4)
            if left is not None and (right := _distance(entry.attempt, attempt_part)) is not None:
                distances.append(left * 4 + right)
            if not at and (alone := _distance(entry.attempt, text)) is not None:
                distances.append(alone)
            if distances:
                yield (planned, entry), min(distances)


def _eval_distance(planned: EvalRecord, text: str) -> int | None:
    if text in {planned.name, planned.title}:
        return 0
    return _distance(planned.id, text)


def _distance(id: str, text: str) -> int | None:
    """0: it is the id, 1: its end, 2: a part of it; None: it is not in it."""
    if not text or id == text:
        return 0
    if id.endswith(text):
        return 1
    return 2 if text in id else None


def _several(record: RunRecord, text: str, found: list[Found]) -> str:
    keys = [f"  {planned.id}@{entry.attempt}" for planned, entry in found[:_SHOWN]]
    more = len(found) - _SHOWN
    lines = [f"{text!r} names {len(found):,} attempts of run {record.run_id}; write one of them:", *keys]
    return "\n".join([*lines, f"  … {more:,} more"] if more > 0 else lines)


def _none(record: RunRecord, text: str) -> str:
    from difflib import get_close_matches

    ids = [planned.id for planned in record.evals if planned.attempts][:1000]
    near = get_close_matches(text.rpartition("@")[0].strip() or text, ids, n=3, cutoff=0.4) or ids[:3]
    there = f"; its evals: {', '.join(near)}{', …' if len(ids) > len(near) else ''}" if ids else "; it has no attempts"
    return f"{text!r} is no attempt of run {record.run_id}{there}; --run RUN looks in another run (`reeval runs`)"

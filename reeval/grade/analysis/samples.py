"""Which attempts show best what happened? Some that failed, from as many evals as there are, and some that passed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from reeval.schema.record import AttemptEntry, EvalRecord, Outcome, RunRecord

__all__ = ["by_cell", "chosen", "went_wrong"]

_CELL = re.compile(r"[\[#]")
"""Ends the cell in an attempt's id: ``terse/plain/fake[case]#1``."""
_ERRORS = 2
_OF_CELL = 3
"""Attempts of one cell that end alike: they tend to be alike in the rest, too."""
_LOW = 0.5

Picked = tuple[str, AttemptEntry]
"""Eval and attempt."""


def went_wrong(entry: AttemptEntry) -> bool:
    """Say whether an attempt failed, decided nothing, or earned little; an error is none of these."""
    if entry.outcome is Outcome.SCORED:
        return entry.verdict == "fail" or (entry.score is not None and entry.score < _LOW)
    return entry.outcome in {Outcome.FAIL, Outcome.REVIEW}


def by_cell(planned: EvalRecord) -> dict[str, list[AttemptEntry]]:
    """Return the attempts of an eval by the key of their cell, in their order."""
    found: dict[str, list[AttemptEntry]] = {cell.key: [] for cell in planned.cells}
    for entry in planned.attempts:
        found.setdefault(_CELL.split(entry.attempt, maxsplit=1)[0], []).append(entry)
    return found


def chosen(record: RunRecord, *, wrong: int, right: int) -> list[Picked]:
    """Return up to ``wrong`` attempts that went wrong, two of them errors, and up to ``right`` others.

    They come in turn from every cell, those of cells where something went wrong first: the contrast tells most.
    """
    cells = [
        [(planned.id, entry) for entry in entries] for planned in record.evals for entries in by_cell(planned).values()
    ]
    cells.sort(key=lambda cell: not any(went_wrong(entry) for _, entry in cell))
    failed = _in_turn([one for one in cell if went_wrong(one[1])] for cell in cells)
    broken = _in_turn([one for one in cell if one[1].outcome is Outcome.ERROR] for cell in cells)
    fine = _in_turn([one for one in cell if _went_well(one[1])] for cell in cells)
    errors = list(islice(broken, min(_ERRORS, wrong)))
    return [*islice(failed, wrong - len(errors)), *errors, *islice(fine, right)]


def _went_well(entry: AttemptEntry) -> bool:
    return entry.outcome in {Outcome.PASS, Outcome.SCORED} and not went_wrong(entry)


def _in_turn(groups: Iterable[list[Picked]]) -> Iterator[Picked]:
    """Yield the first of each group, then the second of each, then the third."""
    waiting = [iter(group[:_OF_CELL]) for group in groups if group]
    while waiting:
        still = []
        for group in waiting:
            one = next(group, None)
            if one is not None:
                yield one
                still.append(group)
        waiting = still

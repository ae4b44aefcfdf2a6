"""What can be said of two runs together? Only evals that asked the same in both; their rates side by side."""

from __future__ import annotations

from collections.abc import Iterator

from reeval.grade.analysis.digest import MOST_CELLS, Part
from reeval.grade.analysis.figures import Figures, Unit
from reeval.schema.record import CellRecord, EvalRecord, RunRecord

__all__ = ["comparable", "differences"]


def comparable(this: RunRecord, vs: RunRecord) -> frozenset[str]:
    """Return the evals that stand in both runs with the same task; a rate over a changed task compares nothing."""
    tasks = {one.id: one.task for one in vs.evals}
    return frozenset(one.id for one in this.evals if tasks.get(one.id) == one.task)


def differences(this: RunRecord, vs: RunRecord, figures: Figures) -> Part:
    """Return how the cells of comparable evals differ, and which evals are not comparable."""
    same = comparable(this, vs)
    before = {one.id: one for one in vs.evals}
    lines = [line for one in this.evals if one.id in same for line in _eval(one, before[one.id], figures)]
    shown, more = lines[: 4 * MOST_CELLS], max(0, len(lines) - 4 * MOST_CELLS)
    apart = [
        f"{one.id}: {'its task changed between the runs' if one.id in before else 'it is only in this run'}, "
        "so that nothing of it can be compared"
        for one in this.evals
        if one.id not in same
    ]
    lines = [*shown, *([f"({more:,} more lines are left out)"] if more else []), *apart[:MOST_CELLS]]
    return Part(title="Differences: this run minus the run 'vs'", text="\n".join(lines) or "(no cell is in both runs)")


def _eval(this: EvalRecord, vs: EvalRecord, figures: Figures) -> Iterator[str]:
    before = {cell.key: cell for cell in vs.cells}
    for cell in this.cells:
        if cell.key in before:
            yield from _cell(cell, before[cell.key], this.id, figures)


def _cell(cell: CellRecord, before: CellRecord, eval_id: str, figures: Figures) -> Iterator[str]:
    yield f"{cell.key} · {eval_id}" + (": the same agent in the same environment" if _same(cell, before) else "")
    pairs: tuple[tuple[str, float | None, float | None, Unit], ...] = (
        ("difference of pass rates", _rate(cell), _rate(before), "share"),
        ("difference of mean scores", cell.mean_score, before.mean_score, "share"),
        ("difference of mean seconds", cell.duration, before.duration, "amount"),
        ("difference of mean tokens", cell.tokens, before.tokens, "amount"),
    )
    for short, now, then, unit in pairs:
        if now is not None and then is not None:
            yield "  " + figures.add(short, now - then, unit, run="both", of=(cell.key,), eval=eval_id)


def _same(cell: CellRecord, before: CellRecord) -> bool:
    return bool(cell.subject) and cell.subject == before.subject


def _rate(cell: CellRecord) -> float | None:
    return cell.passed / cell.decided if cell.decided else None

"""What is a model told of two runs together? The lift of each cell that both have, what ran it, and what is apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from reeval.grade.analysis.digest import MOST_CELLS, MOST_IDS, MOST_ROWS, Part, words
from reeval.grade.analysis.figures import Figures
from reeval.grade.analysis.lifting import lift_figures
from reeval.grade.versus.results import ComparedCell, Versus
from reeval.schema.recorded.lifts import LiftRecord

__all__ = ["differences"]

_SIDES = ("the run 'vs'", "this run")


def differences(found: Versus, figures: Figures, masked: Callable[[str], str]) -> Part:
    """Return how two runs differ; every text goes through ``masked`` before it is cut."""
    lines = [f"what differs in what ran: {words(masked(text))}" for text in found.differences[:MOST_ROWS]]
    for pool in found.pooled:
        lines += _lift(pool.lift, (pool.cell or "all cells", "all evals that can be compared"), None, figures)
    cells = [(cell, one.id) for one in found.evals for cell in one.cells]
    cells.sort(key=lambda cell: cell[0].lift.said == "can't tell yet")
    for cell, eval_id in cells[:MOST_CELLS]:
        lines += [*_lift(cell.lift, (cell.place.cell,), eval_id, figures), *_checks(cell, eval_id, figures, masked)]
    if len(cells) > MOST_CELLS:
        lines.append(f"({len(cells) - MOST_CELLS:,} more cells are left out)")
    lines += [f"not compared: {one.what}: {words(masked(one.why))}" for one in found.apart[:MOST_ROWS]]
    if len(found.apart) > MOST_ROWS:
        lines.append(f"({len(found.apart) - MOST_ROWS:,} more are not compared)")
    return Part(title="Differences: this run against the run 'vs'", text="\n".join(lines))


def _lift(lift: LiftRecord, of: tuple[str, ...], eval_id: str | None, figures: Figures) -> Iterator[str]:
    doubt = f" ({words(lift.doubt)})" if lift.doubt else ""
    yield f"{' · '.join((*of, *((eval_id,) if eval_id else ())))}: {lift.said}{doubt}"
    yield from lift_figures(lift, figures, run="both", of=of, eval=eval_id, sides=_SIDES)


def _checks(cell: ComparedCell, eval_id: str, figures: Figures, masked: Callable[[str], str]) -> Iterator[str]:
    """Yield the checks that hold more or less often, those that changed most first."""
    for check in islice(cell.checks, MOST_IDS):
        label = " ".join(masked(check.label)[:120].split())
        of = (label, cell.place.cell)
        yield "  " + figures.add(
            "change of how often a check holds", check.change, "share", run="both", of=of, eval=eval_id
        )

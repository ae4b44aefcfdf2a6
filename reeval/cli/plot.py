"""``reeval show --plot``: lifts, drawn in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.output import make_page, writes_unicode

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory
    from reeval.report.pictures.bars import Picture

__all__ = ["Plot", "plot_between", "plot_of"]

Plot = Annotated[
    bool, typer.Option("--plot", help="Draw the run's lifts with their intervals; with --vs those between two runs.")
]


def plot_of(run: RunDirectory, *, full: bool) -> list[str]:
    """Return the lines of a run's lifts, ``full`` all of them, or how to get one where there are none."""
    from reeval.record.compile import load_record
    from reeval.report.pictures.bars import SHOWN_BARS, lifts_of, picture_of

    record = load_record(run)
    return _drawn(picture_of(lifts_of(record), most=None if full else SHOWN_BARS), record.run_id)


def plot_between(earlier: RunDirectory, later: RunDirectory, *, full: bool) -> list[str]:
    """Return the lines of the lifts between two runs; raise ``UsageError`` when they have nothing in common."""
    from reeval.grade.versus.results import versus
    from reeval.record.versus.sides import run_side
    from reeval.report.pictures.bars import SHOWN_BARS, picture_of
    from reeval.report.pictures.between import RUNS, lifts_between

    found = versus(run_side(earlier), run_side(later))
    return _drawn(picture_of(lifts_between(found), most=None if full else SHOWN_BARS, sides=RUNS), later.id)


def _drawn(picture: Picture | None, run_id: str) -> list[str]:
    from reeval.report.pictures.terminal import no_lifts_lines, plot_lines

    page, unicode = make_page(sys.stdout), writes_unicode(sys.stdout)
    if picture is None:
        return no_lifts_lines(run_id, page.cells, unicode=unicode)
    return plot_lines(picture, ink=page.ink, cells=page.cells, unicode=unicode)

"""``reeval show --plot``: the lifts of a run, drawn in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.output import make_page, writes_unicode

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory

__all__ = ["Plot", "plot_screen"]

Plot = Annotated[bool, typer.Option("--plot", help="Draw the run's lifts with their intervals.")]


def plot_screen(directory: RunDirectory, *, full: bool) -> list[str]:
    """Return the lines of a run's lifts, ``full`` all of them, or how to get one where there are none."""
    from reeval.record.compile import load_record
    from reeval.report.pictures.bars import SHOWN_BARS, lifts_of, picture_of
    from reeval.report.pictures.terminal import no_lifts_lines, plot_lines

    record = load_record(directory)
    page = make_page(sys.stdout)
    unicode = writes_unicode(sys.stdout)
    picture = picture_of(lifts_of(record), most=None if full else SHOWN_BARS)
    if picture is None:
        return no_lifts_lines(record.run_id, page.cells, unicode=unicode)
    return plot_lines(picture, ink=page.ink, cells=page.cells, unicode=unicode)

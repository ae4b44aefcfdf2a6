"""``reeval runs``: the list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.output import guarded, make_page, print_error, print_lines

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory
    from reeval.report.screen.runs import RunRow

__all__ = ["runs"]

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="The newest this many.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


@guarded
def runs(limit: Limit = 20, as_json: Json = False) -> None:
    """List the runs, the newest first: state, pass rate or score, what ran, who started it.

    \b
    reeval runs
    reeval runs --limit 100
    reeval runs --json
    """
    import sys

    from reeval.cli.records import open_store
    from reeval.report.screen.runs import run_table

    every = open_store().list()
    rows = [row for directory in every[:limit] if (row := _row(directory)) is not None]
    if as_json:
        print_lines(map(_as_json, rows))
        return
    if not rows:
        print_lines(["no run yet: `reeval run` makes one"])
        return
    print_lines(run_table(rows, make_page(sys.stdout)))
    if len(every) > limit:
        print_lines([f"… {len(every) - limit:,} older: reeval runs --limit {len(every)}"])


def _row(directory: RunDirectory) -> RunRow | None:
    """Return the row of a run; None, and a word on stderr, when its record cannot be read."""
    from reeval.errors import RecordError
    from reeval.record.compile import load_record
    from reeval.report.screen.runs import run_row

    try:
        return run_row(load_record(directory), updated=int(directory.journal.stat().st_mtime * 1000))
    except RecordError as error:
        print_error(str(error))
        return None


def _as_json(row: RunRow) -> str:
    import json

    return json.dumps(row.data(), ensure_ascii=False)

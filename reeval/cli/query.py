"""``reeval query``: what does SQL say about the recorded runs?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reeval.cli.output import guarded

__all__ = ["query"]

_FORMATS = ("table", "csv", "json", "parquet")


@guarded
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL|TABLE", help="One SELECT, or a table's name for all of it.")],
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Only this run: last, an id, its beginning, a directory.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(_FORMATS), help="How to print the rows.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file; parquet needs one.")
    ] = None,
) -> None:
    """Ask the records with SQL (DuckDB's), over all runs or one. It can change nothing.

    \b
    reeval query attempts                                     a whole table
    reeval query "SELECT eval, outcome, count(*) FROM attempts GROUP BY ALL"
    reeval query "FROM check_rates WHERE rate < 1" --run last
    reeval query "SELECT * FROM cells" --format csv > cells.csv
    reeval query turns --format json                          one object a line
    reeval query attempts --format parquet --output attempts.parquet

    \b
    Tables: runs, evals, cells, attempts, checks, turns, tool_calls, observations, usage, judgments,
    attempt_answers, question_pairs, votes, lifts, lift_measures, data_results; views: check_rates, latest, pass_at,
    tag_rates, case_rates, accuracy.
    An attempt's key is (run_id, eval, attempt_id), in every table that has them. DESCRIBE attempts lists its columns.
    """
    import sys

    from reeval.cli.output import print_lines, print_note
    from reeval.cli.records import open_store
    from reeval.cli.rows import printed, target
    from reeval.errors import UsageError
    from reeval.record.history import query as ask

    if form not in _FORMATS:
        raise UsageError(f"--format is {form!r}; write one of {', '.join(_FORMATS)}")
    if form == "parquet" and output is None:
        raise UsageError("--format parquet is no text; add --output FILE")
    store = open_store()
    chosen = store.find(run) if run else None
    with (
        target(output, binary=form == "parquet") as place,
        ask(store, sql, print_note, run=chosen, parquet=place.path if form == "parquet" else None) as answer,
    ):
        count = printed(answer, form, place)
    if output is not None or count == 0:
        print_lines([f"{count:,} row{'' if count == 1 else 's'}" + (f" in {output}" if output else "")], sys.stderr)

"""``reeval show``: a run's last screen, or one attempt in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reeval.cli.output import guarded, make_page, print_lines
from reeval.cli.plot import Plot, plot_between, plot_of
from reeval.cli.versus import Vs, earlier_run, versus_lines
from reeval.errors import UsageError

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory, RunStore
    from reeval.schema.record import RunRecord

__all__ = ["show"]

Ref = Annotated[
    str | None,
    typer.Argument(metavar="RUN|ATTEMPT", help="A run (last, an id or its beginning, a directory) or EVAL@ATTEMPT."),
]
Run = Annotated[str | None, typer.Option("--run", metavar="RUN", help="The run of the attempt; default the last.")]
Follow = Annotated[
    bool, typer.Option("--follow", "-f", help="Print what a run in the background prints, until its end.")
]
Trace = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write the attempt's timeline, for a trace viewer.")
]
Full = Annotated[bool, typer.Option("--full", help="Shorten nothing: whole messages, outputs, diffs and logs.")]


@guarded
def show(
    ref: Ref = None,
    run: Run = None,
    vs: Vs = None,
    plot: Plot = False,
    follow: Follow = False,
    full: Full = False,
    trace: Trace = None,
) -> None:
    """Show a run's last screen, a run against an earlier one, or one attempt: turns, checks, diff, log.

    \b
    reeval show                                                      the last run
    reeval show 20261130                                             a run, by the beginning of its id
    reeval show "evals/greet.eval.py::greets by name@terse/-/fake#1"  one attempt of the last run
    reeval show "greets@#1" --run 20261130                           any part that names only one will do
    reeval show "greets@#1" --trace greets.json                      its timeline, as Perfetto opens it
    reeval show --vs last                                            the last run against the one before
    reeval show --plot                                               the last run's lifts, drawn
    reeval show last --follow                                        a run in the background, until its end
    """
    from reeval.cli.records import open_store

    store = open_store()
    found = None if ref is None or run is not None or "@" in ref else _as_run(store, ref)
    if trace is not None:
        if found is not None or ref is None:
            raise UsageError("--trace draws one attempt; name it, such as `reeval show EVAL@ATTEMPT --trace FILE`")
        _write_trace(store.find(run or "last"), ref, trace)
    elif found is not None or ref is None:
        directory = found or store.find(run or "last")
        if follow and _followed(directory):
            return
        print_lines(_whole_run(store, directory, vs, plot=plot, full=full))
    elif vs is not None or plot or follow:
        option = "--vs compares" if vs is not None else "--plot draws" if plot else "--follow watches"
        raise UsageError(f"{option} whole runs, and {ref!r} is no run; `reeval runs` lists them")
    else:
        print_lines(_attempt_lines(store.find(run or "last"), ref, full=full))


def _followed(directory: RunDirectory) -> bool:
    from reeval.cli.detach import follow

    return follow(directory)


def _as_run(store: RunStore, ref: str) -> RunDirectory | None:
    """Return the run that ``ref`` names, or None when it can only be an attempt."""
    from reeval.errors import RecordError

    try:
        return store.find(ref)
    except RecordError:
        if not store.list() or ref[:8].isdigit():
            raise
        return None


def _whole_run(store: RunStore, run: RunDirectory, vs: str | None, *, plot: bool, full: bool) -> list[str]:
    if vs is None:
        return plot_of(run, full=full) if plot else _run_lines(run, store.ref_of(run), full=full)
    return (plot_between if plot else versus_lines)(earlier_run(store, vs, run), run, full=full)


def _run_lines(directory: RunDirectory, ref: str | None, *, full: bool) -> list[str]:
    import sys

    from reeval.record.compile import load_record
    from reeval.report.screen.ending import screen
    from reeval.report.screen.evidence import load_failures

    record = load_record(directory)
    page = make_page(sys.stdout, directory, full=full)
    failures = load_failures(record, directory)
    elapsed = None if record.ended_at is None else (record.ended_at - record.created_at) / 1000
    head = [page.ink("bold", page.line(_scope(record))), ""]
    return [*head, *screen(record, failures, page, elapsed=elapsed, place=f"{directory.path}/", ref=ref)]


def _attempt_lines(directory: RunDirectory, text: str, *, full: bool) -> list[str]:
    import sys

    from reeval.cli.find import find_attempt
    from reeval.record.compile import load_record
    from reeval.report.show import attempt_screen

    record = load_record(directory)
    entry = find_attempt(record, text)
    page = make_page(sys.stdout, directory, full=full, passing=True)
    return attempt_screen(record, directory.attempt_at(*entry.line), page)


def _write_trace(directory: RunDirectory, text: str, file: Path) -> None:
    from reeval.cli.find import find_attempt
    from reeval.record.compile import load_record
    from reeval.report.pictures.timeline import trace_text

    entry = find_attempt(load_record(directory), text)
    try:
        file.write_text(trace_text(directory.whole(directory.attempt_at(*entry.line))), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--trace: {file} cannot be written: {error.strerror}; name another file") from None
    print_lines([f"{file}: open it at https://ui.perfetto.dev or chrome://tracing"])


def _scope(record: RunRecord) -> str:
    from reeval.report.screen.numbers import moment

    asked = all(one.asks is not None for one in record.evals)
    scope = record.selection or ("all questions" if asked and record.evals else "")
    facts = (f"run {record.run_id}", record.state.value, f"{moment(record.created_at)} UTC", record.target, scope)
    return " · ".join(filter(None, facts))

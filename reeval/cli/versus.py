"""``--vs``: which two runs are compared, and what does that print?"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reeval.cli.output import make_page, print_lines, print_note
from reeval.errors import ExitCode, RecordError, UsageError, UserError

if TYPE_CHECKING:
    from reeval.grade.versus.results import Versus
    from reeval.grade.versus.sides import RunSide
    from reeval.record.store import RunDirectory, RunStore
    from reeval.schema.plan import Plan
    from reeval.schema.record import RunRecord

__all__ = ["Against", "FailOn", "Vs", "Wanted", "against", "earlier_run", "exit_code", "versus_lines"]

Vs = Annotated[
    str | None,
    typer.Option(
        "--vs",
        metavar="RUN|DIR",
        help="Compare with an earlier run: last (the one before), an id or its beginning, a record's directory.",
    ),
]
FailOn = Annotated[
    Literal["worse"] | None,
    typer.Option("--fail-on", metavar="worse", help="With --vs: exit 1 when anything `made it worse`."),
]


_LOOKED_AT = 50
"""Runs, the newest, among which another one to compare with is looked for."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What was asked for on the command line."""

    ref: str | None = None
    fail_on: Literal["worse"] | None = None
    stops: bool = False
    """The run may stop at attempts that do not pass."""


@dataclass(frozen=True, kw_only=True)
class Against:
    """The run that a new one will be compared with, read before the new one begins: it may be gone after."""

    run: RunSide
    fail_on: Literal["worse"] | None = None


def earlier_run(store: RunStore, ref: str, before: RunDirectory | None = None) -> RunDirectory:
    """Return the run that ``--vs REF`` names; ``last`` is the newest one older than ``before``."""
    if ref == "last" and before is not None:
        runs = [run for run in store.list() if run.id < before.id]
        if not runs:
            raise RecordError(f"there is no run before {before.id} in {store.runs}; name one, or a record's directory")
        return runs[0]
    try:
        found = store.find(ref)
    except RecordError:
        if ref and Path(ref).is_dir():
            raise RecordError(
                f"{ref}: no record of a run, since it has no events.ndjson; name a directory that has it"
            ) from None
        raise
    if before is not None and found.path.resolve() == before.path.resolve():
        raise UsageError(f"--vs {ref}: run {found.id} cannot be compared with itself; name an earlier one")
    return found


def against(store: RunStore, wanted: Wanted, plan: Plan, *, before: RunDirectory | None = None) -> Against | None:
    """Return what a run of ``plan`` will be compared with; None without ``--vs``.

    Raises ``UserError`` before anything starts: when there is no such run, it cannot be read, or has nothing in common
    with the plan.
    """
    ref, fail_on = wanted.ref, wanted.fail_on
    if fail_on is not None and ref is None:
        raise UsageError("--fail-on worse needs something to compare with: add --vs last, or --vs RUN|DIR")
    if fail_on is not None and wanted.stops:
        raise UsageError(
            "--fail-on worse compares whole runs, and --fail-fast or --max-failures ends this one at what fails: its "
            "rates would be too low; leave one of them out"
        )
    if ref is None:
        return None
    from reeval.grade.versus.matching import match
    from reeval.record.versus.sides import run_side

    side = run_side(earlier_run(store, ref, before))
    try:
        match((f"run {side.record.run_id}", side.plan), ("this run", plan))
    except UsageError as error:
        other = _comparable(store, plan, (side.record.run_id, before.id if before else ""))
        raise UsageError(f"{error}; {other}") from None
    return Against(run=side, fail_on=fail_on)


def _comparable(store: RunStore, plan: Plan, refused: tuple[str, str]) -> str:
    """Say which recorded run a run of ``plan`` can be compared with, the newest of them."""
    from reeval.grade.versus.matching import match

    for run in store.list()[:_LOOKED_AT]:
        with suppress(UserError):
            if run.id not in refused and match((run.id, run.plan(run.index())), ("this run", plan)).evals:
                return f"run {run.id} can be compared with it: --vs {run.id}"
    return "`reeval runs` lists what else there is"


def versus_lines(earlier: RunDirectory, later: RunDirectory, *, full: bool) -> list[str]:
    """Return the screen of two compared runs."""
    from reeval.grade.versus.results import versus
    from reeval.record.versus.sides import run_side
    from reeval.report.versus.screen import versus_screen

    return versus_screen(versus(run_side(earlier), run_side(later)), make_page(sys.stdout, full=full))


def exit_code(chosen: Against | None, run: RunDirectory, record: RunRecord, *, as_json: bool) -> ExitCode:
    """Return the exit code of a run that just ended; print how it compares, where that was asked for.

    A run that did not get to its end is not compared: what is missing may be what is slow, or what fails.
    """
    code = ExitCode(record.exit_code)
    if chosen is None:
        return code
    from reeval.grade.versus.results import versus
    from reeval.record.versus.sides import run_side
    from reeval.schema.record import RunState

    if record.state is not RunState.COMPLETED:
        print_note(f"not compared with run {chosen.run.record.run_id}: this run did not get to its end")
        return ExitCode.UNDECIDED if chosen.fail_on is not None and code is ExitCode.OK else code
    found = versus(chosen.run, run_side(run))
    failing = chosen.fail_on is not None and any(found.worse())
    _print(found, as_json=as_json, failing=failing)
    return ExitCode.GATE if failing else code


def _print(found: Versus, *, as_json: bool, failing: bool) -> None:
    if as_json:
        from reeval.report.live.events import compared

        print_lines([compared(found)])
        return
    from reeval.report.versus.screen import versus_screen, worse_lines

    page = make_page(sys.stdout)
    print_lines(["", *versus_screen(found, page)])
    if failing:
        print_lines(["", *worse_lines(found, page)])

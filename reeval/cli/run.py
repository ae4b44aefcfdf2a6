"""``reeval run``: which options are there, and which of the three things do they ask for?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reeval.cli.arguments import Kind, Paths, Profile
from reeval.cli.output import guarded
from reeval.cli.versus import FailOn, Vs, Wanted

__all__ = ["run"]

Keyword = Annotated[
    str | None, typer.Option("-k", metavar="EXPR", help="Evals whose id or tags match, such as 'greet and not slow'.")
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="Evals with this tag. Repeat for more.")
]
Harnesses = Annotated[
    list[str] | None,
    typer.Option("--harness", "--agent", metavar="NAME", help="Replace the harnesses. Repeat for more."),
]
Runs = Annotated[int | None, typer.Option("--runs", "-r", min=1, metavar="N", help="Attempts of each cell.")]
MaxConcurrent = Annotated[
    int | None, typer.Option("--max-concurrent", "-n", min=1, metavar="N", help="Attempts at once.")
]
Budget = Annotated[
    float | None, typer.Option("--budget", metavar="USD", help="Begin nothing more once so many dollars are spent.")
]
AllowUnknownCost = Annotated[
    bool, typer.Option("--allow-unknown-cost", help="With --budget: count what is known, where not all is.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show exactly what would run, and start nothing.")]
FailFast = Annotated[bool, typer.Option("--fail-fast", "-x", help="Stop at the first attempt that does not pass.")]
MaxFailures = Annotated[int | None, typer.Option("--max-failures", min=1, metavar="N", help="Stop after this many.")]
LastFailed = Annotated[
    bool, typer.Option("--last-failed", help="Only the evals that failed or are undecided in the last run.")
]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="[RUN]", help="Go on with an interrupted run; default the last.")
]
RetryErrors = Annotated[
    str | None, typer.Option("--retry-errors", metavar="[RUN]", help="Run again what ended as error; default the last.")
]
Branch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="Run the files of this git branch; default the checkout.")
]
VsBranch = Annotated[
    str | None, typer.Option("--vs-branch", metavar="NAME", help="Compare data questions with this branch.")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Run in the background, and print the run's id as soon as it has begun.")
]
Json = Annotated[bool, typer.Option("--json", help="Events as JSON, one object a line (dry run: the plan).")]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")]
KeepSandbox = Annotated[bool, typer.Option("--keep-sandbox", help="Leave each sandbox behind and say where it is.")]
Debug = Annotated[bool, typer.Option("--debug", help="One attempt, no timeout, no live block: a breakpoint works.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show passing checks and logs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the results, and what broke.")]


@guarded
def run(
    paths: Paths = None,
    keyword: Keyword = None,
    tag: Tags = None,
    kind: Kind = None,
    harness: Harnesses = None,
    runs: Runs = None,
    profile: Profile = None,
    max_concurrent: MaxConcurrent = None,
    budget: Budget = None,
    allow_unknown_cost: AllowUnknownCost = False,
    dry_run: DryRun = False,
    fail_fast: FailFast = False,
    max_failures: MaxFailures = None,
    last_failed: LastFailed = False,
    resume: Resume = None,
    retry_errors: RetryErrors = None,
    vs: Vs = None,
    fail_on: FailOn = None,
    branch: Branch = None,
    vs_branch: VsBranch = None,
    detach: Detach = False,
    as_json: Json = False,
    junit: Junit = None,
    keep_sandbox: KeepSandbox = False,
    debug: Debug = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Run evals and record what happens.

    \b
    reeval run                                   everything
    reeval run evals/greet.eval.py::greetings    one group of a file
    reeval run -k "greet and not slow" --runs 5  what matches, five attempts each
    reeval run --dry-run                         only show the plan
    reeval run --budget 5                        spend about five dollars, and say how to go on
    reeval run --resume                          go on where the last run stopped
    reeval run --vs last --fail-on worse         compare with the run before, and fail when it got worse
    """
    from reeval.cli.launch import Money, Request, Retry, carry_out
    from reeval.cli.project import open_project
    from reeval.cli.select import typed_selection

    project = open_project()
    request = Request(
        max_concurrent=max_concurrent,
        max_failures=1 if fail_fast else max_failures,
        money=Money(budget=budget, allow_unknown=allow_unknown_cost),
        keep_sandbox=keep_sandbox,
        debug=debug,
        as_json=as_json,
        junit=junit,
        versus=Wanted(ref=vs, fail_on=fail_on, stops=fail_fast or max_failures is not None),
        detach=detach,
        verbosity="quiet" if quiet else "verbose" if verbose else "normal",
    )
    chosen = typed_selection(project, paths, tag, harness, last_failed)
    chosen = replace(chosen, keyword=keyword, kind=kind, runs=runs, profile=profile, branch=branch, vs_branch=vs_branch)
    raise typer.Exit(carry_out(project, chosen, request, dry_run=dry_run, retry=Retry(resume, retry_errors)))

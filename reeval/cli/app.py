"""Which commands are there?"""

from __future__ import annotations

from typing import Annotated

import typer

from reeval.cli.analyze import analyze
from reeval.cli.check import check
from reeval.cli.clean import clean
from reeval.cli.doctor import doctor
from reeval.cli.init import init
from reeval.cli.judge import judge
from reeval.cli.query import query
from reeval.cli.run import run
from reeval.cli.runs import runs
from reeval.cli.show import show
from reeval.version import __version__

__all__ = ["app"]

app = typer.Typer(
    name="reeval",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (init, run, check, show, runs, analyze, query, clean, doctor):
    app.command()(command)
app.add_typer(judge)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reeval {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Evals of coding agents and data agents: did the agent get better or worse, and can I tell?

    \b
    reeval init                      start a project
    reeval run                       run every eval
    reeval run --dry-run             show exactly what would run
    reeval query "SELECT …"          ask the records with SQL

    \b
    Exit codes: 0 every gate holds · 1 a gate does not hold · 2 usage, config or plan error, nothing started ·
    3 errors left something undecided · 130 interrupted
    """

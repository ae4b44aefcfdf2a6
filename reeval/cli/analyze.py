"""``reeval analyze``: what does a model make of a run?"""

from __future__ import annotations

from typing import Annotated

import typer

from reeval.cli.output import guarded

__all__ = ["analyze"]

Run = Annotated[
    str | None, typer.Argument(metavar="RUN", help="A run: last (default), an id or its beginning, a directory.")
]
Versus = Annotated[
    str, typer.Option("--vs", metavar="RUN|none", help="Compare with another run; last is the one before it.")
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER/MODEL", help="The model; default that of [analysis].")
]
Full = Annotated[bool, typer.Option("--full", help="Every attempt, whole texts, and what was dropped with its reason.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


@guarded
def analyze(
    run: Run = None, versus: Versus = "none", model: Model = None, full: Full = False, as_json: Json = False
) -> None:
    """Let a model say what stands out in a run, and keep of it what the record bears out.

    \b
    reeval analyze                              the last run
    reeval analyze 20261130 --vs 20261129       what got better or worse since another run
    reeval analyze --model openai/gpt-5.5       with another model than [analysis] names

    It is shown rates, lifts, failed checks, errors, answers, judges' scores and some transcripts, with secrets masked.
    Each claim names attempts, numbers and quotes of the record; a claim of which one does not hold is dropped and
    counted. What was sent and answered is kept in the run's directory, as analysis/1.json.

    Exit code 3 says that the model gave no answer.
    """
    from reeval.cli.analysis import Request, analyze_run
    from reeval.cli.project import open_project

    request = Request(run=run or "last", vs=versus, model=model, full=full, as_json=as_json)
    raise typer.Exit(analyze_run(open_project(), request))

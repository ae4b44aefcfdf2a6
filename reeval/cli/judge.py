"""``reeval judge check``: does a judge agree with a person's labels?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from reeval.cli.output import guarded

if TYPE_CHECKING:
    from reeval.schema.options import JudgeOptions

__all__ = ["judge"]

judge = typer.Typer(
    name="judge", help="Find out whether a judge can be trusted.", rich_markup_mode=None, no_args_is_help=True
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Labelled examples, one JSON object a line.")]
Named = Annotated[
    str | None,
    typer.Option("--judge", metavar="PATH[::NAME]", help="A judge(…) at the top of a file, by variable or name."),
]
Rubric = Annotated[str | None, typer.Option("--rubric", metavar="TEXT", help="A rubric in place of a judge.")]
Asked = Annotated[str | None, typer.Option("--question", metavar="TEXT", help="A yes/no question in place of a judge.")]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER/MODEL", help="The model; default the judge's, else the config's."),
]
Threshold = Annotated[
    float | None, typer.Option("--threshold", metavar="X", help="Where a score begins to pass; default the config's.")
]
Votes = Annotated[
    int | None, typer.Option("--votes", metavar="N", help="Ask so often and take the median; default the config's.")
]
LeastAccuracy = Annotated[
    float | None, typer.Option("--min-accuracy", min=0, max=1, metavar="X", help="Exit with 1 below this accuracy.")
]
LeastKappa = Annotated[
    float | None, typer.Option("--min-kappa", min=-1, max=1, metavar="X", help="Exit with 1 below this kappa.")
]
AtOnce = Annotated[int | None, typer.Option("--max-concurrent", "-n", min=1, metavar="N", help="Calls at once.")]
Full = Annotated[bool, typer.Option("--full", help="Every disagreement, with whole reasons.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object, with every answer.")]


@judge.command("check")
@guarded
def check_judge(
    file: File,
    named: Named = None,
    rubric: Rubric = None,
    question: Asked = None,
    model: Model = None,
    threshold: Threshold = None,
    votes: Votes = None,
    min_accuracy: LeastAccuracy = None,
    min_kappa: LeastKappa = None,
    max_concurrent: AtOnce = None,
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Ask a judge about labelled examples and show how far it agrees with the person who labelled them.

    \b
    reeval judge check labelled.jsonl --judge evals/explain.eval.py::names_motive
    reeval judge check labelled.jsonl --rubric "The answer names a motive." --model openai/gpt-5.5
    reeval judge check labelled.jsonl --judge evals/explain.eval.py --min-kappa 0.6

    \b
    A line is {"material": {"answer": "…"}, "score": 0.8}, or has "label": "pass" or "fail" in place of the score,
    and perhaps a "note" of yours. Material is what c.judge would be given: values by name, or a text.

    Shown with 95 % intervals are accuracy (Wilson's score interval), Cohen's kappa and, for scores, mean error, bias
    and Spearman's rank correlation (percentile bootstrap, 2,000 resamples, always the same), then the disagreements.

    Exit code 1 says that a minimum is not met, 3 that examples without an answer could still decide.
    """
    from reeval.cli.calibration import Request, calibrate
    from reeval.cli.project import open_project
    from reeval.grade.calibration.agreement import Minimum

    request = Request(
        file=file,
        judge=named,
        rubric=rubric,
        question=question,
        options=_given(model=model, threshold=threshold, votes=votes, max_concurrent=max_concurrent),
        minimum=Minimum(accuracy=min_accuracy, kappa=min_kappa),
        full=full,
        as_json=as_json,
    )
    raise typer.Exit(calibrate(open_project(), request))


def _given(**flags: str | float | None) -> JudgeOptions:
    """Return the flags that were given, as the option ``judge``."""
    return cast("JudgeOptions", {name: value for name, value in flags.items() if value is not None})

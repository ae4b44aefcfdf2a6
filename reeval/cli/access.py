"""What does a plan need of this machine's variables and lacks: secrets, keys of models, logins of agents?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reeval.cli.logins import login_problems
from reeval.plan.secrets import missing_secrets, model_namers
from reeval.protocols import Catalog
from reeval.schema.plan import Plan

__all__ = ["access_problems"]


def access_problems(plan: Plan, catalog: Catalog, environ: Mapping[str, str]) -> list[str]:
    """Return a line for each thing that is missing, with what needs it and how to mend it."""
    return [
        *missing_secrets(plan, environ),
        *_model_problems(plan, environ),
        *login_problems(plan, catalog, environ),
    ]


def _model_problems(plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield why models that are known before the run cannot be called, with who names them."""
    if not plan.models:
        return
    from reeval.models.checks import key_problem, url_problem

    namers = model_namers(plan)
    for name, planned in plan.models.items():
        for text in (key_problem(planned, environ), url_problem(planned)):
            if text:
                yield f"{namers[name]}: {text}"

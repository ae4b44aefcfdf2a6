"""Which host variables and models does a plan need, and which of them are not there?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reeval.schema.environment import Environment, Secret
from reeval.schema.plan import Plan, PlannedEval

__all__ = ["missing_secrets", "model_namers", "secret_names"]


def secret_names(plan: Plan) -> frozenset[str]:
    """Return the names of every host variable whose value must be masked."""
    return frozenset(secret.name for _, _, secret in _secrets(plan))


def missing_secrets(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """Return a line for each secret that is needed and not set: a ``PlanError``, before anything starts."""
    missing: dict[str, None] = {}
    for owner, variable, secret in _secrets(plan):
        if not secret.optional and secret.name not in environ:
            missing.setdefault(
                f"{owner}: {variable} is the host's {secret.name}, which is not set; "
                f"set it (also in .env), or declare it with optional = true"
            )
    return list(missing)


def model_namers(plan: Plan) -> dict[str, str]:
    """Return for each planned model who names it: ``evals/greet.eval.py:12: judge.model (profile ci)``."""
    found: dict[str, str] = {}
    for planned in plan.evals:
        for name, what in _named_models(planned):
            found.setdefault(name, f"{planned.file}:{planned.line}: {what}")
    for harness in plan.harnesses.values():
        if harness.model in plan.models:
            found.setdefault(harness.model, f"harness {harness.id!r}: its model")
    return found


def _secrets(plan: Plan) -> Iterator[tuple[str, str, Secret]]:
    """Yield owner, variable and secret."""
    for planned in plan.evals:
        if planned.mode == "run":
            yield from _among(f"{planned.file}:{planned.line}", planned.env)
    for environment in plan.environments.values():
        for variables in _variables(environment):
            yield from _among(f"environment {environment.name!r}", variables)


def _named_models(planned: PlannedEval) -> Iterator[tuple[str, str]]:
    if "model" in planned.judge:
        yield planned.judge["model"], f"judge.model ({planned.sources.get('judge.model', 'default')})"
    for name in planned.judge_models:
        yield name, "the model of a judge"
    for number, question in enumerate(planned.questions, 1):
        if question.model is not None:
            yield question.model, f"question {number}"


def _variables(environment: Environment) -> Iterator[Mapping[str, str | Secret]]:
    yield environment.env
    for server in environment.mcp.values():
        yield server.env
        yield server.headers


def _among(owner: str, variables: Mapping[str, str | Secret]) -> Iterator[tuple[str, str, Secret]]:
    for name, value in variables.items():
        if isinstance(value, Secret):
            yield owner, name, value

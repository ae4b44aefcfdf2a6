"""Which variables of the host does a plan need?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reeval.schema.environment import Environment, Secret
from reeval.schema.plan import Plan

__all__ = ["missing_secrets", "secret_names"]


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


def _secrets(plan: Plan) -> Iterator[tuple[str, str, Secret]]:
    """Yield owner, variable and secret."""
    for planned in plan.evals:
        if planned.mode == "run":
            yield from _among(f"{planned.file}:{planned.line}", planned.env)
    for environment in plan.environments.values():
        for variables in _variables(environment):
            yield from _among(f"environment {environment.name!r}", variables)


def _variables(environment: Environment) -> Iterator[Mapping[str, str | Secret]]:
    yield environment.env
    for server in environment.mcp.values():
        yield server.env
        yield server.headers


def _among(owner: str, variables: Mapping[str, str | Secret]) -> Iterator[tuple[str, str, Secret]]:
    for name, value in variables.items():
        if isinstance(value, Secret):
            yield owner, name, value

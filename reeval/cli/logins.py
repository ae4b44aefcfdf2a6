"""Are the agents of a plan logged in? Said before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reeval.errors import InfrastructureError
from reeval.protocols import Catalog
from reeval.run.room.variables import declared_variables, values_for
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness

__all__ = ["agents_of", "login_problems"]


def login_problems(plan: Plan, catalog: Catalog, environ: Mapping[str, str]) -> list[str]:
    """Return a line for each agent that would not be let in by its models, with the first eval that runs it."""
    found: dict[str, str] = {}
    for place, harness, env in agents_of(plan, environ):
        if harness.id not in found and (why := catalog.harnesses[harness.kind].login(harness, env)) is not None:
            found[harness.id] = f"{place}: harness {harness.id!r}: {why}"
    return list(found.values())


def agents_of(plan: Plan, environ: Mapping[str, str]) -> Iterator[tuple[str, PlannedHarness, dict[str, str]]]:
    """Yield the agent of each cell that runs, with the place of its eval and the variables that it gets."""
    for planned, cell in _cells(plan):
        variables = declared_variables(plan.environments.get(cell.environment), planned.env)
        try:
            env = values_for("agent", variables, environ)
        except InfrastructureError:
            continue  # A secret that is not set is told by its name.
        yield f"{planned.file}:{planned.line}", plan.harnesses[cell.harness], env


def _cells(plan: Plan) -> Iterator[tuple[PlannedEval, PlannedCell]]:
    for planned in plan.evals:
        if planned.mode == "run":
            for cell in planned.cells:
                yield planned, cell

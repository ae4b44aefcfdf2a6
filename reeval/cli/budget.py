"""``--budget``: will it be known what the agents and models of a plan cost?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from reeval.errors import PlanError

if TYPE_CHECKING:
    from reeval.cli.project import Project
    from reeval.schema.plan import Plan
    from reeval.usage import Pricing

__all__ = ["refuse_unpriced"]

_ALLOW = "--allow-unknown-cost counts only what is known"


def refuse_unpriced(project: Project, plan: Plan, environ: Mapping[str, str]) -> None:
    """Raise ``PlanError`` when no budget could be kept, since it will not be known what something cost."""
    problems = [*_agents(project, plan, environ), *_models(project, plan)]
    if problems:
        raise PlanError("\n".join(problems))


def _agents(project: Project, plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    from reeval.cli.logins import agents_of
    from reeval.prices import is_known

    told: set[str] = set()
    for place, harness, env in agents_of(plan, environ):
        kind = project.catalog.harnesses[harness.kind]
        if harness.id in told or kind.models(harness):  # what it asks are models of the plan
            continue
        pricing = kind.pricing(harness, env)
        if not is_known(pricing):
            told.add(harness.id)
            yield f"{_table(project, harness.id) or place}: harness {harness.id!r}: {_why(pricing)}; {_ALLOW}"


def _models(project: Project, plan: Plan) -> Iterator[str]:
    if not plan.models:
        return
    from reeval.plan.secrets import model_namers
    from reeval.prices import is_known

    namers = model_namers(plan)
    for name, planned in plan.models.items():
        pricing = project.catalog.models[planned.kind].pricing(planned)
        if not is_known(pricing):
            yield f"{namers[name]}: model {name!r}: {_why(pricing)}; {_ALLOW}"


def _table(project: Project, id: str) -> str | None:
    """Return where the config has the harness; None: its name on the command line or in an eval is all there is."""
    return project.config.at("harness", id) if id in project.config.harnesses else None


def _why(pricing: Pricing) -> str:
    if pricing.price_list is None:
        return "it cannot say what it costs, so that no budget can be kept; let it report a cost"
    if pricing.model is None:
        return "its model is the agent's own choice, so that its price is not known; name it, such as model = …"
    from reeval.addresses import host_of

    where = host_of(pricing.price_list) or pricing.price_list  # without the password that a URL may hold
    return f"there is no price of {pricing.model!r} at {where} in the list; name another model"

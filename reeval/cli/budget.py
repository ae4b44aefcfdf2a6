"""``--budget``: how much may a run spend, and is it known beforehand what its agents and models cost?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeval.errors import PlanError, UsageError

if TYPE_CHECKING:
    from reeval.cli.project import Project
    from reeval.prices import Pricing
    from reeval.schema.plan import Plan

__all__ = ["Money", "refuse_unpriced"]

_ALLOW = "--allow-unknown-cost counts only what is known"


@dataclass(frozen=True, kw_only=True)
class Money:
    """What was asked for on the command line."""

    budget: float | None = None
    """US dollars; None: no limit."""
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no budget."""
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise UsageError(f"--budget takes US dollars above 0, such as --budget 2.50, not {self.budget:g}")
        if self.allow_unknown and self.budget is None:
            raise UsageError("--allow-unknown-cost goes with --budget USD; add it, or leave this out")


def refuse_unpriced(project: Project, plan: Plan, money: Money, environ: Mapping[str, str]) -> None:
    """Raise ``PlanError`` when a budget could not be kept, since it will not be known what something cost."""
    if money.budget is None or money.allow_unknown:
        return
    problems = [*_agents(project, plan, environ), *_models(project, plan)]
    if problems:
        raise PlanError("\n".join(problems))


def _agents(project: Project, plan: Plan, environ: Mapping[str, str]) -> Iterator[str]:
    from reeval.cli.logins import agents_of

    told: set[str] = set()
    for place, harness, env in agents_of(plan, environ):
        kind = project.catalog.harnesses[harness.kind]
        if harness.id in told or kind.models(harness):  # what it asks are models of the plan
            continue
        pricing = kind.pricing(harness, env)
        if not pricing.is_known:
            told.add(harness.id)
            yield f"{_table(project, harness.id) or place}: harness {harness.id!r}: {_why(pricing)}; {_ALLOW}"


def _models(project: Project, plan: Plan) -> Iterator[str]:
    if not plan.models:
        return
    from reeval.plan.secrets import model_namers

    namers = model_namers(plan)
    for name, planned in plan.models.items():
        pricing = project.catalog.models[planned.kind].pricing(planned)
        if not pricing.is_known:
            yield f"{namers[name]}: model {name!r}: {_why(pricing)}; {_ALLOW}"


def _table(project: Project, id: str) -> str | None:
    """Return where the config has the harness; None: its name on the command line or in an eval is all there is."""
    return project.config.at("harness", id) if id in project.config.harnesses else None


def _why(pricing: Pricing) -> str:
    if pricing.price_list is None:
        return "it cannot say what it costs, so that no budget can be kept; let it report a cost"
    if pricing.model is None:
        return "its model is the agent's own choice, so that its price is not known; name it, such as model = …"
    from reeval.harnesses.addresses import host_of

    where = host_of(pricing.price_list) or pricing.price_list  # without the password that a URL may hold
    return f"there is no price of {pricing.model!r} at {where} in the list; name another model"

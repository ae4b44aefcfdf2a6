"""Which model reads a record? The flag's, else that of ``[analysis]``."""

from __future__ import annotations

from reeval.errors import PlanError
from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.parts.models import Models
from reeval.plan.parts.problems import Problems
from reeval.protocols import Catalog
from reeval.schema.plan import PlannedModel

__all__ = ["plan_analysis"]


def plan_analysis(flag: str | None, config: Config, catalog: Catalog) -> PlannedModel:
    """Return the model; raise ``PlanError`` with what to write when there is none."""
    name = flag if flag is not None else config.analysis.model
    if name is None:
        raise PlanError(
            "there is no model to analyze with; add --model provider/model, "
            f'or write to {CONFIG_NAME}:\n\n  [analysis]\n  model = "anthropic/claude-sonnet-5"\n'
        )
    problems = Problems()
    models = Models(config, catalog, problems)
    models.named(name, "--model" if flag is not None else config.at("analysis", "model"))
    problems.raise_any()
    return models.planned[name]

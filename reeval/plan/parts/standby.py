"""Who answers data questions where no harness is configured? A model alone, of a provider whose key is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reeval.plan.cascade import DEFAULT, Cascade, Layer
from reeval.plan.parts.models import Models
from reeval.schema.plan import PlannedModel

__all__ = ["StandIn", "Standby", "stand_in"]


@dataclass(frozen=True, kw_only=True)
class Standby:
    """What a plan is told of models that nobody named."""

    models: Mapping[str, str]
    """Provider → its model, the preferred one first."""
    key_variable: Callable[[PlannedModel], str | None]
    """The host variable that holds the key of a provider's model; None when none does."""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """The harness that nobody configured."""

    harness: str | None
    """``model:anthropic/claude-sonnet-5``; None: no provider's key is there."""
    variables: tuple[str, ...]
    """The variable with the key; without a harness those that were looked at."""

    def on(self, cascade: Cascade) -> Cascade:
        """Return the options with the harness; its source is the variable."""
        if self.harness is None:
            return cascade
        (variable,) = self.variables
        return cascade.set("harness", (self.harness,), Layer(variable, lambda _: variable))

    def stands_in(self, source: str | None) -> bool:
        """Say whether an eval's harness with this source is this one."""
        return self.harness is not None and source in self.variables

    @property
    def said(self) -> str:
        """What to tell of a harness that was not asked for."""
        return f"harness {self.harness} ({self.variables[0]}): none is configured, so a model alone answers"


def stand_in(cascade: Cascade, standby: Standby, models: Models) -> StandIn | None:
    """Return who answers data questions with these options; None when some layer says it."""
    if cascade.get("harness") or cascade.source("harness") != DEFAULT:
        return None
    providers = [(planned, model) for name, model in standby.models.items() if (planned := models.provider(name))]
    for planned, model in providers:
        if variable := standby.key_variable(planned):
            return StandIn(harness=f"model:{planned.provider}/{model}", variables=(variable,))
    return StandIn(harness=None, variables=tuple(planned.key for planned, _ in providers if planned.key))

"""Which model, threshold and votes does a judge have outside of a run, under the config and the flags alone?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reeval.plan.cascade import Layer, start
from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.expand.values import Values
from reeval.plan.parts.models import Models
from reeval.plan.parts.problems import Problems
from reeval.protocols import Catalog
from reeval.schema.options import DEFAULT_THRESHOLD, JudgeOptions, Options
from reeval.schema.plan import PlannedModel
from reeval.schema.spec import Judge

__all__ = ["PlannedJudge", "plan_judge"]


@dataclass(frozen=True, kw_only=True)
class PlannedJudge:
    """A judge with everything that it is asked with."""

    judge: Judge | str
    """A text is a bare question."""
    model: PlannedModel
    threshold: float
    votes: int


def plan_judge(judge: Judge | str, flags: JudgeOptions, config: Config, catalog: Catalog) -> PlannedJudge:
    """Return the judge as it is asked; a flag wins over the judge's own model, and that over ``[defaults]``.

    Raises ``PlanError`` when there is no such model, or a value is out of range.
    """
    problems = Problems()
    layers = (
        Layer("config", lambda option: config.at("defaults", *option.split(".")), config.defaults),
        Layer("flags", _flag, Options(judge=flags)),
    )
    cascade = start(())
    for layer in layers:
        cascade = cascade.push(layer)
    options = Values(cascade, "", problems).judge()
    own = None if isinstance(judge, str) else judge.model
    name = flags.get("model") or own or options.get("model")
    models = Models(config, catalog, problems)
    if name is None:
        advice = f"add --model provider/model, or set judge in [defaults] of {CONFIG_NAME}"
        problems.add("--model", f"there is no judge model; {advice}")
    else:
        own_place = "" if isinstance(judge, str) else f"judge {judge.name!r}"
        models.named(name, own_place if name == own else cascade.place("judge.model", "--model"))
    problems.raise_any()
    assert name is not None
    model, at_once = models.planned[name], options.get("max_concurrent")
    return PlannedJudge(
        judge=judge,
        model=replace(model, max_concurrent=at_once) if at_once else model,
        threshold=options.get("threshold", DEFAULT_THRESHOLD),
        votes=options.get("votes", 1),
    )


def _flag(option: str) -> str:
    """``judge.max_concurrent`` → ``--max-concurrent``."""
    return f"--{option.rpartition('.')[2].replace('_', '-')}"

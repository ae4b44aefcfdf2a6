"""Which options do an eval, a group, a profile and the config share? One table, one type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from reeval.schema.environment import Egress, Environment, Secret

__all__ = [
    "DEFAULT_QUESTIONS_AT_ONCE",
    "DEFAULT_RUNS",
    "DEFAULT_RUNS_IN_COMPARE",
    "DEFAULT_THRESHOLD",
    "DEFAULT_TIMEOUT",
    "AccuracyGate",
    "BestOf",
    "HarnessAdd",
    "HarnessOnly",
    "JudgeOptions",
    "Limit",
    "MeanScoreGate",
    "Options",
    "PassRateGate",
    "Pinned",
    "QuestionOptions",
    "ResolvedGate",
    "StateOptions",
    "UntilDecided",
]

DEFAULT_QUESTIONS_AT_ONCE = 4
"""Calls."""
DEFAULT_RUNS = 1
DEFAULT_RUNS_IN_COMPARE = 4
"""A side."""
DEFAULT_TIMEOUT = 600.0
"""Seconds an attempt may take."""
DEFAULT_THRESHOLD = 0.5
"""A judge's gate without a number."""

Pinned = Literal["compare", "harness", "runs"]


class HarnessAdd(TypedDict):
    """Extends the inherited harnesses."""

    add: list[str]


class HarnessOnly(TypedDict):
    """Narrows the inherited harnesses."""

    only: list[str]


class UntilDecided(TypedDict):
    """Adds runs a side until the answer is known, at most this many."""

    until_decided: int


class BestOf(TypedDict):
    """Stops a cell once the majority of this many runs is settled."""

    best_of: int


class PassRateGate(TypedDict):
    """At least this share of the decided attempts passes."""

    pass_rate: float


class MeanScoreGate(TypedDict):
    """The mean of the complete scores is at least this."""

    mean_score: float


class AccuracyGate(TypedDict):
    """At least this share of the data questions passes."""

    accuracy: float


class StateOptions(TypedDict, total=False):
    """What a judge or a question is shown of an attempt."""

    task: bool
    output: bool
    diff: bool | list[str]
    files: bool
    transcript: bool | Literal["tools", "full"]
    checks: bool | list[str]
    contents: list[str]
    turns: Literal["last", "all"]
    observations: bool


class JudgeOptions(TypedDict, total=False):
    """Defaults of ``c.judge``. A plain ``"provider/model"`` is short for ``{"model": …}``."""

    model: str
    threshold: float
    votes: int
    state: StateOptions
    max_concurrent: int


class QuestionOptions(TypedDict, total=False):
    """Defaults of every question below."""

    model: str
    state: StateOptions
    artifacts: bool | list[str]
    max_concurrent: int


class Limit(TypedDict, total=False):
    """What a profile narrows, unless an eval pins it."""

    compare: bool
    harness: list[str]
    runs: int


class Options(TypedDict, total=False):
    """The options that cascade: config → profile → outer group → inner group → eval."""

    harness: str | list[str] | HarnessAdd | HarnessOnly
    environment: Environment | str
    runs: int | UntilDecided | BestOf
    gate: Literal["all", "none"] | PassRateGate | MeanScoreGate
    timeout: float | str
    tags: list[str]
    pin: list[Pinned]
    env: dict[str, str | Secret]
    egress: Egress | Literal["allow-all", "deny-all"]
    sandbox: str
    judge: str | JudgeOptions
    question: str | QuestionOptions
    capture: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ResolvedGate:
    """How a cell's attempts decide: the rule and, where it has one, its minimum."""

    rule: Literal["all", "none", "pass_rate", "mean_score", "accuracy", "majority"]
    """``majority`` is the gate of an eval with ``best_of`` that names none: most attempts of each case pass."""
    minimum: float | None = None

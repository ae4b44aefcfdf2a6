"""What does a gate say, and what is the accuracy of an agent that was asked data questions?"""

from __future__ import annotations

from typing import Literal

import msgspec

from reeval.schema.plan import NO_ENVIRONMENT

__all__ = ["AccuracyRecord", "GateResult"]


class GateResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a gate says of a cell."""

    rule: str
    minimum: float | None = None
    value: float | None = None
    """The rate, mean or share that was compared; None: there is none."""
    holds: bool | None = None
    """None: undecided (errors could still change it), reports only, or only skipped attempts."""
    undecided: bool = False


class AccuracyRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the data questions of a run add up to in one cell: each counts, whatever became of it."""

    key: str
    harness: str
    sandbox: str
    environment: str = NO_ENVIRONMENT
    role: Literal["control", "variant"] | None = None
    passed: int = 0
    """Questions of which every attempt passed."""
    total: int = 0
    """Questions of the run."""
    mean: float | None = None
    """With several runs: the share of attempts that passed."""
    gate: GateResult
    """``[data] gate``, over all questions together."""

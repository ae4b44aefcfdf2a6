"""What did a change do? Lifts of variants over their control, as they are recorded."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Change", "LiftRecord", "MeasureRecord", "Said"]

Said = Literal["helped", "made it worse", "can't tell yet"]
Change = Literal["less", "more", "can't tell yet"]


class MeasureRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another measure of both sides: ``tokens``, ``cost``, ``duration``, ``turns`` or ``tool_calls``."""

    name: str
    """Which measure."""
    control: float | None = None
    """Median of an attempt; None: unknown."""
    variant: float | None = None
    """Likewise, of the variant."""
    difference: float | None = None
    """The variant's minus the control's."""
    relative: float | None = None
    """Of the control's median: −0.1 is ten percent less."""
    p: float | None = None
    """Of a rank test, two-sided."""
    said: Change = "can't tell yet"
    """What the test says."""


class LiftRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A variant against its control: the difference of their pass rates, or of their mean scores."""

    variant: str
    """Environment."""
    control: str
    """Environment."""
    harness: str | None = None
    """None: over all harnesses, stratified."""
    sandbox: str | None = None
    """None: over all sandboxes, stratified."""
    scored: bool = False
    """``lift`` is a difference of mean scores."""
    control_passed: int = 0
    """Attempts that passed."""
    control_decided: int = 0
    """Attempts that count: passed, failed, review; with ``scored`` the complete scores."""
    variant_passed: int = 0
    """Attempts that passed."""
    variant_decided: int = 0
    """Attempts that count."""
    control_mean: float | None = None
    """Pass rate, or mean score."""
    variant_mean: float | None = None
    """Likewise."""
    lift: float | None = None
    """None: a side has no decided attempt."""
    low: float | None = None
    """Lower end of the 95 % interval."""
    high: float | None = None
    """Its upper end."""
    p: float | None = None
    """Of the exact test that decides together with the interval."""
    said: Said = "can't tell yet"
    """What interval and test say together."""
    doubt: str | None = None
    """Why it can't be told yet."""
    cases: int | None = None
    """Cases that count, for an eval with cases."""
    evals: int | None = None
    """Evals that were pooled, for a lift over several."""
    min_lift: float | None = None
    """The smallest lift that the compare asks for; None: none, or it only reports."""
    holds: bool | None = None
    """Whether ``min_lift`` holds; None: there is none that decides, or it is undecided."""
    undecided: bool = False
    """Errors or missing attempts could still change whether ``min_lift`` holds."""
    measures: list[MeasureRecord] = []
    """Only on one harness and sandbox, and only what is known of both sides."""
    alike: list[str] = []
    """Checks that passed or failed alike on every attempt of both sides: they do not discriminate."""
    flags: list[str] = []
    """``identical``: both sides ran the same tree; ``errors``: error rates differ."""

"""What do an eval's plain options come to: runs, gate, timeout, judge?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from reeval.plan.cascade import Cascade
from reeval.plan.expand.compare import narrowed_by
from reeval.plan.parts.problems import Problems
from reeval.plan.toml.durations import parse_seconds
from reeval.schema.options import DEFAULT_TIMEOUT, JudgeOptions, ResolvedGate
from reeval.schema.spec import EvalKind

__all__ = ["Runs", "Values"]

Until = Literal["decided", "majority"]

FEWEST_RUNS = 4
"""Of a side, before anything can be told."""
_UNTIL: dict[str, Until] = {"until_decided": "decided", "best_of": "majority"}


@dataclass(frozen=True, slots=True)
class Runs:
    """How often each cell and case runs, and when a cell stops early."""

    most: int
    until: Until | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """Reads options of one eval. What is out of range is a problem where it was set, and the default goes on."""

    cascade: Cascade
    place: str
    """Of the eval."""
    problems: Problems

    def runs(self, default: int, kind: EvalKind, *, compared: bool, dropped: str | None) -> Runs:
        """Return how often each cell runs. ``dropped`` is what turned the eval's compare off."""
        value = self.cascade.get("runs")
        if value is None:
            return Runs(default)
        rule, most = next(iter(value.items()), ("", 0)) if isinstance(value, Mapping) else ("", value)
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            self._wrong("runs", f"runs is {value!r}; it should be a whole number of at least 1")
            return Runs(default)
        runs = Runs(most, _UNTIL.get(rule))
        if runs.until == "decided" and dropped:  # there is nothing to decide; the plan says what was turned off
            return Runs(default)
        if narrowed_by(self.cascade.source("runs")) and runs.until == "decided" and most < FEWEST_RUNS:
            return Runs(most)
        if wrong := _wrong_runs(runs, kind, compared=compared):
            self._wrong("runs", f"runs is {value!r}, but {wrong}")
        return runs

    def timeout(self) -> float:
        """Return the seconds that an attempt may take."""
        value = self.cascade.get("timeout")
        if value is None:
            return DEFAULT_TIMEOUT
        try:
            return parse_seconds(value)
        except ValueError as error:
            self._wrong("timeout", f"timeout is {value!r}; {error}")
            return DEFAULT_TIMEOUT

    def gate(self, kind: EvalKind, until: Until | None = None) -> ResolvedGate:
        """Return how the attempts of a cell decide."""
        value = self.cascade.get("gate") or ("majority" if until == "majority" else "all")
        if until == "majority" and value not in ("majority", "none"):
            told = f"gate is {value!r}, but with best_of a cell passes by majority; drop gate, or write 'none'"
            self._wrong("gate", told)
        if isinstance(value, str):
            return ResolvedGate(rule=cast("Literal['all', 'none', 'majority']", value))
        rule, minimum = next(iter(value.items()))
        if text := self._wrong_gate(rule, minimum, kind):
            self._wrong("gate", f"gate is {{{rule} = {minimum!r}}}{text}")
        return ResolvedGate(rule=rule, minimum=float(minimum))

    def judge(self) -> JudgeOptions:
        """Return the defaults of the eval's judges."""
        judge = cast("JudgeOptions", dict(self.cascade.get("judge")))
        threshold, votes, at_once = judge.get("threshold", 0), judge.get("votes", 1), judge.get("max_concurrent", 1)
        if not (math.isfinite(threshold) and 0 <= threshold <= 1):
            self._wrong("judge.threshold", f"judge.threshold is {threshold!r}; it should be from 0 to 1")
        if votes < 1 or votes % 2 == 0:
            self._wrong("judge.votes", f"judge.votes is {votes!r}; it should be an odd number, such as 3")
        if at_once < 1:
            self._wrong("judge.max_concurrent", f"judge.max_concurrent is {at_once!r}; it should be at least 1")
        return judge

    def _wrong_gate(self, rule: str, minimum: float, kind: EvalKind) -> str | None:
        if rule == "pass_rate" and kind == "scored":
            return f", but the eval at {self.place} is scored; gate it by mean_score, 'all' or 'none'"
        if rule == "mean_score" and kind != "scored":
            return f", but the eval at {self.place} is not scored; gate it by pass_rate, 'all' or 'none'"
        if not math.isfinite(minimum):
            return "; it should be a finite number"
        if rule == "pass_rate" and not 0 <= minimum <= 1:
            return "; it should be from 0 to 1"
        return None

    def _wrong(self, option: str, text: str) -> None:
        self.problems.add(self.cascade.place(option, self.place), text)


def _wrong_runs(runs: Runs, kind: EvalKind, *, compared: bool) -> str | None:
    if runs.until is None:
        return None
    if kind == "scored":
        return "this eval is scored, and only passes are counted to stop early; write a number"
    if runs.until == "majority":
        text = "this eval has a compare, whose rates would depend on where each side stops; use until_decided"
        return text if compared else None
    if not compared:
        return "this eval has no compare that could be decided; add one, or write a number"
    if runs.most < FEWEST_RUNS:
        return f"fewer than {FEWEST_RUNS} runs a side decide nothing; write {FEWEST_RUNS} or more, or a number"
    return None

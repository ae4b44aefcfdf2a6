"""What do an eval's plain options come to: runs, gate, timeout, judge?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from reeval.plan.cascade import Cascade
from reeval.plan.parts.problems import Problems
from reeval.plan.toml.durations import parse_seconds
from reeval.schema.options import DEFAULT_TIMEOUT, JudgeOptions, ResolvedGate
from reeval.schema.spec import EvalKind

__all__ = ["Runs", "Values"]

Until = Literal["decided", "majority"]

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

    def runs(self, default: int) -> Runs:
        """Return how often each cell runs."""
        value = self.cascade.get("runs")
        if value is None:
            return Runs(default)
        rule, most = next(iter(value.items()), ("", 0)) if isinstance(value, Mapping) else ("", value)
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            self._wrong("runs", f"runs is {value!r}; it should be a whole number of at least 1")
            return Runs(default)
        return Runs(most, _UNTIL.get(rule))

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

    def gate(self, kind: EvalKind) -> ResolvedGate:
        """Return how the attempts of a cell decide."""
        value = self.cascade.get("gate") or "all"
        if isinstance(value, str):
            return ResolvedGate(rule=cast("Literal['all', 'none']", value))
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

"""Which sides does a compare have, and on which harnesses?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reeval.plan.cascade import Cascade
from reeval.plan.nearest import hint
from reeval.plan.parts.environments import Environments
from reeval.plan.parts.problems import Problems
from reeval.schema.environment import Environment
from reeval.schema.plan import PlannedCompare
from reeval.schema.spec import CompareSpec

__all__ = ["BASELINE", "Compared", "Compares", "narrowed_by"]

BASELINE = Environment(name="baseline")
"""The control of a compare without a baseline, on an eval without an environment."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What is left of an eval's compare."""

    control: str | None = None
    """Word of the environment that runs in any case, alone when the compare was turned off."""
    compare: PlannedCompare | None = None
    harnesses: tuple[str, ...] = ()
    """Names of the harnesses that run the variants."""
    dropped: str | None = None
    """What turned it off: ``profile ci``, ``--harness``."""
    notes: tuple[str, ...] = ()


def narrowed_by(source: str) -> str | None:
    """Return ``source`` when it is a profile or a flag: what narrows an eval from outside."""
    return source if source.startswith(("profile ", "--")) else None


class Compares:
    """Resolves the compare of each eval."""

    def __init__(self, environments: Environments, problems: Problems, off: str | None) -> None:
        self._environments = environments
        self._problems = problems
        self._off = off
        """The profile whose limit turns compares off."""

    def of(self, spec: CompareSpec | None, cascade: Cascade, place: str) -> Compared:
        """Return the sides that run. Without a baseline the control is what the eval would have run in."""
        if spec is None:
            return Compared()
        control = self._environments.planned_as(spec.baseline or cascade.get("environment") or BASELINE, place)
        if self._off and "compare" not in (cascade.get("pin") or ()):
            return Compared(control, dropped=self._off)
        notes = (f"compare is pinned: the limit of {self._off} does not hold here",) if self._off else ()
        harnesses = self._harnesses(spec, cascade, place)
        if not harnesses:
            return Compared(control, dropped=narrowed_by(cascade.source("harness")), notes=notes)
        return Compared(control, self._sides(spec, control, place), harnesses, None, notes)

    def _harnesses(self, spec: CompareSpec, cascade: Cascade, place: str) -> tuple[str, ...]:
        names: tuple[str, ...] = cascade.get("harness")
        if spec.harness is None:
            return names
        if not narrowed_by(cascade.source("harness")):
            for name in spec.harness:
                if name not in names:
                    text = f"compare runs on the harness {name!r}, which this eval does not have; {hint(name, names)}"
                    self._problems.add(place, text)
        return tuple(name for name in names if name in spec.harness)

    def _sides(self, spec: CompareSpec, control: str | None, place: str) -> PlannedCompare | None:
        lift = spec.min_lift
        if lift is not None and not (math.isfinite(lift) and -1 <= lift <= 1):
            self._problems.add(place, f"min_lift is {lift!r}; it should be a number of points from -1 to 1")
        if not spec.variants:
            self._problems.add(place, "compare has no variants; name at least one environment")
        variants = [self._environments.planned_as(variant, place) for variant in spec.variants]
        known = [word for word in (control, *variants) if word is not None]
        for word in dict.fromkeys(word for word in known if known.count(word) > 1):
            self._problems.add(place, f"two sides of compare are the environment {word!r}; each side needs its own")
        if control is None or len(known) <= len(variants):
            return None
        return PlannedCompare(control=control, variants=tuple(known[1:]), gate=spec.gate, min_lift=lift)

"""Which cells does an eval have: harnesses × environments × sandboxes?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reeval.plan.cascade import Cascade
from reeval.plan.config import Config
from reeval.plan.expand.compare import Compared
from reeval.plan.parts.environments import Environments, secrets_in_cached
from reeval.plan.parts.harnesses import Harnesses
from reeval.plan.parts.problems import Problems
from reeval.plan.parts.sandboxes import DEFAULT_SANDBOX, Sandboxes
from reeval.protocols import Catalog
from reeval.schema.environment import Egress, Environment
from reeval.schema.plan import PlannedCell, PlannedHarness

__all__ = ["Cells", "egress_of"]

Role = Literal["control", "variant"]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cell's parts were asked for."""

    cascade: Cascade
    eval: str

    def of(self, option: str) -> str:
        return self.cascade.place(option, self.eval)


class Cells:
    """Makes the cells of every eval of a plan, and what they need."""

    def __init__(self, config: Config, catalog: Catalog, problems: Problems) -> None:
        self.problems = problems
        self.harnesses = Harnesses(config, catalog, problems)
        self.environments = Environments(config, problems)
        self.sandboxes = Sandboxes(config, catalog, problems)

    def of(self, cascade: Cascade, compared: Compared, place: str) -> tuple[PlannedCell, ...]:
        """Return the cells; a harness on which nothing is compared runs the control only."""
        at = _Place(cascade, place)
        control = compared.control or self.environments.planned_as(cascade.get("environment"), at.of("environment"))
        if control is None:
            return ()
        cells: list[PlannedCell] = []
        for name in cascade.get("harness"):
            harness = self.harnesses.named(name, at.of("harness"))
            if harness is None:
                continue
            for environment, role in _sides(control, compared, name):
                cells += self._cell(harness, environment, role, at)
        return tuple(cells)

    def _check_servers(self, harness: PlannedHarness, environment: Environment, at: _Place) -> None:
        """Refuse MCP servers that the harness's agent cannot be given: it would run without them, and nobody know."""
        if not environment.mcp:
            return
        kinds = self.harnesses.kind(harness).mcp(harness.options)
        for name, server in environment.mcp.items():
            if server.kind not in kinds:
                self.problems.add(
                    at.of("harness"),
                    f"harness {harness.id!r} ({harness.kind}) {_missing(kinds)}, but environment {environment.name!r} "
                    f"has {name!r} ({server.kind}); run it on another harness, or leave the server out",
                )

    def _cell(self, harness: PlannedHarness, environment: str, role: Role | None, at: _Place) -> list[PlannedCell]:
        planned = self.environments.planned.get(environment)
        if planned is not None:
            self._check_servers(harness, planned, at)
            for text in secrets_in_cached(planned, at.cascade.get("env") or {}):
                self.problems.add(at.of("env"), f"environment {planned.name!r}: {text}")
        name = (planned and planned.sandbox) or at.cascade.get("sandbox") or DEFAULT_SANDBOX
        sandbox = self.sandboxes.named(name, self.harnesses.kind(harness), at.of("sandbox"))
        if sandbox is None:
            return []
        egress = (planned and planned.egress) or egress_of(at.cascade)
        if egress is not None:
            self.sandboxes.check_egress(sandbox, egress, at.of("egress"))
        key = f"{harness.id}/{environment}/{sandbox.id}"
        return [PlannedCell(key=key, harness=harness.id, environment=environment, sandbox=sandbox.id, role=role)]


def _missing(kinds: frozenset[str]) -> str:
    if not kinds:
        return "cannot be given MCP servers"
    return f"can be given MCP servers over {' and '.join(sorted(kinds))} only"


def egress_of(cascade: Cascade) -> Egress | None:
    """Return the policy for environments that have none of their own."""
    value: Egress | Literal["allow-all", "deny-all"] | None = cascade.get("egress")
    return Egress(mode=value) if isinstance(value, str) else value


def _sides(control: str, compared: Compared, harness: str) -> Iterator[tuple[str, Role | None]]:
    compare = compared.compare
    yield control, "control" if compare else None
    if compare and harness in compared.harnesses:
        for variant in compare.variants:
            yield variant, "variant"

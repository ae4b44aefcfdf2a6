"""Which configured place does the name of a sandbox stand for, for a given harness?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reeval.errors import UserError
from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.nearest import hint
from reeval.plan.parts.names import word
from reeval.plan.parts.problems import Problems
from reeval.protocols import Catalog, HarnessKind
from reeval.schema.environment import Egress
from reeval.schema.plan import PlannedSandbox

__all__ = ["DEFAULT_SANDBOX", "Sandboxes"]

DEFAULT_SANDBOX = "local"


class Sandboxes:
    """Plans sandboxes by name and kind of harness, each once."""

    def __init__(self, config: Config, catalog: Catalog, problems: Problems) -> None:
        self._config = config
        self._catalog = catalog
        self._problems = problems
        self._by_name: dict[tuple[str, str], PlannedSandbox | None] = {}
        self.planned: dict[str, PlannedSandbox] = {}
        """By id."""

    def named(self, name: str, harness: HarnessKind, place: str) -> PlannedSandbox | None:
        """Return the sandbox; None, with a problem at ``place`` or in its table, when there is none."""
        key = (name, harness.name)
        if key not in self._by_name:
            planned = self._new(name, harness)
            self._by_name[key] = self._registered(planned) if planned else None
        if self._by_name[key] is None and self._kind_of(name) not in self._catalog.sandboxes:
            self._problems.add(*self._unknown(name, place))
        return self._by_name[key]

    def check_egress(self, sandbox: PlannedSandbox, egress: Egress | None, place: str) -> None:
        """Ask the sandbox's kind whether it can hold this policy."""
        if reason := self._catalog.sandboxes[sandbox.kind].refuse(sandbox, egress):
            self._problems.add(place, reason)

    def _kind_of(self, name: str) -> str:
        kind: str = self._config.sandboxes.get(name, {}).get("kind", name)
        return kind

    def _new(self, name: str, harness: HarnessKind) -> PlannedSandbox | None:
        kind = self._catalog.sandboxes.get(self._kind_of(name))
        if kind is None:
            return None
        table: Mapping[str, Any] = self._config.sandboxes.get(name, {})
        options = {key: value for key, value in table.items() if key != "kind"}
        try:
            planned = kind.plan(name, options, harness, self._config.root)
        except UserError as error:
            self._problems.add(self._config.at("sandbox", name), str(error))
            return None
        return replace(planned, id=word(planned.id) or kind.name)

    def _registered(self, planned: PlannedSandbox) -> PlannedSandbox:
        """Register it, under another id where one name means a plain directory here and isolation there."""
        other = self.planned.setdefault(planned.id, planned)
        if other == planned:
            return planned
        renamed = replace(planned, id=f"{planned.id}-{'isolated' if planned.isolated else 'plain'}")
        return self._registered(renamed)

    def _unknown(self, name: str, place: str) -> tuple[str, str]:
        kind, kinds = self._kind_of(name), self._catalog.sandboxes
        table = self._config.sandboxes.get(name)
        if table is not None:
            place = self._config.at("sandbox", name)
        if table is None:
            known = hint(name, (*self._config.sandboxes, *kinds))
            return place, f"there is no sandbox {name!r} (a [sandbox.NAME] table of {CONFIG_NAME}); {known}"
        if "kind" not in table:
            return place, f"sandbox {name!r} needs its kind, such as kind = {DEFAULT_SANDBOX!r}"
        return place, f"sandbox {name!r}: there is no kind {kind!r}; {hint(kind, kinds)}"

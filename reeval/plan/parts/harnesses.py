"""Which configured agent does the name of a harness stand for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from reeval.errors import UserError
from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.nearest import hint
from reeval.plan.parts.names import word
from reeval.plan.parts.problems import Problems
from reeval.protocols import Catalog, HarnessKind
from reeval.schema.plan import PlannedHarness

__all__ = ["COMMON", "Harnesses"]

COMMON = ("kind", "model", "effort", "max_concurrent", "start_timeout")
"""Keys of every ``[harness.NAME]`` table; the others are its kind's."""


class Harnesses:
    """Plans harnesses by name, each once."""

    def __init__(self, config: Config, catalog: Catalog, problems: Problems) -> None:
        self._config = config
        self._catalog = catalog
        self._problems = problems
        self._by_name: dict[str, PlannedHarness | None] = {}
        self.planned: dict[str, PlannedHarness] = {}
        """Those that were asked for, by id."""

    def named(self, name: str, place: str) -> PlannedHarness | None:
        """Return the harness; None, with a problem at ``place`` or in its table, when there is none."""
        if name not in self._by_name:
            self._by_name[name] = self._new(name, place)
        planned = self._by_name[name]
        if planned is not None:
            self._register(planned, place)
        elif name not in self._config.harnesses:
            self._problems.add(place, self.unknown(name))
        return planned

    def kind(self, planned: PlannedHarness) -> HarnessKind:
        """Return the kind of a planned harness."""
        return self._catalog.harnesses[planned.kind]

    def knows(self, name: str) -> bool:
        """Say whether ``name`` can stand for a harness."""
        return name in self._config.harnesses or name.partition(":")[0] in self._catalog.harnesses

    def unknown(self, name: str) -> str:
        """Return what to say of a name that stands for no harness."""
        known = (*self._config.harnesses, *self._catalog.harnesses)
        return f"there is no harness {name!r} (a [harness.NAME] table of {CONFIG_NAME}); {hint(name, known)}"

    def check_tables(self) -> None:
        """Find misspelt keys and wrong values also in tables that no eval uses."""
        for name, table in self._config.harnesses.items():
            kind = table.get("kind", name)
            if name not in self._by_name and kind in self._catalog.harnesses:
                self._check(name, table, self._catalog.harnesses[kind])

    def _new(self, name: str, place: str) -> PlannedHarness | None:
        table = self._config.harnesses.get(name)
        if table is not None:
            return self._from_table(name, table)
        kind, _, model = name.partition(":")
        if kind not in self._catalog.harnesses:
            return None
        self._check_required(name, self._catalog.harnesses[kind], place)
        return PlannedHarness(id=self._id(name, place), kind=kind, model=model or None)

    def _from_table(self, name: str, table: Mapping[str, Any]) -> PlannedHarness | None:
        place = self._config.at("harness", name)
        kind = table.get("kind", name)
        if kind not in self._catalog.harnesses:
            self._problems.add(place, self._no_kind(name, kind, given="kind" in table))
            return None
        fine = self._check(name, table, self._catalog.harnesses[kind])
        common = {key: table[key] for key in COMMON[1:] if key in table}
        own = {key: value for key, value in table.items() if key not in COMMON}
        planned = PlannedHarness(id=self._id(name, place), kind=kind, options=own, **common)
        if fine:
            self._check_host(planned, place)
        return planned

    def _check_host(self, planned: PlannedHarness, place: str) -> None:
        """Find what its options name on the host and is not there."""
        try:
            self.kind(planned).fingerprint(planned, self._config.root)
        except UserError as error:
            self._problems.add(place, str(error))

    def _no_kind(self, name: str, kind: str, *, given: bool) -> str:
        kinds = self._catalog.harnesses
        if not given:
            return f"harness {name!r} needs its kind, such as kind = {min(kinds, default='fake')!r}"
        return f"harness {name!r}: there is no kind {kind!r}; {hint(kind, kinds)}"

    def _check(self, name: str, table: Mapping[str, Any], kind: HarnessKind) -> bool:
        """Hold the table's own keys to the kind's options, and say whether they fit; none to look at cost nothing."""
        if table.keys() <= set(COMMON) and not _required(kind.options):
            return True
        from pydantic_core import ValidationError

        from reeval.plan.toml.options import options_form
        from reeval.plan.toml.problems import problems
        from reeval.plan.toml.tables import validate

        form = options_form(kind.options, beside=COMMON)
        try:
            validate(table, form)
        except ValidationError as error:
            under = ("harness", name)
            for place, text in problems(error.errors(include_url=False), form, self._config.at, under=under):
                self._problems.add(place, text)
            return False
        return True

    def _check_required(self, name: str, kind: HarnessKind, place: str) -> None:
        if required := _required(kind.options):
            needed = ", ".join(map(repr, required))
            self._problems.add(
                place, f"harness {name!r} needs {needed}; give it a [harness.NAME] table in {CONFIG_NAME}"
            )

    def _id(self, name: str, place: str) -> str:
        id = word(name)
        if not id:
            self._problems.add(place, f"harness {name!r} has no letter or digit to name it by in ids; rename it")
        return id

    def _register(self, planned: PlannedHarness, place: str) -> None:
        other = self.planned.setdefault(planned.id, planned)
        if other is not planned:
            names = sorted(known for known, harness in self._by_name.items() if harness in (other, planned))
            both = " and ".join(map(repr, names))
            self._problems.add(place, f"harnesses {both} are both called {planned.id!r} in ids; rename one")


def _required(options: type) -> list[str]:
    return [
        field.name
        for field in fields(options)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    ]

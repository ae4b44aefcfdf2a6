"""Which language model does a name such as ``anthropic/claude-sonnet-5`` stand for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reeval.backends import ModelKind
from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.nearest import hint
from reeval.plan.parts.problems import Problems
from reeval.protocols import Catalog
from reeval.schema.plan import PlannedModel

__all__ = ["Models"]

_COMMON = ("kind", "base_url", "key", "max_concurrent")
_FAKE = "fake"
"""The one kind whose models need no name of their own."""


class Models:
    """Plans models by name, each once."""

    def __init__(self, config: Config, catalog: Catalog, problems: Problems) -> None:
        self._config = config
        self._catalog = catalog
        self._problems = problems
        self._providers: dict[str, PlannedModel | None] = {}
        self.planned: dict[str, PlannedModel] = {}
        """Those that were asked for, by name."""

    def configured(self) -> dict[str, PlannedModel]:
        """Return the providers that have a table, with an empty ``model``; unused tables are checked too."""
        return {name: planned for name in self._config.providers if (planned := self.provider(name))}

    def provider(self, name: str) -> PlannedModel | None:
        """Return a provider with an empty ``model``; None when there is none, or with a problem in its table."""
        if name not in self._providers:
            self._providers[name] = self._new(name) if self._knows(name) else None
        return self._providers[name]

    def named(self, name: str, place: str) -> None:
        """Plan the model ``name``; when there is none, that is a problem at ``place`` or in its provider's table."""
        if name in self.planned:
            return
        provider, _, model = name.partition("/")
        if not self._knows(provider):
            self._problems.add(place, self._unknown(name, provider, model))
            return
        planned = self.provider(provider)
        if planned is None:
            return
        if not model and planned.kind != _FAKE:
            self._problems.add(place, f"the model {name!r} is only a provider; write {provider + '/…'!r}")
            return
        self.planned[name] = replace(planned, name=name, model=model)

    def _knows(self, provider: str) -> bool:
        return provider in self._config.providers or provider in self._catalog.models

    def _unknown(self, name: str, provider: str, model: str) -> str:
        known = (*self._config.providers, *self._catalog.models)
        if not model:
            return f"the model {name!r} has no provider; write 'provider/model', such as 'openai/{name}'"
        missing = f"there is no provider {provider!r} (a [provider.NAME] table of {CONFIG_NAME})"
        return f"the model {name!r}: {missing}; {hint(provider, known)}"

    def _new(self, name: str) -> PlannedModel | None:
        table = self._config.providers.get(name, {})
        kind_name = table.get("kind", name)
        if kind_name not in self._catalog.models:
            self._problems.add(self._config.at("provider", name), self._no_kind(name, kind_name, "kind" in table))
            return None
        kind = self._catalog.models[kind_name]
        self._check(name, table, kind)
        base_url = table.get("base_url")
        needs_no_key = kind.keyless_base_url and base_url is not None
        return PlannedModel(
            name=name,
            provider=name,
            kind=kind_name,
            model="",
            base_url=base_url,
            key=table.get("key", None if needs_no_key else kind.key),
            max_concurrent=table.get("max_concurrent", kind.max_concurrent),
            options={key: value for key, value in table.items() if key not in _COMMON},
        )

    def _no_kind(self, name: str, kind: str, given: bool) -> str:
        kinds = self._catalog.models
        if not given:
            return f"provider {name!r} needs its kind; there are {', '.join(map(repr, sorted(kinds)))}"
        return f"provider {name!r}: there is no kind {kind!r}; {hint(kind, kinds)}"

    def _check(self, name: str, table: Mapping[str, Any], kind: ModelKind) -> None:
        """Hold the table's own keys to the kind's options; nothing to look at costs nothing."""
        if table.keys() <= set(_COMMON):
            return
        from pydantic_core import ValidationError

        from reeval.plan.toml.options import options_form
        from reeval.plan.toml.problems import problems
        from reeval.plan.toml.tables import validate

        form = options_form(kind.options, beside=_COMMON)
        try:
            validate(table, form)
        except ValidationError as error:
            for place, text in problems(
                error.errors(include_url=False), form, self._config.at, under=("provider", name)
            ):
                self._problems.add(place, text)

"""What exactly will run? Specs, config, profile and flags become a plan, and nothing starts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from reeval.errors import ConfigError, PlanError, SelectionError, UserError
from reeval.plan.cascade import DEFAULT, Cascade, Flags, Layer, narrowed, start
from reeval.plan.config import CONFIG_NAME, Config, DataSettings
from reeval.plan.expand.candidates import Candidate, DataDefaults, candidates, mixed_groups
from reeval.plan.expand.cells import Cells, egress_of
from reeval.plan.expand.compare import Compared, Compares
from reeval.plan.expand.questions import Asked, Subject, planned_questions
from reeval.plan.expand.values import Values
from reeval.plan.nearest import hint
from reeval.plan.parts.models import Models
from reeval.plan.parts.names import Slugs, case_keys
from reeval.plan.parts.problems import LATER, Problems
from reeval.plan.parts.standby import Standby, StandIn, stand_in
from reeval.plan.select import select
from reeval.protocols import Catalog
from reeval.schema.data.questions import PlannedDatabase
from reeval.schema.options import (
    DEFAULT_RUNS,
    DEFAULT_RUNS_IN_COMPARE,
    JudgeOptions,
    Limit,
    ResolvedGate,
)
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedModel, Selection
from reeval.schema.spec import EvalKind, EvalSpec, FileSpec

__all__ = ["PlanDatabase", "build_plan", "planned_task"]

_SHOWN_GONE = 3
PlanDatabase = Callable[[DataSettings, str], PlannedDatabase]
"""Takes the settings and the place of the URL, which the ``ConfigError`` names that it raises."""


def build_plan(
    files: Sequence[FileSpec],
    config: Config,
    selection: Selection,
    catalog: Catalog,
    database: PlanDatabase | None = None,
    standby: Standby | None = None,
) -> Plan:
    """Resolve everything that was asked for into the full list of attempts, questions and pairs.

    ``database`` says what the URL of ``[data]`` stands for; without it a plan has none. ``standby`` says which model
    answers data questions where no harness is configured; without it none does.

    Raises ``SelectionError`` when the selection is empty or mixes kinds, and one ``PlanError`` that names
    every other problem with its file and line.
    """
    if mixed := mixed_groups(files):
        raise SelectionError("\n".join(mixed))
    profile = _profile_layer(config, selection)
    outermost = start(tuple(config.harnesses)).push(_config_layer(config))
    if profile:
        outermost = outermost.push(profile)
    builder = _Builder(config, selection, catalog, profile)
    asked = builder.data_defaults(outermost, standby)
    selected = select(tuple(candidates(files, outermost, asked)), selection, config)
    evals = tuple(builder.planned(candidate, selected.kind) for candidate in selected.evals)
    planned_database = builder.database(database) if any(planned.data for planned in evals) else None
    builder.finish()
    notes = [*selected.notes, *builder.stood_in(evals)]
    if not any(planned.mode == "run" for planned in evals):
        notes.append("nothing runs: every selected eval is skipped or still to write")
    notes += _certified(evals)
    return Plan(
        kind=selected.kind,
        evals=evals,
        harnesses=builder.cells.harnesses.planned,
        sandboxes=builder.cells.sandboxes.planned,
        environments=builder.cells.environments.planned,
        models=builder.models.planned,
        providers=builder.providers,
        database=planned_database,
        max_concurrent=config.max_concurrent,
        selection=selection,
        left_out=selected.left_out,
        notes=tuple(notes),
    )


def planned_task(task: str, gate: ResolvedGate, judge: JudgeOptions) -> str:
    """Return the digest of a task with its grading options: ``task`` is the one of the ``EvalSpec``."""
    grading = {key: value for key, value in judge.items() if key != "max_concurrent"}
    text = json.dumps([task, gate.rule, gate.minimum, grading], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:32]


def _certified(evals: Sequence[PlannedEval]) -> list[str]:
    """Return what to say of ground truths that are not there, or that the agent itself may have been given."""
    asked = [one.data for one in evals if one.mode == "run" and one.data and one.data.certified_query]
    gone = [data.id for data in asked if data.sql is None]
    notes = []
    if count := len(asked) - len(gone):
        said = "1 question takes its" if count == 1 else f"{count:,} questions take their"
        notes.append(f"{said} ground truth from certified queries: an agent that is given these sees the answer")
    if gone:
        said = (
            "1 question is an error, since its"
            if len(gone) == 1
            else f"{len(gone):,} questions are errors, since their"
        )
        more = f" and {len(gone) - _SHOWN_GONE:,} more" if len(gone) > _SHOWN_GONE else ""
        notes.append(f"{said} certified query is not there: {', '.join(gone[:_SHOWN_GONE])}{more}")
    return notes


def _config_layer(config: Config) -> Layer:
    return Layer("config", lambda option: config.at("defaults", *option.split(".")), config.defaults)


def _profile_layer(config: Config, selection: Selection) -> Layer | None:
    name = selection.profile
    if name is None:
        return None
    if name not in config.profiles:
        known = hint(name, config.profiles)
        raise PlanError(f"there is no profile {name!r} (a [profile.NAME] table of {CONFIG_NAME}); {known}")
    table = config.profiles[name]

    def place(option: str) -> str:
        inside = "defaults" if option.partition(".")[0] in table.defaults else "limit"
        return config.at("profile", name, inside, *option.split("."))

    return Layer(f"profile {name}", place, table.defaults)


class _Builder:
    """Plans one eval after the other; problems are collected."""

    def __init__(self, config: Config, selection: Selection, catalog: Catalog, profile: Layer | None) -> None:
        self._config = config
        self._profile = profile
        self._profile_name = selection.profile
        self._limit = config.profiles[selection.profile].limit if selection.profile else Limit()
        self._flags = Flags(selection.harnesses, selection.runs)
        self._problems = Problems()
        self._slugs = Slugs()
        self._ids: set[str] = set()
        self.cells = Cells(config, catalog, self._problems)
        self.models = Models(config, catalog, self._problems)
        self.providers: dict[str, PlannedModel] = {}
        off = profile.source if profile and self._limit.get("compare") is False else None
        self._compares = Compares(self.cells.environments, self._problems, off)
        self._stand_in: StandIn | None = None

    def data_defaults(self, outermost: Cascade, standby: Standby | None) -> DataDefaults:
        """Return what the config gives to every data question, and ``standby`` where it names no harness."""
        config, data = self._config, self._config.data
        layer = Layer("data", lambda option: config.at("data", *option.split(".")), data.options)
        cascade = outermost.push(layer)
        if standby and (found := stand_in(cascade, standby, self.models)):
            self._stand_in, cascade = found, found.on(cascade)
        return DataDefaults(cascade, data.compare, data.questions)

    def stood_in(self, evals: Sequence[PlannedEval]) -> list[str]:
        """Return what to say of a harness that nobody configured."""
        found = self._stand_in
        used = found and any(one.data and found.stands_in(one.sources.get("harness")) for one in evals)
        return [found.said] if found and used else []

    def planned(self, candidate: Candidate, kind: EvalKind) -> PlannedEval:
        """Return the eval with every option resolved."""
        if candidate.id in self._ids:
            self._problems.add(candidate.where, f"the path of {candidate.id!r} is declared twice; rename one of them")
        self._ids.add(candidate.id)
        spec = candidate.spec
        resolved: dict[str, Any] = {}
        if isinstance(spec, EvalSpec):
            resolved = {"description": spec.description, "blocking": spec.blocking, "data": spec.data}
            resolved |= self._resolved(candidate, spec) if candidate.mode == "run" else {}
        listed: dict[str, Any] = {
            "id": candidate.id,
            "file": candidate.file,
            "path": candidate.path,
            "slug": self._slugs.of(*_place(candidate)),
            "line": spec.line,
            "kind": candidate.kind or kind,
            "mode": candidate.mode,
            "skip_reason": candidate.skip_reason,
            "tags": candidate.tags,
        }
        return PlannedEval(**{**listed, **resolved})

    def database(self, resolve: PlanDatabase | None) -> PlannedDatabase | None:
        """Return where the queries of data questions run."""
        data = self._config.data
        if data.database is None:
            example = '\n  [data]\n  database = "duckdb:data.duckdb"'
            self._problems.add(CONFIG_NAME, f"data questions need a database; name one, such as{example}")
        elif resolve is not None:
            try:
                return resolve(data, self._config.at("data", "database"))
            except ConfigError as error:
                self._problems.extend((str(error),))
        return None

    def finish(self) -> None:
        """Check what no eval asked for, and raise every problem."""
        for name in self._limit.get("harness", ()):
            if not self.cells.harnesses.knows(name):
                place = self._config.at("profile", str(self._profile_name), "limit", "harness")
                self._problems.add(place, self.cells.harnesses.unknown(name))
        self.cells.harnesses.check_tables()
        self._name_agents_models()
        self.providers = self.models.configured()
        self._problems.raise_any()

    def _name_agents_models(self) -> None:
        """Plan the models that agents ask through the run."""
        harnesses = self.cells.harnesses
        for planned in harnesses.planned.values():
            place = self._config.at("harness", planned.id)
            try:
                for name in harnesses.kind(planned).models(planned):
                    self.models.named(name, place)
            except UserError as error:
                self._problems.add(place, str(error))

    def _resolved(self, candidate: Candidate, spec: EvalSpec) -> dict[str, Any]:
        place = candidate.where
        self._problems.extend(candidate.cascade.problems)
        cascade, notes = narrowed(candidate.cascade, self._limit, self._profile, self._flags)
        if not cascade.get("harness"):
            return self._without_harness(candidate, cascade)
        compared = self._compares.of(candidate.compare, cascade, place)
        cells = self.cells.of(cascade, compared, place)
        cases = case_keys([case.key for case in spec.cases or ()])
        values = Values(cascade, place, self._problems)
        compares = candidate.compare is not None and not compared.dropped
        default = DEFAULT_RUNS_IN_COMPARE if compared.compare else DEFAULT_RUNS
        runs = values.runs(default, spec.kind, compared=compares, dropped=compared.dropped)
        gate, judge = values.gate(spec.kind, runs.until), values.judge()
        asked = self._asked(candidate, cascade, compared, cells, (len(cases) or 1) * runs.most)
        self._name_models(candidate, cascade, asked, spec)
        if cascade.get("capture"):
            self._problems.add(cascade.place("capture", place), f"the option 'capture' {LATER}; leave it out")
        return {
            "cases": cases,
            "cells": cells,
            "runs": runs.most,
            "until": runs.until,
            "gate": gate,
            "timeout": values.timeout(),
            "env": cascade.get("env"),
            "egress": egress_of(cascade),
            "judge": judge,
            "judge_models": spec.judge_models,
            "compare": compared.compare,
            "questions": tuple(asked.questions),
            "task": planned_task(spec.task, gate, judge),
            "sources": _sources(cascade, compared),
            "notes": (*notes, *compared.notes, *asked.notes),
        }

    def _without_harness(self, candidate: Candidate, cascade: Cascade) -> dict[str, Any]:
        if self._profile and cascade.source("harness") == self._profile.source and candidate.cascade.get("harness"):
            reason = f"the limit of {self._profile.source} leaves no harness"
            return {"mode": "skip", "skip_reason": reason}
        if not self._config.harnesses and cascade.source("harness") == DEFAULT:
            example = '\n  [harness.terse]\n  kind = "fake"'
            if isinstance(candidate.spec, EvalSpec) and candidate.spec.data:
                example = '\n  [harness.bare]\n  kind = "model"\n  model = "PROVIDER/MODEL"'
                if self._stand_in:
                    example += f"\nor set {_either(self._stand_in.variables)}, and a model of that provider answers"
            self._problems.add(CONFIG_NAME, f"there is no harness to run the evals; write one, such as{example}")
        elif not candidate.cascade.problems:
            place = cascade.place("harness", candidate.where)
            self._problems.add(place, "harness names none; name one, or drop it")
        return {}

    def _asked(
        self, candidate: Candidate, cascade: Cascade, compared: Compared, cells: Sequence[PlannedCell], repeats: int
    ) -> Asked:
        subject = Subject(cells, repeats, cascade, candidate.where, self._config.analysis.model, compared.dropped)
        return planned_questions(candidate.questions, subject, self._problems)

    def _name_models(self, candidate: Candidate, cascade: Cascade, asked: Asked, spec: EvalSpec) -> None:
        """Plan every model that is known before the run."""
        place, judge = candidate.where, cascade.get("judge")
        if "model" in judge:
            self.models.named(judge["model"], cascade.place("judge.model", place))
        for name in (*spec.judge_models, *(question.model for question in asked.questions)):
            if name is not None:
                self.models.named(name, place)


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _place(candidate: Candidate) -> tuple[str, tuple[str, ...]]:
    """Return what names the eval's directory: of a data question its space, since its file may change."""
    data = candidate.spec.data if isinstance(candidate.spec, EvalSpec) else None
    return (data.space if data else candidate.file), candidate.path


def _sources(cascade: Cascade, compared: Compared) -> dict[str, str]:
    sources: dict[str, Any] = dict.fromkeys(("harness", "runs", "timeout", "gate"), DEFAULT)
    sources |= {option: layer.source for option, layer in cascade.origins.items()}
    if compared.dropped:
        sources["compare"] = compared.dropped
    return sources

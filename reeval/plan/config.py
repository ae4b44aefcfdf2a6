"""What does ``reeval.config.toml`` say?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from reeval.errors import ConfigError
from reeval.plan.nearest import hint
from reeval.plan.toml.lines import key_lines, line_of
from reeval.schema.data.questions import DEFAULT_MAX_ROWS, DEFAULT_STATEMENT_TIMEOUT
from reeval.schema.environment import Environment
from reeval.schema.options import Limit, Options
from reeval.schema.spec import CompareSpec, EvalKind, Question

__all__ = [
    "CONFIG_NAME",
    "DEFAULT_CACHE_SIZE",
    "DEFAULT_EVALS",
    "DEFAULT_MAX_CONCURRENT",
    "Analysis",
    "Cache",
    "Config",
    "DataSettings",
    "History",
    "Profile",
    "ProfileSelect",
    "find_root",
    "load_config",
]

CONFIG_NAME = "reeval.config.toml"
DEFAULT_EVALS = ("evals/**/*.eval.py",)
DEFAULT_CACHE_SIZE = 5 * 10**9
"""Bytes."""
DEFAULT_MAX_CONCURRENT = 10


@dataclass(frozen=True, kw_only=True)
class ProfileSelect:
    """Which evals a profile runs, where the command line does not say."""

    tags: tuple[str, ...] = ()
    kind: EvalKind | None = None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Profile:
    """``[profile.NAME]``: defaults below the groups, a limit above the evals, and a selection."""

    defaults: Options = field(default_factory=Options)
    limit: Limit = field(default_factory=Limit)
    select: ProfileSelect = ProfileSelect()


@dataclass(frozen=True, kw_only=True)
class History:
    """``[history]``: what stays of past runs."""

    artifacts: Literal["all", "failed", "none"] = "all"
    keep: int | str | None = None
    """A number of runs, an age (``30d``) or a size (``2GB``); None: everything."""


@dataclass(frozen=True, kw_only=True)
class Cache:
    """``[cache]``: what stays of what was prepared for attempts."""

    size: int = DEFAULT_CACHE_SIZE
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """``[analysis]``: the model that reads records."""

    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """``[data]``: data questions and the database that they are about."""

    database: str | None = None
    """A URL, as written; None: none is set, which only questions need."""
    folder: str = "agents"
    """Where the question files are, from the root."""
    statement_timeout: float = DEFAULT_STATEMENT_TIMEOUT
    max_rows: int = DEFAULT_MAX_ROWS
    target: str = "dev"
    options: Options = field(default_factory=Options)
    """Of every data question; its ``gate`` may be ``{"accuracy": 0.8}``."""
    questions: tuple[Question, ...] = ()
    """What a model is asked about each attempt."""
    compare: CompareSpec | None = None


@dataclass(frozen=True, kw_only=True)
class Config:
    """The config file, checked as far as it can be without knowing the kinds of harness and sandbox."""

    root: Path
    """The project's root, where the file is."""
    evals: tuple[str, ...] = DEFAULT_EVALS
    """Globs of eval files, from the root."""
    kind: EvalKind | None = None
    """Decides a selection that mixes kinds."""
    max_concurrent: int = DEFAULT_MAX_CONCURRENT
    defaults: Options = field(default_factory=Options)
    harnesses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tables by name: ``kind``, ``model``, ``effort``, ``max_concurrent``, ``start_timeout`` and the kind's own."""
    environments: Mapping[str, Environment] = field(default_factory=dict)
    sandboxes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tables by name: ``kind``, ``base_url``, ``key`` (a host variable), ``max_concurrent`` and the kind's own."""
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    history: History = History()
    cache: Cache = Cache()
    analysis: Analysis = Analysis()
    data: DataSettings = field(default_factory=DataSettings)
    text: str = field(default="", repr=False, compare=False)
    """The file's text, for the lines of messages."""

    def at(self, *path: str | int) -> str:
        """Return ``reeval.config.toml:12``, the place of a key or of the nearest table above it."""
        return _at(self.text, *path)


def find_root(start: Path) -> Path:
    """Return the folder of the nearest ``reeval.config.toml``, from ``start`` upwards; ``ConfigError`` when none."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder
    raise ConfigError(f"no {CONFIG_NAME} in {start} or a folder above it; run `reeval init` to start a project here")


def load_config(root: Path) -> Config:
    """Read and check ``root/reeval.config.toml``; one ``ConfigError`` names every problem with its line."""
    from reeval.plan.toml.tables import config_form, validate

    text = _read(root / CONFIG_NAME)
    data = _parse(text)
    form = config_form()
    try:
        tables = validate(data, form)
    except ValueError as error:
        raise ConfigError(_all_problems(error, form, text)) from None
    config = Config(root=root, text=text, **_fields(tables))
    if found := list(_cross_problems(config, tables)):
        raise ConfigError("\n".join(found))
    return config


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{CONFIG_NAME}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{CONFIG_NAME} cannot be read: {error.strerror}") from None


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column (\d+)|(end of document))\)$", str(error))
        line = (place and place[1]) or text.count("\n") + 1
        column = f", column {place[2]}" if place and place[2] else ""
        reason = str(error)[: place.start()] if place else str(error)
        raise ConfigError(f"{CONFIG_NAME}:{line}: this is not TOML: {reason}{column}") from None
    except RecursionError:
        raise ConfigError(f"{CONFIG_NAME}: the values are nested too deeply") from None


def _all_problems(error: ValueError, form: Any, text: str) -> str:
    from pydantic_core import ValidationError

    from reeval.plan.toml.problems import problems

    assert isinstance(error, ValidationError)
    found = problems(error.errors(include_url=False), form, partial(_at, text))
    return "\n".join(f"{place}: {problem}" for place, problem in sorted(found, key=_line))


def _at(text: str, *path: str | int) -> str:
    return f"{CONFIG_NAME}:{line_of(key_lines(text), path)}"


def _line(problem: tuple[str, str]) -> int:
    return int(problem[0].rpartition(":")[2])


def _fields(tables: dict[str, Any]) -> dict[str, Any]:
    same = ("evals", "kind", "max_concurrent", "defaults")
    return {
        **{name: tables[name] for name in same if name in tables},
        "harnesses": tables.get("harness", {}),
        "environments": _environments(tables.get("environment", {})),
        "sandboxes": tables.get("sandbox", {}),
        "providers": tables.get("provider", {}),
        "profiles": {name: _profile(table) for name, table in tables.get("profile", {}).items()},
        "history": History(**tables.get("history", {})),
        "cache": Cache(**tables.get("cache", {})),
        "analysis": Analysis(**tables.get("analysis", {})),
        "data": _data(tables.get("data", {})),
    }


def _data(table: dict[str, Any]) -> DataSettings:
    options = {key: value for key, value in table.items() if key in Options.__annotations__}
    own = {key: value for key, value in table.items() if key not in options}
    return DataSettings(options=cast("Options", options), **own)


def _profile(table: dict[str, Any]) -> Profile:
    fields = {**table, "select": ProfileSelect(**table.get("select", {}))}
    return Profile(**fields)


# --- environments that extend one another -------------------------------------------------------------


def _environments(tables: dict[str, dict[str, Any]]) -> dict[str, Environment]:
    """Build each environment on what it extends; ``_cross_problems`` tells of a chain that has no end."""
    built: dict[str, Environment] = {}
    for name in tables:
        layered = Environment(name=name)
        for link in reversed(_chain(name, tables)):
            layered = layered.layered(_own(link, tables[link]))
        built[name] = layered
    return built


def _chain(name: str, tables: dict[str, dict[str, Any]]) -> list[str]:
    chain: list[str] = []
    link: str | None = name
    while link in tables and link not in chain:
        chain.append(link)
        link = tables[link].get("extends")
    return chain


def _own(name: str, table: dict[str, Any]) -> Environment:
    fields = {key: value for key, value in table.items() if key != "extends"}
    return Environment(name=name, **fields)


def _cross_problems(config: Config, tables: dict[str, Any]) -> Iterator[str]:
    environments = tables.get("environment", {})
    for name, table in environments.items():
        parent = table.get("extends")
        place = config.at("environment", name, "extends")
        if parent is not None and parent not in environments:
            yield f"{place}: environment {name!r} extends {parent!r}, which is not there; {hint(parent, environments)}"
        elif parent is not None and name in _chain(parent, environments):
            yield f"{place}: environment {name!r} extends itself by way of {parent!r}; break the circle"
    layers: list[tuple[tuple[str, ...], Options]] = [(("defaults",), config.defaults)]
    layers.append((("data",), config.data.options))
    layers += [(("profile", name, "defaults"), profile.defaults) for name, profile in config.profiles.items()]
    for path, options in layers:
        named = options.get("environment")
        if isinstance(named, str) and named not in environments:
            place = config.at(*path, "environment")
            yield f"{place}: there is no environment {named!r}; {hint(named, environments)}"

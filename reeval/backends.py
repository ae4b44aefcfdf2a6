"""Whom does a run ask? The seams of the models that judge and answer, and of the databases that hold the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reeval.schema.data.questions import PlannedDatabase
from reeval.schema.data.results import ResultTable
from reeval.schema.plan import PlannedModel
from reeval.usage import Pricing, Usage

__all__ = [
    "Database",
    "DatabaseKind",
    "Model",
    "ModelKind",
    "ModelReply",
    "ModelRequest",
    "Picture",
    "QueryError",
    "Snapshots",
]

# --- the models ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An image that a model is shown."""

    name: str
    media_type: str
    """``image/png``, ``image/jpeg``, ``image/webp`` or ``image/gif``."""
    data: bytes


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One question to a model, which answers with data."""

    system: str
    """The instructions: a rubric, a question."""
    prompt: str
    """The material: data, never instructions."""
    schema: Mapping[str, Any]
    """JSON Schema of the answer, an object."""
    pictures: tuple[Picture, ...] = ()
    temperature: float | None = 0.0
    """Left out when the model refuses it."""
    max_tokens: int = 4096


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """What a model answered, valid by the request's schema."""

    data: Mapping[str, Any]
    usage: Usage
    """Unknown parts are None; the cost is there when the price is known."""
    model: str | None = None
    """What served it, as the provider says."""
    tries: int = 1


class Model(Protocol):
    """A language model."""

    async def answer(self, request: ModelRequest) -> ModelReply:
        """Return a valid answer; raise ``InfrastructureError`` (phase ``model``) that says what to do otherwise."""
        ...


@dataclass(frozen=True, kw_only=True)
class ModelKind:
    """A way to speak to models: what the planner may ask about it, and how to open one."""

    name: str
    options: type
    """A frozen dataclass: the options of a ``[provider.NAME]`` table beside the common ones."""
    open: Callable[[PlannedModel, Mapping[str, str], Path], AbstractAsyncContextManager[Model]]
    """Takes the planned model, the host's variables and the project's root."""
    key: str | None = None
    """The host variable that holds the key when the table names none; None: no key is needed."""
    keyless_base_url: bool = False
    """A table with a ``base_url`` and no ``key`` needs none: the usual key is not for that server."""
    max_concurrent: int | None = 20
    """Calls at once to a provider whose table does not say; None: any number."""
    takes_pictures: bool = True
    pricing: Callable[[PlannedModel], Pricing] = field(default=lambda _: Pricing())
    """How it will be known what its answers cost."""


# --- the databases ------------------------------------------------------------------------------------


class QueryError(Exception):
    """A query did not give a result. ``str`` says why, for a person: bounded, without secrets."""

    def __init__(self, text: str, *, lost: bool = False) -> None:
        super().__init__(text)
        self.lost = lost
        """The server closed the connection, which may be no fault of the query: it can be tried again."""


class Snapshots(Protocol):
    """Runs queries against one state of a database: what changes meanwhile is not seen."""

    async def query(self, sql: str) -> ResultTable:
        """Run untrusted SQL to its whole result; raise ``QueryError`` when it fails, is refused or gives too much.

        Cancelling ends it in the database too.
        """
        ...


class Database(Protocol):
    """A database that questions are asked about. It is only ever read."""

    def snapshot(self) -> AbstractAsyncContextManager[Snapshots]:
        """Begin a transaction, where the engine has them; raise ``QueryError`` when it cannot be had."""
        ...

    async def describe(self) -> str:
        """Return its schema as ``CREATE TABLE`` text, bounded, for a prompt; raise ``QueryError``."""
        ...


@dataclass(frozen=True, kw_only=True)
class DatabaseKind:
    """A way to run SQL."""

    name: str
    open: Callable[[PlannedDatabase, Mapping[str, str]], AbstractAsyncContextManager[Database]]
    """Takes the planned database and the host's variables, which may hold its password; raises ``QueryError`` when it
    cannot be opened. Nothing is started before the first snapshot."""

"""What must a database engine do in its process? One connection, used by one thread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from reeval.databases.worker.wire import Limits
from reeval.schema.data.results import Column

__all__ = ["Connect", "Connection", "Found"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A query's result as it comes."""

    columns: tuple[Column, ...]
    """A type that only the values tell is an empty text."""
    rows: Generator[Sequence[tuple[Any, ...]]]
    """Rows, some at a time."""
    arrow: Callable[[], Any] | None = None
    """Gives the whole result again as a ``pyarrow.RecordBatchReader``; None: it is made from the rows."""


class Connection(Protocol):
    """An open database. Every method raises ``QueryError``, or an error of the driver's that is one of ``errors``."""

    errors: tuple[type[Exception], ...]
    """What the driver raises when a query fails."""

    def begin(self) -> None:
        """Begin a snapshot."""
        ...

    def query(self, sql: str) -> Found:
        """Run one untrusted query. What it changes of its session, such as a search path, ends with it."""
        ...

    def settle(self, *, failed: bool) -> None:
        """Get ready for the next query of the snapshot."""
        ...

    def end(self) -> None:
        """End the snapshot."""
        ...

    def describe(self) -> str:
        """Return the schema as ``CREATE TABLE`` text."""
        ...

    def cancel(self) -> None:
        """End what a server still does for this connection. Called from another thread, right before the end."""
        ...

    def is_broken(self, _error: Exception) -> bool:
        """Say whether the connection is of no more use after this error."""
        ...


Connect = Callable[[str, Limits], Connection]
"""Opens a URL; a module of a kind has one as ``connect``."""

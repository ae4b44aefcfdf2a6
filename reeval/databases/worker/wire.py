"""What do a run and the process of its queries say to each other? Messages with their length before them."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from reeval.schema.data.results import Column

__all__ = ["HEAD", "Limits", "Opening", "Reply", "Request", "ResultFile", "ResultRows", "packed", "read", "unpacked"]

HEAD = struct.Struct(">Q")
"""The length of the message that follows."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one query may take and give."""

    max_rows: int
    max_bytes: int
    """Of a result."""
    memory: int
    """Bytes that a database engine may use by its own count; beyond them it writes to ``directory``."""
    seconds: float
    directory: str
    """Where large results and what does not fit into memory are put."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The first message: what to open."""

    module: str
    """The module whose ``connect`` opens it."""
    url: str
    """With its password."""
    limits: Limits


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to do next."""

    what: Literal["begin", "query", "end", "describe"]
    sql: str = ""


@dataclass(frozen=True, kw_only=True)
class ResultRows:
    """A small result."""

    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class ResultFile:
    """A large result, in a file of Arrow's own form."""

    columns: tuple[Column, ...]
    path: str


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came of a request."""

    value: ResultRows | ResultFile | str | None = None
    refused: str | None = None
    """Why there is no value."""
    broken: bool = False
    """The connection can no longer be used."""
    lost: bool = False
    """Since its other end closed it."""


def packed(message: Opening | Request | Reply) -> bytes:
    """Return a message as it is sent."""
    # Values of every type a database has, between two processes of one program: nobody else writes to the pipes.
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(data)) + data


def unpacked(data: bytes) -> Any:
    """Return the message of the bytes after the head."""
    return pickle.loads(data)  # noqa: S301 - see ``packed``


def read(stream: BinaryIO) -> Any | None:
    """Read one message; None at the end of the stream."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    data = stream.read(HEAD.unpack(head)[0])
    return unpacked(data)

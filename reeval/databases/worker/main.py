"""What does the process of the queries do? It opens one database and answers requests until its input ends."""

from __future__ import annotations

import os
import queue
import sys
import threading
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from typing import BinaryIO

from reeval.backends import QueryError
from reeval.databases.worker.engine import Connect, Connection
from reeval.databases.worker.gather import gathered
from reeval.databases.worker.wire import Limits, Opening, Reply, Request, ResultFile, ResultRows, packed, read

__all__ = ["main"]

_MEMORY = 4 << 30
"""Bytes of memory of its own that the process gets: an engine does not count all that it takes."""


class _Inbox:
    """Reads requests in a thread: the end of the input, which means that the run is gone, must not wait for a query."""

    def __init__(self, stream: BinaryIO) -> None:
        self.requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self.connection: Connection | None = None
        self._stream = stream

    def fill(self) -> None:
        while (request := read(self._stream)) is not None:
            self.requests.put(request)
        try:
            if self.connection is not None:
                self.connection.cancel()
        finally:
            os._exit(0)


def main() -> None:
    """Serve one connection over standard input and output."""
    _limit_memory()
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand between the replies
    opening: Opening | None = read(stdin)
    if opening is None:
        return
    inbox = _Inbox(stdin)
    threading.Thread(target=inbox.fill, daemon=True).start()
    connect: Connect = import_module(opening.module).connect
    try:
        connection = inbox.connection = connect(opening.url, opening.limits)
    except QueryError as error:
        _send(stdout, Reply(refused=str(error), broken=True))
        return
    _send(stdout, Reply())
    while True:
        _send(stdout, _answer(connection, inbox.requests.get(), opening.limits))


def _answer(connection: Connection, request: Request, limits: Limits) -> Reply:
    expected: tuple[type[Exception], ...] = (QueryError, *connection.errors)
    try:
        reply = Reply(value=_done(connection, request, limits))
    except MemoryError:
        return Reply(refused=f"the query took more than the {_MEMORY >> 30} GB of memory there are", broken=True)
    except expected as error:
        lost = connection.is_broken(error)
        reply = Reply(refused=str(error), broken=lost, lost=lost)
    if request.what == "query" and not reply.broken and not _settles(connection, failed=reply.refused is not None):
        return replace(reply, broken=True)
    return reply


def _done(connection: Connection, request: Request, limits: Limits) -> ResultRows | ResultFile | str | None:
    match request.what:
        case "begin":
            connection.begin()
        case "end":
            connection.end()
        case "describe":
            return connection.describe()
        case "query":
            found = connection.query(request.sql)
            with closing(found.rows):
                return gathered(found, limits)
    return None


def _settles(connection: Connection, *, failed: bool) -> bool:
    try:
        connection.settle(failed=failed)
    except connection.errors:
        return False
    return True


def _send(stream: BinaryIO, reply: Reply) -> None:
    stream.write(packed(reply))
    stream.flush()


def _limit_memory() -> None:
    if sys.platform != "linux":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()

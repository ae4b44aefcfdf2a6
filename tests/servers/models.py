"""A real HTTP server on loopback that speaks the providers' wire forms, with every fault on request.

    with ModelServer() as server:
        server.acts = [Act(status=529), Act()]      # the first request fails, then all is well
        server.url                                  # the base_url of a provider
        server.requests                             # what was asked, in order

Started as a program it answers after a delay until its standard input ends: ``models.py 0.05 [ANSWER]`` prints its URL,
and for each line of its input when the first request came since the last one, by ``time.perf_counter``.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

if __name__ == "__main__":  # a program finds its neighbors from the project's root
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.servers.wire import Wire, wire_of

__all__ = ["ANSWER", "CERTIFICATE", "Act", "ModelServer", "Received"]

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""Of a server named localhost, with the key that makes it one: nobody trusts it but a test."""
ANSWER = {"score": 0.75, "reason": "It greets."}
Fault = Literal["cut", "drop", "empty", "hang", "huge", "no body", "out of tokens", "refusal"]


@dataclass(frozen=True, kw_only=True)
class Act:
    """What the server does with one request."""

    answer: Any = None
    """Data, or text that stands where the answer's JSON should; None: the server's own answer."""
    status: int = 200
    message: str = "Something went wrong."
    code: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    raw: bytes | None = None
    """The whole body, as it is."""
    delay: float = 0.0
    """Seconds before the response."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: Any
    at: float = field(default_factory=time.perf_counter)


class ModelServer:
    """Serves from a thread of its own until the block ends."""

    def __init__(self, *, answer: Any = ANSWER, delay: float = 0.0, tls: bool = False) -> None:
        self.answer = answer
        self.delay = delay
        self.tls = tls
        """Whether it speaks HTTPS, as whom ``CERTIFICATE`` says."""
        self.acts: list[Act] = []
        """What happens to the next requests; after the last all is well."""
        self.key: str | None = None
        """The only key that is let in; None: anyone."""
        self.refuses: tuple[str, ...] = ()
        """Dotted paths of parts of a request that are refused, as ``temperature``."""
        self.requests: list[Received] = []
        self.most_at_once = 0
        self.connections = 0
        self.patience = 600.0
        """Seconds after which it leaves a connection on which nothing is asked."""
        self._now = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        tls = _tls() if self.tls else None
        self._server = self._on_loop(asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=500, ssl=tls))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._on_loop(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"https://localhost:{port}/v1" if self.tls else f"http://{host}:{port}/v1"

    def _on_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _end(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await asyncio.wait_for(_received(reader), self.patience)) is not None:
                self.requests.append(request)
                self._now += 1
                self.most_at_once = max(self.most_at_once, self._now)
                try:
                    open_still = await self._respond(request, writer)
                finally:
                    self._now -= 1
                if not open_still:
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, TimeoutError):
            pass  # the client left, was silent for too long, or the test is over
        finally:
            writer.close()

    async def _respond(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        """Respond, and say whether the connection stays open."""
        wire = wire_of(request.path)
        act = self._complaint(wire, request) or (self.acts.pop(0) if self.acts else Act())
        await asyncio.sleep(act.delay or self.delay)
        if act.fault == "hang":
            await asyncio.sleep(3600)
        if act.fault == "drop":
            writer.transport.abort()
            return False
        body = self._body(wire, act, request)
        writer.write(_head(act, len(body)))
        writer.write(body[: len(body) // 2] if act.fault == "cut" else body)
        await writer.drain()
        return act.fault != "cut"

    def _complaint(self, wire: Wire, request: Received) -> Act | None:
        """Turn a request away for its key, or for a part that this model does not take."""
        given = request.headers.get(wire.key_header, "").removeprefix("Bearer ")
        if self.key is not None and given != self.key:
            return Act(status=401, message=f"invalid key: {given}", code="authentication_error")
        for path in self.refuses:
            if _holds(request.body, path):
                return Act(status=400, message=f"Unsupported parameter: '{path}' is not supported with this model.")
        return None

    def _body(self, wire: Wire, act: Act, request: Received) -> bytes:
        if act.raw is not None:
            return act.raw
        if act.fault == "no body":
            return b""
        if act.status != 200:
            data = wire.error(act.status, act.message, act.code, act.param)
        elif act.fault == "refusal":
            data = wire.refusal(act.message)
        elif act.fault == "empty":
            data = wire.empty
        elif act.fault == "out of tokens":
            data = wire.cut
        elif act.fault == "huge":
            data = wire.answer(json.dumps({"score": 1, "reason": "x" * 5_000_000}), request.body)
        else:
            answer = self.answer if act.answer is None else act.answer
            data = wire.answer(answer if isinstance(answer, str) else json.dumps(answer), request.body)
        return json.dumps(data).encode()


def _tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def _received(reader: asyncio.StreamReader) -> Received | None:
    line = await reader.readline()
    if not line:
        return None
    headers = {}
    while (header := await reader.readline()) not in {b"\r\n", b""}:
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(path=line.split()[1].decode(), headers=headers, body=json.loads(body))


def _head(act: Act, length: int) -> bytes:
    given = {"content-type": "application/json", "content-length": str(length), **act.headers}
    lines = [f"HTTP/1.1 {act.status} Whatever", *(f"{name}: {value}" for name, value in given.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _holds(body: Any, path: str) -> bool:
    for name in path.split("."):
        if not isinstance(body, dict) or name not in body:
            return False
        body = body[name]
    return True


def _main(arguments: Sequence[str]) -> None:
    answer = json.loads(arguments[1]) if arguments[1:] else ANSWER
    with ModelServer(answer=answer, delay=float(arguments[0])) as server:
        print(server.url, flush=True)  # noqa: T201 - a program
        for _ in sys.stdin:
            print(server.requests[0].at, flush=True)  # noqa: T201
            server.requests.clear()


if __name__ == "__main__":
    _main(sys.argv[1:])

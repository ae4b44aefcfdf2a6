"""An agent behind a URL, for tests: it answers each request with the next of a list of raw responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

__all__ = ["HANG", "WebAgent", "answer", "events", "response", "stream", "web_agent"]

HANG = b"hang"
"""Part of a response from which on the agent is silent."""


@dataclass
class WebAgent:
    responses: list[bytes]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0
    served: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/ask"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.served.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            self.headers.append(headers)
            self.requests.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
            given, silent, _ = self.responses[min(len(self.requests), len(self.responses)) - 1].partition(HANG)
            writer.write(given)
            await writer.drain()
            if silent:
                await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def web_agent(*responses: bytes) -> AsyncIterator[WebAgent]:
    agent = WebAgent(list(responses))
    server = await asyncio.start_server(agent.serve, "127.0.0.1", 0)
    agent.port = server.sockets[0].getsockname()[1]
    try:
        yield agent
    finally:
        server.close()
        if agent.served:
            await asyncio.wait(agent.served, timeout=5)


def response(
    status: int, body: bytes, kind: str = "application/json", *headers: str, length: int | None = None
) -> bytes:
    lines = [f"HTTP/1.1 {status} Word", f"content-type: {kind}", "connection: close", *headers]
    lines.append(f"content-length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(**data: Any) -> bytes:
    """A whole answer as JSON."""
    return response(200, json.dumps(data).encode())


def events(*found: dict[str, Any]) -> bytes:
    """Events as the lines of server-sent events."""
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in found)


def stream(body: bytes, parts: Sequence[int] = ()) -> bytes:
    """A server-sent stream, chunked at the given places."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
    cuts = [0, *parts, len(body)]
    chunks = [body[start:end] for start, end in pairwise(cuts) if end > start]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"

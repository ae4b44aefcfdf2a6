"""A server that speaks PostgreSQL's protocol and knows one query, no settings and no transactions: a semantic layer."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_READY = b"Z\x00\x00\x00\x05I"


@dataclass
class FewWords:
    """Answers ``SELECT measure`` with two rows; hangs up at ``hang up``, is silent at ``hang``, refuses all else."""

    asked: list[str] = field(default_factory=list)
    port: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """A client went away while the server was silent."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not await _started(reader, writer):
            return
        sql = ""
        while True:
            kind = await reader.readexactly(1)
            body = await _body(reader)
            if kind in {b"P", b"Q"}:
                sql = body.strip(b"\0").split(b"\0")[0].decode()
                self.asked.append(sql)
                if sql == "SELECT hang":
                    await reader.read()
                    self.closed.set()
            if kind == b"X" or "hang" in sql:
                return
            if kind in {b"S", b"Q"}:
                writer.write(_answer(sql, extended=kind == b"S") + _READY)


async def _started(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Answer what stands before the first query; False: it was a wish to cancel."""
    while (wish := (await _body(reader))[:4]) != struct.pack(">I", 196608):
        if wish == struct.pack(">I", 80877102):
            return False
        writer.write(b"N")  # no encryption
    writer.write(_message(b"R", struct.pack(">I", 0)))
    for name, value in (("server_version", "14.2"), ("client_encoding", "UTF8")):
        writer.write(_message(b"S", f"{name}\0{value}\0".encode()))
    writer.write(_READY)
    return True


async def _body(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">I", await reader.readexactly(4))
    return await reader.readexactly(length - 4)


def _answer(sql: str, *, extended: bool) -> bytes:
    if sql != "SELECT measure":
        return _message(b"E", b"SERROR\0C0A000\0M" + f"unknown: {sql}".encode() + b"\0\0")
    column = b"measure\0" + struct.pack(">IHIhih", 0, 0, 20, 8, -1, 0)
    rows = b"".join(_message(b"D", struct.pack(">HI", 1, 1) + value) for value in (b"3", b"4"))
    before = _message(b"1", b"") + _message(b"2", b"") if extended else b""
    return before + _message(b"T", struct.pack(">H", 1) + column) + rows + _message(b"C", b"SELECT 2\0")


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


@asynccontextmanager
async def few_words() -> AsyncIterator[FewWords]:
    server = FewWords()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()

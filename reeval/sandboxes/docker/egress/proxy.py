"""Which connections go through, and which are refused? A proxy that runs alone, in a container of its own.

It needs nothing but Python's standard library, and takes its orders as JSON lines on standard input: a policy for each
of its own addresses, as each belongs to the network of one attempt. The end of its input is its own end. It answers an
order with a line of its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import sys
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

__all__ = ["PORT", "Refusals", "main", "permitted"]

PORT = 3128
WEB = (80, 443)
"""The ports of an entry that names none."""
HEAD_LIMIT = 64 * 1024
HEAD_SECONDS = 15.0
CONNECT_SECONDS = 15.0
IDLE_SECONDS = 900.0
MOST_CONNECTIONS = 512
"""Of one attempt at once."""
MOST_REFUSALS = 100
"""Different ones of an attempt that are kept."""
CHUNK = 64 * 1024
_UNFORWARDED = ("proxy-", "connection:", "keep-alive:", "host:")


def permitted(policy: dict[str, Any], host: str, port: int) -> tuple[str | None, bool]:
    """Return (why not, whether a private address is meant): the first is None when the connection may be tried.

    ``policy``: ``mode`` (``allow``, ``allow-all``) and ``hosts``: ``api.example.com`` and ``*.example.com`` on the
    ports of the web, ``host:port`` on that port, also where the host is in a private network.
    """
    name = host.lower().rstrip(".")
    for entry in policy["hosts"]:
        pattern, literal = _entry(entry)
        if literal is not None and (pattern, literal) == (name, port):
            return None, True
        if literal is None and port in WEB and _matches(pattern, name):
            return None, False
    if policy["mode"] == "allow-all":
        return None, False
    return ("its port is not allowed" if _named(policy, name) else "it is not allowed"), False


def _reachable(address: str) -> bool:
    """Say whether an address belongs to the public network."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    for inner in (getattr(parsed, "ipv4_mapped", None), getattr(parsed, "sixtofour", None)):
        if inner is not None:
            return _reachable(str(inner))
    if parsed.version == 6 and parsed in ipaddress.ip_network("64:ff9b::/96"):
        return _reachable(str(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)))
    return bool(parsed.is_global and not parsed.is_multicast)


def _entry(entry: str) -> tuple[str, int | None]:
    pattern, colon, port = entry.lower().rpartition(":")
    if colon and port.isdecimal() and (not pattern.count(":") or pattern.startswith("[")):
        return pattern.strip("[]"), int(port)
    return entry.lower().strip("[]").rstrip("."), None


def _matches(pattern: str, name: str) -> bool:
    return name.endswith(pattern[1:]) and name != pattern[2:] if pattern.startswith("*.") else name == pattern


def _named(policy: dict[str, Any], name: str) -> bool:
    return any(_matches(_entry(entry)[0], name) for entry in policy["hosts"])


class Refusals:
    """Counts what was refused to one attempt."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, int, str], list[int]] = {}
        self.more = 0

    def add(self, host: str, port: int, why: str) -> None:
        """Count one, and remember when the first of its kind came."""
        key = host[:255], port, why
        if key in self.counts:
            self.counts[key][1] += 1
        elif len(self.counts) < MOST_REFUSALS:
            self.counts[key] = [int(time.time() * 1000), 1]
        else:
            self.more += 1

    def report(self) -> dict[str, Any]:
        """Return them as JSON data, in the order in which they came."""
        listed = [
            {"host": host, "port": port, "why": why, "first": first, "count": count}
            for (host, port, why), (first, count) in self.counts.items()
        ]
        return {"refused": listed, "more": self.more}


class _RefusedError(Exception):
    pass


class _Proxy:
    """The proxy: policies by its own address, and what was refused at each."""

    def __init__(self) -> None:
        self.policies: dict[str, dict[str, Any]] = {}
        self.refusals: dict[str, Refusals] = {}
        self.open: dict[str, set[Any]] = {}

    def order(self, order: dict[str, Any]) -> dict[str, Any]:
        """Take an order and return the answer to it."""
        address = order["address"]
        if order["do"] == "allow":
            self.policies[address] = {"mode": order["mode"], "hosts": order["hosts"]}
            self.refusals[address] = Refusals()
            return {}
        self.policies.pop(address, None)
        for task in self.open.pop(address, ()):
            task.cancel()
        return self.refusals.pop(address, Refusals()).report()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        address = writer.get_extra_info("sockname")[0]
        policy, mine = self.policies.get(address), self.open.setdefault(address, set())
        task = asyncio.current_task()
        mine.add(task)
        try:
            if policy is not None and len(mine) <= MOST_CONNECTIONS:
                await self._served(reader, writer, policy, self.refusals[address])
        except (TimeoutError, OSError, ValueError, EOFError, asyncio.LimitOverrunError):
            pass  # The other end is gone, or never said what it wants.
        finally:
            mine.discard(task)
            writer.close()

    async def _served(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        policy: dict[str, Any],
        refusals: Refusals,
    ) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
        first, *fields = head[:-4].decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        target, _, version = rest.rpartition(" ")
        tunnel = method == "CONNECT"
        try:
            host, port, path = _target(target, tunnel=tunnel)
        except ValueError:
            await _answer(writer, "400 Bad Request", "this is a proxy: ask for http://host/path, or CONNECT host:port")
            return
        try:
            theirs = await _connected(policy, host, port)
        except _RefusedError as refused:
            refusals.add(host, port, str(refused))
            await _answer(writer, "403 Forbidden", f"reeval: {host}:{port} is refused: {refused}")
            return
        except (TimeoutError, OSError) as error:
            await _answer(writer, "502 Bad Gateway", f"reeval: {host}:{port} cannot be reached: {error!s}")
            return
        their_reader, their_writer = theirs
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                kept = [field for field in fields if not field.lower().startswith(_UNFORWARDED)]
                name = f"[{host}]" if ":" in host else host
                shown = name if port == 80 else f"{name}:{port}"
                lines = [f"{method} {path} {version}", f"Host: {shown}", *kept, "Connection: close", "", ""]
                their_writer.write("\r\n".join(lines).encode("latin-1"))
            await _both_ways(reader, writer, their_reader, their_writer)
        finally:
            their_writer.close()


def _target(target: str, *, tunnel: bool) -> tuple[str, int, str]:
    """Return host, port and path of what is asked for; raise ``ValueError``."""
    parts = urlsplit(f"//{target}" if tunnel else target)
    host, port = parts.hostname, parts.port
    if not host or (port is None and tunnel) or (not tunnel and parts.scheme != "http"):
        raise ValueError(target)
    return host, port or 80, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


async def _connected(policy: dict[str, Any], host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to an address that was looked at itself: a name cannot become another one meanwhile."""
    why, private = permitted(policy, host, port)
    if why is not None:
        raise _RefusedError(why)
    loop = asyncio.get_running_loop()
    found = await asyncio.wait_for(_looked_up(loop, host, port), CONNECT_SECONDS)
    addresses = [str(one[4][0]) for one in found if private or _reachable(str(one[4][0]))]
    if not addresses:
        raise _RefusedError("its address is not in the public network")
    problem: Exception = OSError("no answer")
    for address in addresses[:4]:
        try:
            return await asyncio.wait_for(asyncio.open_connection(address, port), CONNECT_SECONDS)
        except (TimeoutError, OSError) as error:
            problem = error
    raise problem


async def _looked_up(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[Any]:
    for wait in (0.1, 0.4, None):
        try:
            return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror:
            # An engine writes /etc/hosts anew, in place, whenever a network is joined.
            if wait is None:
                raise
            await asyncio.sleep(wait)
    raise AssertionError("the last turn returns or raises")


async def _both_ways(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    their_reader: asyncio.StreamReader,
    their_writer: asyncio.StreamWriter,
) -> None:
    there: asyncio.Task[None] = asyncio.ensure_future(_pumped(reader, their_writer))
    back: asyncio.Task[None] = asyncio.ensure_future(_pumped(their_reader, writer))
    try:
        await back
    finally:
        there.cancel()
        back.cancel()
        with suppress(asyncio.CancelledError, OSError, TimeoutError):
            await there


async def _pumped(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await asyncio.wait_for(source.read(CHUNK), IDLE_SECONDS):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode("utf-8", "replace")
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode("latin-1") + body)
    await writer.drain()


async def main() -> None:
    """Serve until standard input ends."""
    proxy = _Proxy()
    loop = asyncio.get_running_loop()
    orders = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    server = await asyncio.start_server(proxy.connection, "0.0.0.0", PORT, limit=HEAD_LIMIT)  # noqa: S104 - of a container
    _say({"ready": True})
    async with server:
        while line := await orders.readline():
            _say(proxy.order(json.loads(line)))


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())

"""How does one request reach a provider and its response come back, bounded in time and size?"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import anyio.to_thread

from reeval.models.failures import MOST_TRIES, TryError
from reeval.models.options import HttpOptions

if TYPE_CHECKING:
    import httpcore2

__all__ = ["LARGEST_RESPONSE", "Response", "Transport", "open_transport"]

LARGEST_RESPONSE = 2 * 1024 * 1024
"""Bytes: no answer of a few thousand tokens is longer."""
_TIMED_OUT_TRIES = 2
"""A server that was silent to the limit is asked once more: each such try costs the whole limit."""
_CLOSING = 2.0
_KEPT = 30.0
"""Seconds that a connection is kept without a call."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a provider sent back."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes


class Transport:
    """Posts to one URL. Every failure of the network is a ``TryError``.

    Below the client that would look at redirects, cookies and a pool with each call: here a call has a connection.
    """

    def __init__(self, url: str, headers: Mapping[str, str], options: HttpOptions) -> None:
        """``headers`` go with every request, beside those that every request needs."""
        import httpcore2

        from reeval.models.network import Network

        parts = urlsplit(url)
        self._url = httpcore2.URL(url)
        self._headers = [(name.encode(), value.encode()) for name, value in (_usual(parts) | dict(headers)).items()]
        self._options = options
        self._maker = httpcore2.AsyncConnectionPool(
            ssl_context=httpcore2.default_ssl_context() if parts.scheme == "https" else None,
            proxy=_proxy(parts),
            keepalive_expiry=_KEPT,
            network_backend=Network(),
        )
        """Only makes connections, straight to the provider or through a proxy."""
        self._idle: list[httpcore2.AsyncConnectionInterface] = []

    async def post(self, content: bytes) -> Response:
        """Send one request and return its response, whatever its status."""
        with anyio.move_on_after(self._options.timeout):
            return await self._translated(content)
        raise _silent(f"did not answer within {self._options.timeout:g} s")

    async def close(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            await self._idle.pop().aclose()

    async def _translated(self, content: bytes) -> Response:
        import httpcore2

        try:
            return await self._post(content)
        except httpcore2.ConnectTimeout:
            raise _silent(f"could not be reached within {self._options.connect_timeout:g} s") from None
        except (httpcore2.ConnectError, httpcore2.ProxyError) as error:
            raise TryError(
                f"could not be reached ({_first_line(error)}); check the network and the provider's base_url",
                tries=MOST_TRIES,
            ) from None
        except (httpcore2.LocalProtocolError, httpcore2.UnsupportedProtocol) as error:
            raise TryError(f"could not be asked ({_first_line(error)}); correct the provider's base_url") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise TryError(f"broke the connection ({_first_line(error)}); try again later", tries=MOST_TRIES) from None

    async def _post(self, content: bytes) -> Response:
        import httpcore2

        request = httpcore2.Request(
            "POST",
            self._url,
            headers=[*self._headers, (b"content-length", b"%d" % len(content))],
            content=content,
            extensions={"timeout": {"connect": self._options.connect_timeout}},
        )
        connection = await self._connection()
        try:
            response = await connection.handle_async_request(request)
            try:
                body = await _bounded(response)
            finally:
                await response.aclose()
        finally:
            if connection.is_available():
                self._idle.append(connection)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Response(status=response.status, headers=headers, body=body)

    async def _connection(self) -> httpcore2.AsyncConnectionInterface:
        """Return the connection that was used last, unless its server has left meanwhile; else a new one."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            with anyio.CancelScope(shield=True):
                await connection.aclose()
        return self._maker.create_connection(self._url.origin)


@asynccontextmanager
async def open_transport(url: str, headers: Mapping[str, str], options: HttpOptions) -> AsyncIterator[Transport]:
    """Give what posts to the URL; it has as many connections as there are calls at once."""
    transport = await anyio.to_thread.run_sync(Transport, url, headers, options)  # it loads a library, certificates
    try:
        yield transport
    finally:
        with anyio.move_on_after(_CLOSING, shield=True):
            await transport.close()


def _usual(url: SplitResult) -> dict[str, str]:
    from reeval.version import __version__

    headers = {
        "host": url.netloc.rpartition("@")[2],
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": f"reeval/{__version__}",
    }
    login = _login(url)
    return {**headers, "authorization": f"Basic {b64encode(':'.join(login).encode()).decode()}"} if login else headers


def _proxy(url: SplitResult) -> httpcore2.Proxy | None:
    """Return the proxy that the host's variables (``HTTPS_PROXY``, ``NO_PROXY`` …) name for this URL."""
    import httpcore2

    named = getproxies()
    address = named.get(url.scheme) or named.get("all")
    if not address or proxy_bypass(url.netloc.rpartition("@")[2]):
        return None
    address = address if "://" in address else f"http://{address}"
    kind = address.partition("://")[0]
    if kind not in {"http", "https"}:
        step = "name an http one, or except the provider's host in NO_PROXY"
        raise TryError(f"cannot be asked through the proxy of the kind {kind!r} that the environment names; {step}")
    return httpcore2.Proxy(address, auth=_login(urlsplit(address)))


def _login(url: SplitResult) -> tuple[str, str] | None:
    return (unquote(url.username), unquote(url.password or "")) if url.username else None


async def _bounded(response: httpcore2.Response) -> bytes:
    """Read the body, and no more than the limit of it."""
    parts: list[bytes] = []
    left = LARGEST_RESPONSE
    async for part in response.aiter_stream():
        left -= len(part)
        if left < 0:
            limit = LARGEST_RESPONSE // 1024 // 1024
            raise TryError(f"answered with more than {limit} MB; check the provider's base_url, or name another model")
        parts.append(part)
    return b"".join(parts)


def _silent(reason: str) -> TryError:
    step = "try again later, or raise the time limit in its [provider] table"
    return TryError(f"{reason}; {step}", tries=_TIMED_OUT_TRIES)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines else type(error).__name__

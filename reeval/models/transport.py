"""How does one request reach a provider and its response come back, bounded in time and size?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from math import inf
from typing import TYPE_CHECKING, Any

import anyio

from reeval.models.failures import MOST_TRIES, TryError
from reeval.models.options import HttpOptions

if TYPE_CHECKING:
    import httpx2

__all__ = ["LARGEST_RESPONSE", "Response", "Transport", "open_transport"]

LARGEST_RESPONSE = 2 * 1024 * 1024
"""Bytes: no answer of a few thousand tokens is longer."""
_TIMED_OUT_TRIES = 2
"""A server that was silent to the limit is asked once more: each such try costs the whole limit."""
_CLOSING = 2.0
_SHARE = 5
"""Connections of one client: it looks at each of its own with every call, so many small ones cost less than one."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a provider sent back."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes


class Transport:
    """Posts to one provider. Every failure of the network is a ``TryError``."""

    def __init__(self, clients: Mapping[httpx2.AsyncClient, float], options: HttpOptions) -> None:
        """Calls go to the client with the most room; ``clients`` says how many calls each takes at once."""
        self._room = dict(clients)
        self._options = options

    async def post(self, url: str, headers: Mapping[str, str], content: bytes) -> Response:
        """Send one request and return its response, whatever its status."""
        client = max(self._room, key=lambda client: self._room[client])
        self._room[client] -= 1
        try:
            with anyio.move_on_after(self._options.timeout):
                return await self._post(client, url, headers, content)
        finally:
            self._room[client] += 1
        raise _silent(f"did not answer within {self._options.timeout:g} s")

    async def _post(self, client: httpx2.AsyncClient, url: str, headers: Mapping[str, str], content: bytes) -> Response:
        import httpx2

        try:
            async with client.stream("POST", url, headers=dict(headers), content=content) as response:
                body = await _bounded(response)
            return Response(status=response.status_code, headers=response.headers, body=body)
        except httpx2.ConnectTimeout:
            raise _silent(f"could not be reached within {self._options.connect_timeout:g} s") from None
        except httpx2.TimeoutException:
            raise _silent(f"did not answer within {self._options.timeout:g} s") from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            raise TryError(
                f"could not be reached ({_first_line(error)}); check the network and the provider's base_url",
                tries=MOST_TRIES,
            ) from None
        except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise TryError(f"could not be asked ({_first_line(error)}); correct the provider's base_url") from None
        except httpx2.HTTPError as error:
            raise TryError(f"broke the connection ({_first_line(error)}); try again later", tries=MOST_TRIES) from None


@asynccontextmanager
async def open_transport(options: HttpOptions, most: int | None) -> AsyncIterator[Transport]:
    """Open the connections to one provider: ``most`` at once, where httpx2 would hold calls back at 100."""
    clients = {_client(options, share): share or inf for share in _shares(most)}
    try:
        yield Transport(clients, options)
    finally:
        with anyio.move_on_after(_CLOSING, shield=True):
            for client in clients:
                await client.aclose()


def _shares(most: int | None) -> list[int | None]:
    if most is None:
        return [None]
    full, rest = divmod(most, _SHARE)
    return [*repeat(_SHARE, full), *([rest] if rest else [])]


def _client(options: HttpOptions, most: int | None) -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(
        verify=_certificates(),
        timeout=httpx2.Timeout(options.timeout, connect=options.connect_timeout, pool=None),
        limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most, keepalive_expiry=30.0),
        headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": _agent()},
    )


@lru_cache(maxsize=1)
def _certificates() -> Any:
    """Load the certificates of authorities once: it takes as long as several calls on loopback."""
    import httpx2

    return httpx2.create_ssl_context()


def _agent() -> str:
    from reeval.version import __version__

    return f"reeval/{__version__}"


async def _bounded(response: httpx2.Response) -> bytes:
    """Read the body, and no more than the limit of it."""
    parts: list[bytes] = []
    left = LARGEST_RESPONSE
    async for part in response.aiter_bytes():
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

"""How does one request reach a provider and its response come back, bounded in time and size?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import anyio.to_thread

from reeval.models.failures import MOST_TRIES, TryError
from reeval.models.options import HttpOptions

if TYPE_CHECKING:
    from pyreqwest.client import Client
    from pyreqwest.response import Response as Incoming

__all__ = ["LARGEST_RESPONSE", "Response", "Transport", "open_transport"]

LARGEST_RESPONSE = 2 * 1024 * 1024
"""Bytes: no answer of a few thousand tokens is longer."""
_TIMED_OUT_TRIES = 2
"""A server that was silent to the limit is asked once more: each such try costs the whole limit."""
_CLOSING = 2.0
_KEPT = timedelta(seconds=30)
"""How long a connection is kept without a call."""
_CONNECTING = "client error (Connect)"
"""Among an error's causes: no connection came about. The type of the error is the same for one that broke later."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a provider sent back."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes


class Transport:
    """Posts to one URL. Every failure of the network is a ``TryError``."""

    def __init__(self, client: Client, url: str, options: HttpOptions) -> None:
        self._client = client
        self._url = url
        self._options = options

    async def post(self, content: bytes) -> Response:
        """Send one request and return its response, whatever its status."""
        with anyio.move_on_after(self._options.timeout):
            try:
                return await self._translated(content)
            except anyio.get_cancelled_exc_class():
                # pyreqwest raises one of its own, which no cancel scope would know: let it be the scope's again.
                await anyio.lowlevel.checkpoint_if_cancelled()
                raise
        raise _silent(f"did not answer within {self._options.timeout:g} s")

    async def _translated(self, content: bytes) -> Response:
        from pyreqwest import exceptions

        try:
            async with self._client.post(self._url).body_bytes(content).build_streamed() as response:
                body = await _bounded(response)
                return Response(status=response.status, headers=dict(response.headers), body=body)
        except exceptions.ConnectTimeoutError:
            raise _silent(f"could not be reached within {self._options.connect_timeout:g} s") from None
        except ValueError as error:
            raise TryError(f"could not be asked ({_causes(error)[-1]}); correct the provider's base_url") from None
        except exceptions.RequestError as error:
            *around, cause = _causes(error)
            if _CONNECTING in around:
                reason = f"could not be reached ({cause}); check the network and the provider's base_url"
            else:
                reason = f"broke the connection ({cause}); try again later"
            raise TryError(reason, tries=MOST_TRIES) from None


@asynccontextmanager
async def open_transport(url: str, headers: Mapping[str, str], options: HttpOptions) -> AsyncIterator[Transport]:
    """Give what posts to the URL, with ``headers``; it has as many connections as there are calls at once."""
    client = await anyio.to_thread.run_sync(_client, headers, options)  # it loads a library, certificates
    try:
        yield Transport(client, url, options)
    finally:
        with anyio.move_on_after(_CLOSING, shield=True):
            await client.close()


def _client(headers: Mapping[str, str], options: HttpOptions) -> Client:
    from pyreqwest.client import ClientBuilder

    from reeval.version import __version__

    builder = ClientBuilder().connect_timeout(timedelta(seconds=options.connect_timeout)).pool_idle_timeout(_KEPT)
    # The bound of a response is one of what comes over the network, too: nothing is compressed.
    builder = builder.gzip(enable=False).brotli(enable=False).zstd(enable=False).deflate(enable=False)
    usual = {"accept": "application/json", "user-agent": f"reeval/{__version__}"}
    return builder.follow_redirects(enable=False).default_headers({**usual, **headers}).build()


async def _bounded(response: Incoming) -> bytes:
    """Read the body, and no more than the limit of it."""
    parts: list[bytes] = []
    left = LARGEST_RESPONSE
    while (part := await response.body_reader.read_chunk()) is not None:
        left -= len(part)
        if left < 0:
            limit = LARGEST_RESPONSE // 1024 // 1024
            raise TryError(f"answered with more than {limit} MB; check the provider's base_url, or name another model")
        parts.append(bytes(part))
    return b"".join(parts)


def _silent(reason: str) -> TryError:
    step = "try again later, or raise the time limit in its [provider] table"
    return TryError(f"{reason}; {step}", tries=_TIMED_OUT_TRIES)


def _causes(error: Exception) -> list[str]:
    """Return what went wrong, the innermost last, such as ``Connection refused``."""
    details = getattr(error, "details", None)
    said = [cause["message"] for cause in (details or {}).get("causes") or []]
    return [text.partition("\n")[0][:200] for text in said or [str(error)]]

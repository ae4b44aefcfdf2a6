"""How is an engine's API called without blocking, and what do its errors mean?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.address import Address
from reeval.sandboxes.docker.engine.streams import Stream

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["START_ENGINE", "Engine", "EngineError", "connect"]

T = TypeVar("T")

ANSWER = 60.0
"""Seconds an engine may take to answer a call that does little."""
WORK = 3600.0
"""Seconds for one that builds, pulls or packs; who waits for it has a limit of its own."""
CONNECTIONS = 256
"""Kept open at most: one for each call at the same time."""
START_ENGINE = "start it (sudo systemctl start docker, or Docker Desktop), or set DOCKER_HOST to where it is"

_log = logging.getLogger(__name__)


class EngineError(Exception):
    """The engine refused a call: ``status`` is that of HTTP, ``str`` what it says."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Engine:
    """A connected engine. Calls run in threads; one that is cancelled is left to end by itself."""

    def __init__(self, open: Callable[[float], APIClient], address: Address) -> None:
        """``open`` makes a client, given the seconds that its calls may take."""
        self._open = open
        self._client = open(ANSWER)
        self._patient: APIClient | None = None
        self._lock = Lock()
        self.address = address

    @property
    def name(self) -> str:
        """Where it is, for a message."""
        return self.address.url

    def now(self, what: Callable[[APIClient], T], *, patient: bool = False) -> T:
        """Call the API in this thread; raise ``EngineError`` when it refuses, ``InfrastructureError`` when it is gone.

        ``patient``: it may take an hour, as building may; a minute otherwise.
        """
        with _translated(self.name):
            return what(self._patient_client() if patient else self._client)

    async def call(
        self, what: Callable[[APIClient], T], *, undo: Callable[[T], object] | None = None, patient: bool = False
    ) -> T:
        """Call the API in a thread; what an abandoned call still brings about is undone by ``undo``."""
        from anyio import CapacityLimiter, to_thread

        abandoned = Event()

        def called() -> T:
            result = self.now(what, patient=patient)
            if undo is not None and abandoned.is_set():
                with suppress(EngineError, InfrastructureError):
                    undo(result)
            return result

        try:
            # A limiter of its own for each: calls that hang must not keep those that clean up from running.
            return await to_thread.run_sync(called, abandon_on_cancel=True, limiter=CapacityLimiter(1))
        except BaseException:
            abandoned.set()
            raise

    async def stream(self, path: str, *, data: Any = None, params: Any = None) -> Stream:
        """POST and take the connection over for a stream in both directions."""
        return await self.call(lambda client: _taken_over(client, path, data, params), undo=Stream.close)

    def close(self) -> None:
        """Let go of its connections."""
        for client in (self._client, self._patient):
            if client is not None:
                client.close()

    def _patient_client(self) -> APIClient:
        with self._lock:
            if self._patient is None:
                self._patient = self._open(WORK)
            return self._patient


def connect(address: Address) -> Engine:
    """Return the engine at an address, with the version that both speak; raise ``InfrastructureError``."""
    from docker import APIClient
    from docker.errors import DockerException

    def open_client(timeout: float) -> APIClient:
        return APIClient(
            base_url=address.url, tls=address.tls or False, version="auto", timeout=timeout, max_pool_size=CONNECTIONS
        )

    try:
        return Engine(open_client, address)
    except DockerException as error:
        because = f" ({address.why} says so)" if address.why else ""
        reason = f"no container engine answers at {address.url}{because}; {START_ENGINE}"
        raise InfrastructureError(Phase.SANDBOX, reason, retryable=True, detail=str(error)) from error


def _taken_over(client: APIClient, path: str, data: Any, params: Any) -> Stream:
    # The library's own ways lose what comes in the same packet as the answer's head.
    url, headers = client._url(path), {"Connection": "Upgrade", "Upgrade": "tcp"}  # noqa: SLF001 - see above
    given = {"params": params, "headers": headers, "stream": True, "timeout": ANSWER}
    if data is None:
        # No body at all: an engine that does not read it gives it to the process as the head of its input.
        response = client._post(url, **given)  # noqa: SLF001 - likewise
    else:
        response = client._post_json(url, data=data, **given)  # noqa: SLF001 - likewise
    client._raise_for_status(response)  # noqa: SLF001 - likewise
    return Stream(response)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except APIError as error:
        raise EngineError(error.status_code or 0, str(error.explanation or error)) from error
    except (DockerException, RequestException, HTTPError, OSError) as error:
        _log.debug("the engine at %s: %r", name, error)
        raise InfrastructureError(
            Phase.SANDBOX, f"the container engine at {name} does not answer any more", detail=str(error)[:2000]
        ) from error

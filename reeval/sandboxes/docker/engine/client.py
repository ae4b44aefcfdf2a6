"""How is an engine's API called without blocking, and what do its errors mean?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.address import Address
from reeval.sandboxes.docker.engine.streams import Stream

if TYPE_CHECKING:
    from docker import APIClient

__all__ = ["Engine", "EngineError", "connect", "explaining"]

T = TypeVar("T")

ANSWER = 60.0
"""Seconds an engine may take to answer a call that does little."""
WORK = 3600.0
"""Seconds for one that builds, pulls or packs; who waits for it has a limit of its own."""
UNDO, POLL = 10.0, 0.01
"""Seconds that a cancelled call is waited for when what it brings about must be undone, and between two looks."""
SERVER_ERROR = 500
CONNECTIONS = 256
"""Kept open at most: one for each call at the same time."""
START_ENGINE = "start it (sudo systemctl start docker, or Docker Desktop), or set DOCKER_HOST to where it is"

_log = logging.getLogger(__name__)


class EngineError(InfrastructureError):
    """The engine refused a call: ``status`` is that of HTTP, ``said`` what it says."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(Phase.SANDBOX, f"the container engine refused: {said}"[:2000])
        self.status = status
        self.said = said

    def explained(self, what: str, *, starting: bool = False) -> InfrastructureError:
        """Return the same for a person: ``what`` is the matter, and what the engine says.

        ``starting``: of an attempt, which is tried again where the fault is the engine's own.
        """
        retryable = starting and self.status >= SERVER_ERROR
        return InfrastructureError(self.phase, f"{what}: {self.said}", retryable=retryable)


@contextmanager
def explaining(what: str) -> Iterator[None]:
    """Say ``what`` is the matter when the engine refuses a call in the block."""
    try:
        yield
    except EngineError as error:
        raise error.explained(what) from error


class Engine:
    """A connected engine. Calls run in threads; one that is cancelled is left to end by itself."""

    def __init__(self, open: Callable[[float], APIClient], name: str) -> None:
        """``open`` makes a client, given the seconds that its calls may take; ``name``: where it is, for a message."""
        self._open = open
        self._client = open(ANSWER)
        self._patient: APIClient | None = None
        self._lock = Lock()
        self.name = name

    def now(self, what: Callable[[APIClient], T], *, patient: bool = False) -> T:
        """Call the API in this thread; raise ``EngineError`` when it refuses, ``InfrastructureError`` when it is lost.

        ``patient``: it may take an hour, as building may; a minute otherwise.
        """
        with _translated(self.name):
            return what(self._patient_client() if patient else self._client)

    async def call(
        self, what: Callable[[APIClient], T], *, undo: Callable[[T], object] | None = None, patient: bool = False
    ) -> T:
        """Call the API in a thread; ``undo`` takes back what a cancelled one still brings about."""
        from anyio import CancelScope, CapacityLimiter, move_on_after, sleep, to_thread

        late = _Late(undo)

        def called() -> T:
            with late:
                return late.kept(self.now(what, patient=patient))

        try:
            # A limiter of its own for each: calls that hang must not keep those that clean up from running.
            return await to_thread.run_sync(called, abandon_on_cancel=True, limiter=CapacityLimiter(1))
        except BaseException:
            late.abandon()
            if undo is not None:
                with CancelScope(shield=True), move_on_after(UNDO):
                    while not late.over:  # noqa: ASYNC110 - a thread says so
                        await sleep(POLL)
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


class _Late(Generic[T]):
    """What a call brings about, and whether somebody still waits for it; decided under one lock."""

    def __init__(self, undo: Callable[[T], object] | None) -> None:
        self._undo = undo
        self._lock = Lock()
        self._abandoned = False
        self._results: list[T] = []
        self.over = False
        """The call has ended, and what was to be undone is."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.over = True

    def kept(self, result: T) -> T:
        """Take the result of the call."""
        with self._lock:
            self._results.append(result)
            abandoned = self._abandoned
        if abandoned:
            self._take_back()
        return result

    def abandon(self) -> None:
        """Say that nobody waits any more, perhaps when the result is there already."""
        with self._lock:
            self._abandoned = True
            finished = bool(self._results)
        if finished and self._undo is not None:
            self.over = False
            Thread(target=self._undone, daemon=True).start()

    def _undone(self) -> None:
        with self:
            self._take_back()

    def _take_back(self) -> None:
        if self._undo is not None:
            with suppress(InfrastructureError):
                self._undo(self._results[0])


def connect(address: Address) -> Engine:
    """Return the engine at an address, with the version that both speak; raise ``InfrastructureError``."""
    from docker import APIClient
    from docker.errors import DockerException

    def open_client(timeout: float) -> APIClient:
        return APIClient(
            base_url=address.url, tls=address.tls or False, version="auto", timeout=timeout, max_pool_size=CONNECTIONS
        )

    try:
        return Engine(open_client, address.url)
    except DockerException as error:
        because = f" ({address.why} says so)" if address.why else ""
        reason = f"no container engine answers at {address.url}{because}; {START_ENGINE}"
        raise InfrastructureError(Phase.SANDBOX, reason, retryable=True, detail=str(error)) from error


def _taken_over(client: APIClient, path: str, data: Any, params: Any) -> Stream:
    # The library's own ways lose what comes in the same packet as the answer's head.
    url, headers = client._url(path), {"Connection": "Upgrade", "Upgrade": "tcp"}  # noqa: SLF001 - see above
    given = {"params": params, "headers": headers, "stream": True, "timeout": ANSWER}
    # No body at all without data: an engine that does not read it gives it to the process as the head of its input.
    body = {} if data is None else {"data": data}
    response = (client._post_json if body else client._post)(url, **body, **given)  # noqa: SLF001 - likewise
    try:
        client._raise_for_status(response)  # noqa: SLF001 - likewise
        return Stream(response)
    except BaseException:
        response.close()
        raise


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

"""How does an agent behind a URL take part? Each turn posts JSON and reads an answer, whole or as a stream."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import anyio
import msgspec

from reeval.addresses import is_address
from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.options import typed_options
from reeval.harnesses.program.answers import EventAnswer
from reeval.harnesses.remote.answers import Body, body_for
from reeval.harnesses.remote.quoting import quoted
from reeval.harnesses.remote.refusals import PASSING, refused, wait_before
from reeval.protocols import HarnessKind, Room
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Turn
from reeval.usage import Pricing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2

__all__ = ["KIND", "HttpAgentOptions"]

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_READ_OF_REFUSAL = 4_000
"""Bytes of a refusal that are looked at."""
_CLOSING = 2.0
_KEPT = frozenset({"prompt", "session", "turn", "model", "effort"})


@dataclass(frozen=True, kw_only=True)
class HttpAgentOptions:
    """The options of a ``[harness.NAME]`` table with ``kind = "http"``."""

    url: str
    """Where each turn is posted to."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of each request; ``${NAME}`` stands for a variable of the agent's (``env``), where secrets belong."""
    body: dict[str, Any] = field(default_factory=dict)
    """More keys of each request's JSON."""
    retries: int = 2
    """Further tries when the agent cannot be reached, or says that it cannot answer now (408, 425, 429, 502 to 504)."""
    connect_timeout: float = 10.0
    """Seconds."""
    turn_timeout: float | None = None
    """Seconds that a turn may take; then it is a failed turn."""
    unreported: tuple[Channel, ...] = ()
    """Kinds of evidence it never reports, so that checks of them are unavailable."""

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        if not is_address(self.url):
            raise ValueError(f"a url such as 'http://localhost:8000/ask', not {self.url!r}")
        if not 0 <= self.retries <= 10:
            raise ValueError(f"retries from 0 to 10, not {self.retries!r}")
        if not 0 < self.connect_timeout < float("inf"):
            raise ValueError(f"a connect_timeout of more than 0 seconds, not {self.connect_timeout!r}")
        if self.turn_timeout is not None and not 0 < self.turn_timeout < float("inf"):
            raise ValueError(f"a turn_timeout of more than 0 seconds, not {self.turn_timeout!r}")
        if taken := _KEPT & self.body.keys():
            raise ValueError(f"a body without {min(taken)!r}, which each turn sets")


class _Harness:
    """One configured agent."""

    def __init__(self, planned: PlannedHarness, _root: Path) -> None:
        self.options = typed_options(planned.options, HttpAgentOptions, f"[harness.{planned.id}]")
        chosen = {"model": planned.model, "effort": planned.effort}
        self.body = {**self.options.body, **{name: value for name, value in chosen.items() if value is not None}}

    def session(self, room: Room) -> _Session:
        """Start a conversation: nothing is sent before the first turn."""
        return _Session(self, room)


class _Session:
    """One conversation, over connections of its own."""

    def __init__(self, harness: _Harness, room: Room) -> None:
        self._harness = harness
        self._room = room
        self._turn = 0
        # From the key, not by chance: an attempt that runs again from its plan gives the same record.
        self._id = hashlib.sha256(room.key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._client: httpx2.AsyncClient | None = None
        self._headers: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Fill in the headers."""
        import httpx2

        options = self._harness.options
        self._headers = {name: _header(name, value, self._room.env) for name, value in options.headers.items()}
        self._client = httpx2.AsyncClient(
            verify=_certificates(),
            timeout=httpx2.Timeout(None, connect=options.connect_timeout),
            headers={"accept": "application/json, text/event-stream", "accept-encoding": "identity"},
        )
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close the connections."""
        if self._client is not None:
            with anyio.move_on_after(_CLOSING, shield=True):
                await self._client.aclose()

    async def send(self, prompt: str) -> Turn:
        """Post a prompt and make a turn of what comes back."""
        options, answer = self._harness.options, EventAnswer(frozenset(self._harness.options.unreported))
        self._turn += 1
        request = {**self._harness.body, "prompt": prompt, "session": self._id, "turn": self._turn}
        with anyio.move_on_after(options.turn_timeout):
            streams, session = await self._ask(_json(request), answer)
            self._id = session or self._id
            return answer.turn(prompt, self._id, _error(answer, streams=streams))
        return answer.turn(prompt, self._id, f"no end within {options.turn_timeout:g} s (turn_timeout)")

    async def _ask(self, content: bytes, answer: EventAnswer) -> tuple[bool, str | None]:
        """Fill the answer, with as many tries as there are; return whether it was a stream, and the agent's session."""
        attempt = 0
        while True:
            attempt += 1
            async with self._posted(content, last=attempt > self._harness.options.retries) as response:
                if response is not None and 200 <= response.status_code < 300:
                    return await _read(response, answer)
                headers = {} if response is None else dict(response.headers)
                wait = wait_before(attempt, headers)
                again = attempt <= self._harness.options.retries and wait is not None
                if response is not None and not (again and response.status_code in PASSING):
                    body = await _head(response)
                    raise refused(response.status_code, response.headers.get("location"), body, attempt)
            await anyio.sleep(wait or 0.0)

    @asynccontextmanager
    async def _posted(self, content: bytes, *, last: bool) -> AsyncIterator[httpx2.Response | None]:
        """Post and yield the response; None: the agent could not be reached, which another try may mend."""
        import httpx2

        assert self._client is not None
        url, headers = self._harness.options.url, {**self._headers, "content-type": "application/json"}
        try:
            async with self._client.stream("POST", url, headers=headers, content=content) as response:
                yield response
                return
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if last:
                raise _broken("could not be reached", error, "check that it runs, and the url") from None
        except (httpx2.LocalProtocolError, httpx2.InvalidURL) as error:
            raise _broken("could not be asked", error, "correct the url and the headers") from None
        except httpx2.HTTPError as error:
            # Not again: it may have done what the prompt asks.
            raise _broken("broke the connection", error, "look into its log") from None
        yield None


async def _read(response: httpx2.Response, answer: EventAnswer) -> tuple[bool, str | None]:
    body: Body = body_for(response.headers.get("content-type", ""))
    async for chunk in response.aiter_bytes():
        body.feed(chunk, answer)
        if answer.ended:
            break
    body.end(answer)
    return body.streams, body.session


async def _head(response: httpx2.Response) -> bytes:
    """Return the beginning of a body, and no more than there is within a moment."""
    head = b""
    with anyio.move_on_after(_CLOSING):
        async for chunk in response.aiter_bytes():
            head += chunk
            if len(head) >= _READ_OF_REFUSAL:
                break
    return head[:_READ_OF_REFUSAL]


def _error(answer: EventAnswer, *, streams: bool) -> str | None:
    """Return why the agent failed; a stream that breaks off is no answer."""
    if streams and not answer.ended and answer.failed is None:
        reason = 'the agent\'s stream ended without a \'done\' event; send {"type": "done"} as the last event of a turn'
        raise InfrastructureError(Phase.HARNESS, reason)
    return answer.error(0, "")


def _broken(what: str, error: Exception, step: str) -> InfrastructureError:
    why = str(error) or type(error).__name__
    return InfrastructureError(Phase.HARNESS, f"the agent {what} ({quoted(why)}); {step}")


def _header(name: str, value: str, env: Mapping[str, str]) -> str:
    """Return a header's value, which no error may quote."""
    filled = _filled(value, env, name)
    if not f"{name}{filled}".isascii() or not filled.isprintable():
        step = "correct it, or set the variable that it names again"
        raise InfrastructureError(Phase.HARNESS, f"the header {name!r} holds characters that no header has; {step}")
    return filled


def _filled(value: str, env: Mapping[str, str], header: str) -> str:
    def variable(found: re.Match[str]) -> str:
        if found[1] not in env:
            step = f"give it in env, such as env = {{ {found[1]} = {{ from = {found[1]!r} }} }}"
            reason = f"the header {header!r} names {found[1]}, which is no variable of the agent; {step}"
            raise InfrastructureError(Phase.HARNESS, reason)
        return env[found[1]]

    return _VARIABLE.sub(variable, value)


def _json(request: dict[str, Any]) -> bytes:
    prompt = request["prompt"].encode("utf-8", "replace").decode()
    return msgspec.json.encode({**request, "prompt": prompt})


@lru_cache(maxsize=1)
def _certificates() -> Any:
    """Load the certificates of authorities once."""
    import httpx2

    return httpx2.create_ssl_context()


def _unreported(options: Mapping[str, Any]) -> frozenset[Channel]:
    return frozenset(typed_options(options, HttpAgentOptions, "a harness of kind 'http'").unreported)


KIND = HarnessKind(
    name="http",
    options=HttpAgentOptions,
    open=_Harness,
    unreported=_unreported,
    pricing=lambda planned, _: Pricing(given=Channel.COST not in _unreported(planned.options)),
    in_process=True,
)
"""An agent behind a URL. It works elsewhere: nothing of it runs in the attempt's sandbox."""

"""How is a conversation held with an agent that speaks the protocol? One process, one session, for all turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from msgspec.structs import replace

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.acp_client.link import Link, RefusedError
from reeval.harnesses.acp_client.updates import Updates
from reeval.harnesses.agents.answer import may_pass
from reeval.harnesses.agents.streams.failures import failure
from reeval.harnesses.agents.streams.reading import at, listed, text_at
from reeval.harnesses.program.answers import EventAnswer
from reeval.schema.environment import McpServer
from reeval.schema.transcript import Channel, Turn
from reeval.version import __version__

__all__ = ["AcpSession", "Wish"]

_PROTOCOL = 1
_LAST_WORDS = 5.0
"""Seconds that an agent may take to end a turn that it was told to cancel."""
_ENDINGS = {
    "max_tokens": "the answer was cut: it has as many tokens as the model may give (max_tokens)",
    "max_turn_requests": "the agent called its model as often as it may in a turn (max_turn_requests)",
    "refusal": "the agent refused to go on (refusal)",
    "cancelled": "the agent says that its turn was cancelled",
}
_LOGIN_NEEDED = -32000


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a session is to be like."""

    owner: str
    """``[harness.NAME]``"""
    workspace: str
    model: str | None = None
    effort: str | None = None
    mode: str | None = None
    auth: str | None = None
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    unreported: frozenset[Channel] = frozenset()
    turn_timeout: float


class AcpSession:
    """One conversation."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._updates = Updates(wish.workspace, tuple(wish.mcp))
        self._answer: EventAnswer | None = None
        self._link: Link | None = None
        self._session = ""
        self._agent: str | None = None
        self._turns = 0

    def update(self, update: Any) -> None:
        """Take what the agent tells of its turn; between turns it tells nothing that counts."""
        if self._answer is not None:
            self._answer.take(self._updates.read(update))

    def note(self, text: str) -> None:
        """Take a note about something odd."""
        if self._answer is not None:
            self._answer.take((text,))

    async def start(self, link: Link) -> None:
        """Say hello and begin a session; raise ``InfrastructureError`` (phase ``harness``)."""
        self._link, wish = link, self._wish
        told = await self._ask("initialize", _hello())
        if (version := at(told, "protocolVersion")) != _PROTOCOL:
            reason = f"{wish.owner}: the agent speaks version {version!r} of the protocol, not {_PROTOCOL}"
            raise InfrastructureError(Phase.HARNESS, reason)
        agent = at(told, "agentInfo")
        self._agent = " ".join(filter(None, (text_at(agent, part) for part in ("name", "version")))) or None
        ways = ", ".join(text_at(way, "id") for way in listed(told, "authMethods"))
        if wish.auth is not None:
            await self._ask("authenticate", {"methodId": wish.auth}, ways)
        servers = [_server(name, server) for name, server in wish.mcp.items()]
        begun = await self._ask("session/new", {"cwd": wish.workspace, "mcpServers": servers}, ways)
        self._session = text_at(begun, "sessionId")
        if wish.mode is not None:
            await self._ask("session/set_mode", {"sessionId": self._session, "modeId": wish.mode})
        await self._choose(begun)

    async def send(self, prompt: str) -> Turn:
        """Send a prompt and make a turn of what the agent tells until it has answered."""
        self._turns += 1
        self._updates.begin()
        answer = self._answer = EventAnswer(self._wish.unreported)
        try:
            error = await self._prompt(prompt)
            answer.take(self._updates.rest())
        finally:
            self._answer = None
        return replace(answer.turn(prompt, self._session, error), session=self._session, agent=self._agent)

    async def _prompt(self, prompt: str) -> str | None:
        """Return why the turn failed, None when it did not; raise ``InfrastructureError`` when it was not the agent."""
        assert self._link is not None
        link, limit, told = self._link, self._wish.turn_timeout, _Told()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(told.prompt, link, self._session, prompt)
            with anyio.move_on_after(limit):
                await told.done.wait()
            if not told.done.is_set():
                # So that another turn can follow; an agent that does not listen is ended.
                with anyio.move_on_after(_LAST_WORDS):
                    await link.tell("session/cancel", {"sessionId": self._session})
                    await told.done.wait()
                if not told.done.is_set():
                    await link.kill()
                    tasks.cancel_scope.cancel()
                return f"no end within {limit:g} s (turn_timeout)"
        return self._ending(told)

    def _ending(self, told: _Told) -> str | None:
        if told.died is not None:
            raise told.died
        if told.refused is not None:
            if told.refused.code == _LOGIN_NEEDED:
                reason = f"{self._wish.owner}: the agent is not logged in: {told.refused}"
                raise InfrastructureError(Phase.HARNESS, reason)
            failed = failure(str(told.refused))
            if failed.kind == "provider":
                first = self._turns == 1
                reason = f"{self._agent or self._wish.owner}: {failed.message}"
                raise InfrastructureError(Phase.MODEL, reason, retryable=first and may_pass(failed.message))
            return failed.message
        reason = text_at(told.result, "stopReason")
        return None if reason == "end_turn" else _ENDINGS.get(reason, f"the agent ended its turn with {reason[:100]!r}")

    async def _choose(self, begun: Any) -> None:
        """Choose model and effort, where the agent lets its client choose."""
        options = listed(begun, "configOptions")
        for word, category, value in (
            ("model", "model", self._wish.model),
            ("effort", "thought_level", self._wish.effort),
        ):
            if value is None:
                continue
            option = next((one for one in options if at(one, "category") == category), None)
            if option is not None:
                chosen = {"sessionId": self._session, "configId": text_at(option, "id"), "value": value}
                # What else there is to choose may depend on the model.
                options = listed(await self._ask("session/set_config_option", chosen), "configOptions") or options
            elif word == "model" and at(begun, "models") is not None:
                await self._ask("session/set_model", {"sessionId": self._session, "modelId": value})
            else:
                reason = f"the agent offers no choice of {word}; drop {word}, or set it in its own config"
                raise InfrastructureError(Phase.HARNESS, f"{self._wish.owner}: {reason}")

    async def _ask(self, method: str, params: dict[str, Any], ways: str = "") -> Any:
        assert self._link is not None
        try:
            return await self._link.ask(method, params)
        except RefusedError as error:
            reason = f"{self._wish.owner}: the agent answered {method} with an error: {error}"
            if error.code == _LOGIN_NEEDED:
                known = f"auth, which may be {ways}" if ways else "auth"
                reason += f"; give it the variable that holds its key, or set {known}"
            raise InfrastructureError(Phase.HARNESS, reason) from None


class _Told:
    """What came of a prompt."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.result: Any = None
        self.refused: RefusedError | None = None
        self.died: InfrastructureError | None = None

    async def prompt(self, link: Link, session: str, prompt: str) -> None:
        """Send it and keep its outcome: an error here would cancel who waits for it."""
        blocks = [{"type": "text", "text": prompt}]
        try:
            self.result = await link.ask("session/prompt", {"sessionId": session, "prompt": blocks})
        except RefusedError as error:
            self.refused = error
        except InfrastructureError as error:
            self.died = error
        self.done.set()


def _hello() -> dict[str, Any]:
    # The agent stands in the sandbox itself: it needs nobody to read and write files for it.
    return {
        "protocolVersion": _PROTOCOL,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "reeval", "version": __version__},
    }


def _server(name: str, server: McpServer) -> dict[str, Any]:
    if server.kind == "http":
        headers = [{"name": key, "value": value} for key, value in server.headers.items()]
        return {"type": "http", "name": name, "url": server.url, "headers": headers}
    variables = [{"name": key, "value": value} for key, value in server.env.items()]
    command, *args = server.command
    return {"name": name, "command": command, "args": args, "env": variables}

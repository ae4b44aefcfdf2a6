"""How does any agent that speaks the Agent Client Protocol take part? One process for all turns, over its stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.programs.install import install
from reeval.harnesses.layouts import named_layout
from reeval.harnesses.options import typed_options
from reeval.harnesses.program.files import digest_of, place_files, read_files
from reeval.protocols import HarnessKind, Process, Room, Sandbox
from reeval.schema.environment import Layout
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel

__all__ = ["KIND", "AcpOptions"]

Installable = Literal["gemini", "opencode", "qwen"]

_UNREPORTED = frozenset(
    {Channel.USAGE, Channel.COST, Channel.MODEL, Channel.MCP, Channel.SKILLS, Channel.SEARCHES, Channel.FETCHES}
)
"""The protocol has no names of tools, only titles for people; tokens are told by few, and each means another sum."""


@dataclass(frozen=True, kw_only=True)
class AcpOptions:
    """The options of a ``[harness.NAME]`` table with ``kind = "acp"``."""

    command: str | tuple[str, ...]
    """What starts the agent in the workspace: a shell string, or an argv list."""
    install: Installable | None = None
    """Install the program of this agent once, into the cache of this machine, and put it on the ``PATH``."""
    version: str | None = None
    """With ``install``: the version."""
    mode: str | None = None
    """The agent's mode to work in, by its id (``yolo``)."""
    auth: str | None = None
    """The agent's way to log in, by its id, for those that ask for one."""
    env: dict[str, str] = field(default_factory=dict)
    """Plain variables of the program; secrets come from the ``env`` of the eval, the environment or the defaults."""
    files: dict[str, str] = field(default_factory=dict)
    """Path in the sandbox (best ``~/…``) → file or directory of the project, placed before the agent starts."""
    hosts: tuple[str, ...] = ()
    """Hosts of its models, which its attempts may reach."""
    layout: str | None = None
    """Where it reads rules and skills, by the name of an agent; default ``AGENTS.md`` and ``.agents/skills``."""
    turn_timeout: float = 3600.0
    """Seconds that a turn may take; then it is a failed turn."""

    def __post_init__(self) -> None:
        """Refuse what cannot be used."""
        words = (self.command,) if isinstance(self.command, str) else self.command
        if not words or not words[0].strip():
            raise ValueError("a command with a program and its arguments, not an empty one")
        if not 0 < self.turn_timeout < float("inf"):
            raise ValueError(f"a turn_timeout of more than 0 seconds, not {self.turn_timeout!r}")
        if self.version is not None and self.install is None:
            raise ValueError(f"a version only with install, which {self.version!r} is to be installed of")
        named_layout(self.layout)


class _Harness:
    """One configured agent."""

    def __init__(self, planned: PlannedHarness, root: Path) -> None:
        self.planned = planned
        self.owner = f"[harness.{planned.id}]"
        self.options = typed_options(planned.options, AcpOptions, self.owner)
        self.files = read_files(self.options.files, root, self.owner)

    @asynccontextmanager
    async def session(self, room: Room) -> AsyncIterator[Any]:
        """Start the agent and a conversation with it."""
        from reeval.harnesses.acp_client.link import linked
        from reeval.harnesses.acp_client.session import AcpSession, Wish

        sandbox, options = await room.sandbox(), self.options
        await place_files(self.files, sandbox)
        wish = Wish(
            owner=self.owner,
            workspace=sandbox.workspace,
            model=self.planned.model,
            effort=self.planned.effort,
            mode=options.mode,
            auth=options.auth,
            mcp=room.mcp,
            unreported=_UNREPORTED,
            turn_timeout=options.turn_timeout,
        )
        session = AcpSession(wish)
        async with AsyncExitStack() as stack:
            process = await self._started(stack, sandbox, {**room.env, **options.env})
            link = await stack.enter_async_context(linked(process, self.owner, session.update, session.note))
            await session.start(link)
            yield session

    async def _started(self, stack: AsyncExitStack, sandbox: Sandbox, env: Mapping[str, str]) -> Process:
        command = self.options.command
        try:
            return await stack.enter_async_context(
                sandbox.start(command if isinstance(command, str) else list(command), env=env, stdin="open")
            )
        except OSError as error:
            said = error.strerror or error
            reason = f"{self.owner}: the program could not be started: {said}; correct 'command'"
            raise InfrastructureError(Phase.HARNESS, reason) from error


def _options(options: Mapping[str, Any], owner: str = "a harness of kind 'acp'") -> AcpOptions:
    return typed_options(options, AcpOptions, owner)


def _layout(options: Mapping[str, Any]) -> Layout:
    return named_layout(_options(options).layout)


def _fingerprint(planned: PlannedHarness, root: Path) -> str:
    owner = f"[harness.{planned.id}]"
    options = _options(planned.options, owner)
    words = [digest_of(read_files(options.files, root, owner))]
    if options.install is not None:
        words.append(f"{options.install} {options.version or agent_named(options.install).package.version}")
    return " ".join(filter(None, words))


def _programs(planned: PlannedHarness) -> tuple[str, ...]:
    options = _options(planned.options, f"[harness.{planned.id}]")
    if options.install is None:
        return ()
    package = agent_named(options.install).package
    return (str(install(package, options.version or package.version)),)


def _hosts(planned: PlannedHarness, _env: Mapping[str, str]) -> tuple[str, ...]:
    return _options(planned.options).hosts


KIND = HarnessKind(
    name="acp",
    options=AcpOptions,
    open=_Harness,
    layout=_layout,
    unreported=lambda _: _UNREPORTED,
    fingerprint=_fingerprint,
    mcp=lambda _: frozenset({"stdio", "http"}),
    hosts=_hosts,
    programs=_programs,
)
"""Any agent that speaks the Agent Client Protocol."""

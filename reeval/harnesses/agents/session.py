"""How is a conversation with a coding agent held? Its program is started anew for each turn, and goes on by its id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from msgspec.structs import replace

from reeval.errors import InfrastructureError, Phase, UsageError
from reeval.harnesses.agents.agent import Agent, AgentFile, Call, Ending, Invocation
from reeval.harnesses.agents.answer import AgentAnswer
from reeval.harnesses.agents.login import key_for, login_problem
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.placing import place
from reeval.harnesses.agents.pricing import priced, pricing_of
from reeval.harnesses.agents.programs.find import Found, find_program, version_of
from reeval.harnesses.agents.programs.install import place_of
from reeval.harnesses.program.running import Start, run_program
from reeval.protocols import Room, Sandbox
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Turn

__all__ = ["AgentHarness", "AgentSession", "Ready"]

_LONGEST_ARGUMENT = 131_071
"""Bytes. Linux takes no longer single argument, whatever ``ARG_MAX`` says."""
_MOST_RESULT = 64 << 20
"""Bytes of a result file."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A program that was found."""

    found: Found
    version: str | None
    key: str | None


class AgentHarness:
    """One configured agent."""

    def __init__(self, agent: Agent, planned: PlannedHarness, options: AgentOptions) -> None:
        self.agent = agent
        self.planned = planned
        self.options = options
        self.owner = f"[harness.{planned.id}]"
        self._versions: dict[str, str | None] = {}

    @asynccontextmanager
    async def session(self, room: Room) -> AsyncIterator[AgentSession]:
        """Start a conversation: the program is looked for, and started with the first turn."""
        ready = await self.ready(room)
        yield AgentSession(self, room, ready, await room.sandbox())

    async def ready(self, room: Room) -> Ready:
        """Find the program, its version and the key; raise ``InfrastructureError`` (phase ``harness``)."""
        if (why := login_problem(self.agent, self.options, room.env)) is not None:
            raise InfrastructureError(Phase.HARNESS, f"{self.owner}: {why}")
        sandbox = await room.sandbox()
        wanted = self._program()
        found = await find_program(sandbox, wanted)
        if found is None:
            raise InfrastructureError(Phase.HARNESS, self._missing(wanted))
        version = await self._version(found, sandbox)
        pinned = self.options.version
        if pinned is not None and version != pinned:
            has = "tells no version" if version is None else f"is version {version}"
            reason = (
                f"{self.owner}: {found.path} {has}, not the {pinned} that is asked for; "
                "change version, or write install = true in place of program"
            )
            raise InfrastructureError(Phase.HARNESS, reason)
        return Ready(found=found, version=version, key=key_for(self.agent, self.options, room.env))

    def _program(self) -> str:
        package = self.agent.package
        if self.options.install:
            return str(place_of(package, self.options.version or package.version) / "bin" / package.program)
        return self.options.program or package.program

    async def _version(self, found: Found, sandbox: Sandbox) -> str | None:
        if self.options.install:
            return self.options.version or self.agent.package.version
        if found.identity not in self._versions:
            command = [found.path, *self.agent.package.version_args]
            self._versions[found.identity] = await version_of(sandbox, command, self.options.env)
        return self._versions[found.identity]

    def _missing(self, wanted: str) -> str:
        if self.options.install:
            return f"{self.owner}: this sandbox does not hold {wanted}, which install = true put on this machine"
        return (
            f"{self.owner}: there is no program {wanted!r} in the sandbox; write install = true to have "
            f"{self.agent.package.name} installed, or program = its absolute path in there"
        )


class AgentSession:
    """One conversation."""

    def __init__(self, harness: AgentHarness, room: Room, ready: Ready, sandbox: Sandbox) -> None:
        self._harness = harness
        self._room = room
        self._ready = ready
        self._sandbox = sandbox
        self._translator = harness.agent.translator(sandbox.workspace, tuple(room.mcp))
        self._placed: dict[str, AgentFile] = {}
        self._turns = 0

    async def send(self, prompt: str) -> Turn:
        """Run the program with a prompt and make a turn of what it printed."""
        harness, translator = self._harness, self._translator
        if self._turns and not harness.agent.resumes:
            reason = f"{harness.agent.name} cannot go on with a conversation; send it everything in one prompt"
            raise UsageError(f"{harness.owner}: {reason}, or use another agent")
        limit, first = harness.options.turn_timeout, self._turns == 0
        self._turns += 1
        translator.begin()
        answer = AgentAnswer(harness.agent.name, translator, harness.agent.unreported, first=first)
        error: str | None
        with anyio.move_on_after(limit) as scope:
            error = answer.end(await self._run(prompt, answer))
        if scope.cancelled_caught:
            error = answer.cut(f"no end within {limit:g} s (turn_timeout)")
        pricing = pricing_of(harness.agent, harness.planned, harness.options, self._room.env)
        turn = await priced(answer.turn(prompt, translator.session or "", error), pricing)
        return replace(turn, session=translator.session, agent=self._agent())

    async def _run(self, prompt: str, answer: AgentAnswer) -> Ending:
        harness, sandbox = self._harness, self._sandbox
        invocation = harness.agent.invoke(self._call(prompt))
        _refuse_long(invocation)
        await place(invocation.files, sandbox, self._placed)
        start = Start(
            command=[self._ready.found.path, *invocation.args, *harness.options.args],
            env={**self._room.env, **self._key_variable(), **invocation.env, **harness.options.env},
            stdin=invocation.stdin,
            exit_grace=harness.agent.exit_grace,
            mend=f"look at {harness.owner}",
        )
        exit_code, stderr = await run_program(sandbox, start, answer)
        return Ending(exit_code=exit_code, stderr=stderr, result=await self._result(invocation))

    def _call(self, prompt: str) -> Call:
        planned, room = self._harness.planned, self._room
        return Call(
            prompt=prompt,
            session=self._translator.session,
            key=self._ready.key,
            model=planned.model,
            effort=planned.effort,
            options=self._harness.options,
            home=self._ready.found.home,
            workspace=self._sandbox.workspace,
            env=room.env,
            mcp=room.mcp,
        )

    def _key_variable(self) -> dict[str, str]:
        return {} if self._ready.key is None else {self._harness.agent.keys[0]: self._ready.key}

    async def _result(self, invocation: Invocation) -> bytes | None:
        if invocation.result is None:
            return None
        try:
            return await self._sandbox.read(invocation.result, _MOST_RESULT)
        except OSError:
            return None

    def _agent(self) -> str:
        return " ".join(filter(None, (self._harness.agent.name, self._ready.version)))


def _refuse_long(invocation: Invocation) -> None:
    for word in invocation.args:
        size = len(word.encode("utf-8", "replace"))
        if "\0" in word or size > _LONGEST_ARGUMENT:
            what = "holds a NUL character" if "\0" in word else f"has {size} bytes, more than an argument can"
            raise InfrastructureError(Phase.HARNESS, f"an argument, such as the prompt, {what}; make it shorter")

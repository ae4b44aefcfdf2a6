"""What does a scripted agent do? It plays steps that really happen in the sandbox, without any model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses.bounds import OUTPUT_LIMIT, cut
from reeval.harnesses.layouts import named_layout
from reeval.harnesses.options import typed_options
from reeval.protocols import HarnessKind, Room, Sandbox
from reeval.schema.environment import Layout
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, CommandResult, Event, FileEdit, Text, ToolCall, Turn
from reeval.usage import ClaimedUsage, Pricing, Usage

__all__ = ["KIND", "FakeOptions", "Step", "WithSkill"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a script: exactly one of its keys."""

    exec: str | tuple[str, ...] | None = None
    """A command, a shell string or an argv list, reported as a ``shell`` call. When it fails the script goes on."""
    write: dict[str, str] | None = None
    """Path in the workspace (``~/…``: in the home) → text, reported as ``edit`` calls and file edits."""
    reply: str | None = None
    """Something to say; the last one of a send is the final message."""
    sql: str | None = None
    """A query to claim as the one of the answer."""
    error: str | None = None
    """Give up here: the turn ends as failed, with this reason."""

    def __post_init__(self) -> None:
        """Refuse a step without a key, or with several."""
        given = [name for name in ("exec", "write", "reply", "sql", "error") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"a step with one of exec, write, reply, sql and error, not with {found}")


Script = tuple[tuple[Step, ...], ...]
"""The steps of each send; the last list repeats."""


@dataclass(frozen=True, kw_only=True)
class WithSkill:
    """Another script, played when the environment gives a skill."""

    name: str
    """The skill's name."""
    script: Script


@dataclass(frozen=True, kw_only=True)
class FakeOptions:
    """The options of a ``[harness.NAME]`` table with ``kind = "fake"``."""

    script: Script = ((Step(reply="Done."),),)
    """``{prompt}`` in a reply, a query or a written text stands for the prompt; commands never hold it."""
    flake_rate: float = 0.0
    """Chance, from 0 to 1, that an attempt writes nothing and says so. Seeded by the attempt: always the same ones."""
    delay: float = 0.0
    """Seconds before each answer."""
    hang_start: bool | int = False
    """true: no session ever gets ready. A number: so many sessions of a run do not, the later ones do."""
    fail_with: str | None = None
    """Every session fails to start with this reason, as broken machinery."""
    with_skill: WithSkill | None = None
    layout: str | None = None
    """Read rules, skills and MCP servers where this agent does, such as ``claude-code``; None: take no servers."""
    usage: ClaimedUsage | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if not self.script or (self.with_skill and not self.with_skill.script):
            raise ValueError(
                "a script with a list of steps for each send, as in [[{reply = 'Done.'}]], not an empty one"
            )
        if not 0 <= self.flake_rate <= 1:
            raise ValueError(f"a flake_rate from 0 to 1, not {self.flake_rate!r}")
        if not 0 <= self.delay < float("inf"):
            raise ValueError(f"a delay of 0 or more seconds, not {self.delay!r}")
        if self.hang_start < 0:
            raise ValueError(f"a hang_start that is true or a number of sessions, not {self.hang_start!r}")
        named_layout(self.layout)


class _Harness:
    """One configured scripted agent."""

    def __init__(self, planned: PlannedHarness, options: FakeOptions) -> None:
        self.options = options
        self.model = planned.model
        self.usage = Usage(**asdict(options.usage)) if options.usage else None
        unknown = _unreported(options) | ({Channel.MODEL} if planned.model is None else set())
        self.unreported = tuple(sorted(unknown))
        self._hanging = options.hang_start if options.hang_start is not True else None

    def session(self, room: Room) -> _Session:
        """Start a conversation: one that plays the script from its first list."""
        return _Session(self, room)

    async def ready(self) -> None:
        """Fail or hang where the options say so."""
        if self.options.fail_with is not None:
            raise InfrastructureError(Phase.HARNESS, self.options.fail_with)
        if self._hanging is None:
            await anyio.sleep_forever()
        elif self._hanging:
            self._hanging -= 1
            await anyio.sleep_forever()


class _Session:
    """One conversation: how far the script was played."""

    def __init__(self, harness: _Harness, room: Room) -> None:
        options = harness.options
        self._harness = harness
        self._room = room
        self._sent = 0
        self._env: Mapping[str, str] = {}
        """Variables that the agent of the layout would have besides."""
        self._skill = options.with_skill if options.with_skill and options.with_skill.name in room.skills else None
        self._script = self._skill.script if self._skill else options.script
        if _chance(room.key) < options.flake_rate:
            self._script, self._skill = _FLAKED, None

    async def __aenter__(self) -> Self:
        """Get ready."""
        await self._harness.ready()
        return self

    async def __aexit__(self, *_error: object) -> None:
        """End: nothing is open."""

    async def send(self, prompt: str) -> Turn:
        """Play the next list of steps."""
        harness, steps = self._harness, self._script[min(self._sent, len(self._script) - 1)]
        if not self._sent and harness.options.layout is not None and self._room.mcp:
            from reeval.harnesses.agents.stand_in import place_servers

            self._env = await place_servers(harness.options.layout, harness.model, self._room)
        play = _Play(self._room, prompt, self._env)
        if self._skill and not self._sent:
            play.events.append(ToolCall(name="skill", input={"skill": self._skill.name}, ok=True))
        self._sent += 1
        if harness.options.delay:
            await anyio.sleep(harness.options.delay)
        for step in steps:
            await play.step(step)
            if step.error is not None:
                break
        return Turn(
            prompt=prompt,
            message=play.message,
            sql=play.sql,
            status="completed" if play.error is None else "failed",
            error=play.error,
            events=tuple(play.events),
            usage=harness.usage,
            model=harness.model,
            unreported=harness.unreported,
        )


class _Play:
    """What came of the steps of one send."""

    def __init__(self, room: Room, prompt: str, env: Mapping[str, str]) -> None:
        self._room = room
        self._prompt = prompt
        self._env = env
        self.events: list[Event] = []
        self.message = ""
        self.sql: str | None = None
        self.error: str | None = None

    async def step(self, step: Step) -> None:
        if step.reply is not None:
            self.message = self._filled(step.reply)
            self.events.append(Text(text=self.message))
        elif step.sql is not None:
            self.sql = self._filled(step.sql)
        elif step.error is not None:
            self.error = step.error
        elif step.exec is not None:
            sandbox = await self._room.sandbox()
            self.events.append(
                _shell_call(step.exec, await sandbox.exec(step.exec, env={**self._room.env, **self._env}))
            )
        else:
            sandbox = await self._room.sandbox()
            for path, text in (step.write or {}).items():
                await self._write(sandbox, path, self._filled(text))

    async def _write(self, sandbox: Sandbox, path: str, text: str) -> None:
        kind: Literal["create", "modify"] = "modify" if await sandbox.exists(path) else "create"
        try:
            await sandbox.write(path, text.encode("utf-8", "replace"))
        except OSError as error:
            # As with a real agent's tool: a path that cannot be written is its failure, and it goes on.
            output = error.strerror or str(error)
            self.events.append(ToolCall(name="edit", input={"path": path}, ok=False, output=output))
            return
        self.events += (ToolCall(name="edit", input={"path": path}, ok=True), FileEdit(path=path, kind=kind))

    def _filled(self, text: str) -> str:
        return text.replace("{prompt}", self._prompt)


def _shell_call(command: str | tuple[str, ...], result: CommandResult) -> ToolCall:
    given = command if isinstance(command, str) else result.command
    return ToolCall(
        name="shell",
        input={"command": given},
        output=cut(result.stdout + result.stderr, OUTPUT_LIMIT),
        ok=result.ok,
        exit_code=result.exit_code,
        duration=result.duration,
    )


_FLAKED: Script = ((Step(reply="I wrote nothing this time (flake_rate)."),),)


def _chance(key: str) -> float:
    """Return a number from 0 (included) to 1 (excluded) that only the attempt's key decides."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()[:6], "big") / (1 << 48)


def _unreported(options: FakeOptions) -> frozenset[Channel]:
    if options.usage is None:
        return frozenset({Channel.USAGE, Channel.COST})
    return frozenset({Channel.COST}) if options.usage.cost is None else frozenset()


def _options(options: Mapping[str, Any]) -> FakeOptions:
    return typed_options(options, FakeOptions, "a harness of kind 'fake'")


def _open(planned: PlannedHarness, _root: Path) -> _Harness:
    return _Harness(planned, typed_options(planned.options, FakeOptions, f"[harness.{planned.id}]"))


def _servers(options: Mapping[str, Any]) -> frozenset[Literal["stdio", "http"]]:
    layout = _options(options).layout
    if layout is None:
        return frozenset()
    from reeval.harnesses.agents.stand_in import servers_taken

    return servers_taken(layout)


def _layout(options: Mapping[str, Any]) -> Layout:
    return named_layout(_options(options).layout)


KIND = HarnessKind(
    name="fake",
    options=FakeOptions,
    open=_open,
    layout=_layout,
    mcp=_servers,
    unreported=lambda options: _unreported(_options(options)),
    pricing=lambda planned, _: Pricing(given=Channel.COST not in _unreported(_options(planned.options))),
    in_process=True,
)
"""A scripted agent: for first steps, for examples, and for tests of an eval itself."""

"""How does any program become an agent? Each turn starts it in the sandbox and reads what it prints."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import anyio

from reeval.harnesses.layouts import named_layout
from reeval.harnesses.options import typed_options
from reeval.harnesses.program.answers import Answer, EventAnswer, TextAnswer
from reeval.harnesses.program.files import digest_of, place_files, read_files
from reeval.harnesses.program.invocation import PROMPT, invocation, misquoted
from reeval.harnesses.program.running import Start, run_program
from reeval.protocols import HarnessKind, Room
from reeval.schema.environment import Layout
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Turn
from reeval.usage import Pricing

__all__ = ["KIND", "CommandOptions"]


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """The options of a ``[harness.NAME]`` table with ``kind = "command"``.

    The program runs in the workspace, once for each turn. It finds the turn's number in ``REEVAL_TURN``, one word for
    all turns of an attempt in ``REEVAL_SESSION``, and what the table sets in ``REEVAL_MODEL`` and ``REEVAL_EFFORT``.
    """

    command: str | tuple[str, ...]
    """A shell string, or an argv list."""
    prompt: Literal["stdin", "argument"] = "stdin"
    """``argument``: in place of ``{prompt}`` (in a shell string it is quoted for you), else at the end."""
    output: Literal["text", "events"] = "text"
    """``text``: its output is the message, an exit code other than 0 a failed turn. ``events``: JSON lines."""
    env: dict[str, str] = field(default_factory=dict)
    """Plain variables of the program; secrets come from the ``env`` of the eval, the environment or the defaults."""
    files: dict[str, str] = field(default_factory=dict)
    """Path in the sandbox (best ``~/…``) → file or directory of the project, placed before the session starts."""
    layout: str | None = None
    """Where it reads rules and skills, by the name of an agent; default ``AGENTS.md`` and ``.agents/skills``."""
    unreported: tuple[Channel, ...] = ()
    """With ``events``: kinds of evidence it never reports, so that checks of them are unavailable."""
    turn_timeout: float | None = None
    """Seconds that a turn may take; then it is a failed turn."""

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        words = (self.command,) if isinstance(self.command, str) else self.command
        if not words or not words[0].strip():
            raise ValueError("a command with a program and its arguments, not an empty one")
        if not isinstance(self.command, str) and (home := next((it for it in words if it.startswith("~/")), None)):
            raise ValueError(f"one shell string where {home!r} is the agent's home: no shell reads an argv list")
        if self.prompt == "argument" and isinstance(self.command, str) and misquoted(self.command):
            raise ValueError(f"a command with {PROMPT} outside of quotes: the prompt is quoted for you")
        if self.prompt == "stdin" and any(PROMPT in word for word in words):
            raise ValueError(f'a command without {PROMPT}, or one with prompt = "argument"; now it reads the prompt')
        if self.turn_timeout is not None and not 0 < self.turn_timeout < float("inf"):
            raise ValueError(f"a turn_timeout of more than 0 seconds, not {self.turn_timeout!r}")
        named_layout(self.layout)


class _Harness:
    """One configured program."""

    def __init__(self, planned: PlannedHarness, root: Path) -> None:
        self.options = _options(planned.options, f"[harness.{planned.id}]")
        self.files = read_files(self.options.files, root, f"[harness.{planned.id}]")
        chosen = {"REEVAL_MODEL": planned.model, "REEVAL_EFFORT": planned.effort}
        self.env = {**self.options.env, **{name: value for name, value in chosen.items() if value is not None}}

    def session(self, room: Room) -> _Session:
        """Start a conversation: the program's files are placed, the program itself starts with the first turn."""
        return _Session(self, room)

    def answer(self) -> Answer:
        """Return what reads one turn's output."""
        return TextAnswer() if self.options.output == "text" else EventAnswer(frozenset(self.options.unreported))


class _Session:
    """One conversation, in which the program is started anew for each turn."""

    def __init__(self, harness: _Harness, room: Room) -> None:
        self._harness = harness
        self._room = room
        self._turn = 0
        # From the key, not by chance: an attempt that runs again from its plan gives the same record.
        self._id = hashlib.sha256(room.key.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    async def __aenter__(self) -> Self:
        """Place the files."""
        if self._harness.files:
            await place_files(self._harness.files, await self._room.sandbox())
        return self

    async def __aexit__(self, *_error: object) -> None:
        """End: nothing is open between turns."""

    async def send(self, prompt: str) -> Turn:
        """Run the program with a prompt and make a turn of what it printed."""
        options, answer = self._harness.options, self._harness.answer()
        self._turn += 1
        with anyio.move_on_after(options.turn_timeout):
            exit_code, stderr = await self._run(prompt, answer)
            return answer.turn(prompt, self._id, answer.error(exit_code, stderr))
        return answer.turn(prompt, self._id, f"no end within {options.turn_timeout:g} s (turn_timeout)")

    async def _run(self, prompt: str, answer: Answer) -> tuple[int | None, str]:
        options, sandbox = self._harness.options, await self._room.sandbox()
        command, stdin = invocation(options.command, options.prompt, prompt)
        env = {**self._room.env, **self._harness.env, "REEVAL_TURN": str(self._turn), "REEVAL_SESSION": self._id}
        return await run_program(sandbox, Start(command=command, env=env, stdin=stdin), answer)


def _options(options: Mapping[str, Any], owner: str = "a harness of kind 'command'") -> CommandOptions:
    return typed_options(options, CommandOptions, owner)


def _layout(options: Mapping[str, Any]) -> Layout:
    return named_layout(_options(options).layout)


def _unreported(options: Mapping[str, Any]) -> frozenset[Channel]:
    typed = _options(options)
    return frozenset(Channel) if typed.output == "text" else frozenset(typed.unreported)


def _fingerprint(planned: PlannedHarness, root: Path) -> str:
    owner = f"[harness.{planned.id}]"
    return digest_of(read_files(_options(planned.options, owner).files, root, owner))


KIND = HarnessKind(
    name="command",
    options=CommandOptions,
    open=_Harness,
    layout=_layout,
    unreported=_unreported,
    pricing=lambda planned, _: Pricing(given=Channel.COST not in _unreported(planned.options)),
    fingerprint=_fingerprint,
)
"""Any program that takes a prompt and prints an answer."""

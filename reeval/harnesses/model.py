"""How does a language model alone take part? Each turn is one call, whose answer is a message and a query."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import ConfigError
from reeval.harnesses.options import typed_options
from reeval.protocols import HarnessKind, Room
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Text, Turn

__all__ = ["ANSWER", "KIND", "SYSTEM", "ModelAgentOptions"]

SYSTEM = """\
You answer questions about data with one SQL query.
You are given the question and the tables of the database. You cannot run anything: write the query so that its result
answers the question, with one column for each value that is asked for and no rows beside those asked for.
Give the query as `sql`, in the dialect of the database, without a fence. Say in `message` in a sentence or two what it
does. When the tables cannot answer the question, leave `sql` empty and say in `message` what is missing.
"""
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "description": "What the query does, or why there is none."},
        "sql": {"type": "string", "description": "The query; empty when there is none."},
    },
    "required": ["message", "sql"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class ModelAgentOptions:
    """The options of a ``[harness.NAME]`` table with ``kind = "model"``."""

    system: str = SYSTEM
    """Its instructions. The prompt of a data question holds the question and the tables."""
    temperature: float | None = 0.0
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        """Refuse what no model takes."""
        if self.max_tokens < 1:
            raise ValueError(f"a max_tokens of 1 or more, not {self.max_tokens!r}")


class _Harness:
    """One configured model."""

    def __init__(self, planned: PlannedHarness, _root: Path) -> None:
        (self.model,) = _models(planned)
        self.options = typed_options(planned.options, ModelAgentOptions, f"[harness.{planned.id}]")

    def session(self, room: Room) -> _Session:
        """Start a conversation."""
        return _Session(self, room)


class _Session:
    """One conversation: the model is told what was said before."""

    def __init__(self, harness: _Harness, room: Room) -> None:
        self._harness = harness
        self._room = room
        self._said: list[str] = []

    async def __aenter__(self) -> Self:
        """Nothing to open."""
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Nothing to close."""

    async def send(self, prompt: str) -> Turn:
        """Ask the model once."""
        options = self._harness.options
        asked = "\n\n".join([*self._said, prompt])
        request = ModelRequest(
            system=options.system,
            prompt=asked,
            schema=ANSWER,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
        )
        reply = await self._room.ask(self._harness.model, request)
        turn = _turn(prompt, reply)
        self._said += [f"<earlier>\n{prompt}\n</earlier>", f"<answer>\n{turn.message}\n{turn.sql or ''}\n</answer>"]
        return turn


def _turn(prompt: str, reply: ModelReply) -> Turn:
    message, usage = str(reply.data["message"]), reply.usage
    unknown = {Channel.USAGE: usage.total is None, Channel.COST: usage.cost is None, Channel.MODEL: not reply.model}
    return Turn(
        prompt=prompt,
        message=message,
        sql=str(reply.data["sql"]).strip() or None,
        events=(Text(text=message),) if message else (),
        usage=usage,
        model=reply.model,
        unreported=tuple(sorted(channel for channel, is_unknown in unknown.items() if is_unknown)),
    )


def _models(planned: PlannedHarness) -> tuple[str, ...]:
    if planned.model is None:
        raise ConfigError(f"the harness {planned.id!r} needs a model, such as model = 'anthropic/…' in its table")
    return (planned.model,)


KIND = HarnessKind(
    name="model",
    options=ModelAgentOptions,
    open=_Harness,
    models=_models,
    needs_schema=True,
    in_process=True,
)
"""One call of a language model for each turn, without tools."""

"""Record what the real agents print, and what becomes of it:  python tests/harnesses/streams/record.py [KIND …]

For each agent and scenario: ``SCENARIO-N.jsonl`` holds what the program printed in turn N, as it printed it, and
``SCENARIO.json`` how each turn ended and what it came to. Look at the differences of the latter before you commit them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec

if __name__ == "__main__":  # a program finds its neighbors from the project's root
    sys.path.insert(0, str(Path(__file__).parents[3]))

from reeval.errors import InfrastructureError
from reeval.harnesses.agents.agent import Agent, Ending, Translator
from reeval.harnesses.agents.answer import AgentAnswer
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.program.stream import StreamEvent
from tests.harnesses.real.kit import SUBJECTS, Conversation, Subject, conversation, installed
from tests.servers.agents import AgentServer, closed_port

__all__ = ["PLACE", "SCENARIOS", "came_to"]

PLACE = Path(__file__).parent
WORKSPACE = "/workspace"
FIRST = """DO write greet.py print("Hello")
DO run python3 greet.py
DO run echo oops >&2; exit 3
DO mcp demo lookup {"thing": "ahoy"}
DO say It greets."""
SCENARIOS = {
    "ok": (FIRST, "DO run cat greet.py\nDO say It still greets."),
    "unknown-tool": ('DO use no_such_tool {"x": 1}\nDO say I cannot.',),
    "no-key": ("DO say Done.",),
    "limited-1": ("DO say Done.",),
    "limited": ("DO say Done.",),
    "refused": ("DO say Done.",),
    "overflow": ("DO say Done.",),
    "empty": ("DO say Done.",),
}


class Tee:
    """A translator that keeps what it reads."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self.turns: list[tuple[list[bytes], list[Ending]]] = []

    @property
    def session(self) -> str | None:
        return self._translator.session

    def begin(self) -> None:
        self.turns.append(([], []))
        self._translator.begin()

    def lines(self, lines: Sequence[bytes]) -> Iterable[StreamEvent | str]:
        self.turns[-1][0].extend(lines)
        return self._translator.lines(lines)

    def end(self, ending: Ending) -> Iterable[StreamEvent | str]:
        self.turns[-1][1].append(ending)
        return self._translator.end(ending)


def came_to(agent: Agent, translator: Translator, lines: bytes, ending: Ending, *, first: bool) -> Any:
    """Return what a recorded turn comes to, as plain data."""
    translator.begin()
    answer = AgentAnswer(agent.name, translator, agent.unreported, first=first)
    answer.feed(lines)
    try:
        turn = answer.turn("", translator.session or "", answer.end(ending))
    except InfrastructureError as error:
        return {"phase": error.phase, "reason": error.reason, "retryable": error.retryable}
    found = msgspec.json.decode(msgspec.json.encode(turn))
    for event in found.get("events", ()):
        event.pop("duration", None)
        event.pop("started", None)
    return found


async def _record(subject: Subject, scenario: str, server: AgentServer) -> None:
    agent, tees = agent_named(subject.kind), list[Tee]()
    base_url = (
        f"http://127.0.0.1:{closed_port()}" if scenario == "refused" else server.url(f"{scenario}.{subject.kind}")
    )

    def tee(workspace: str, servers: Sequence[str]) -> Tee:
        tees.append(Tee(agent.translator(workspace, servers)))
        return tees[-1]

    mcp = scenario == "ok" and bool(agent.mcp)
    what = Conversation(base_url=base_url, mcp=mcp, agent=replace(agent, translator=tee))
    prompts = SCENARIOS[scenario][: None if agent.resumes else 1]
    async with conversation(subject, what) as talk:
        for prompt in prompts:
            with suppress(InfrastructureError):
                await talk.session.send(prompt if mcp else prompt.replace("DO mcp", "DO run true #"))
    _write(agent, scenario, tees[0], mcp=mcp)


def _write(agent: Agent, scenario: str, tee: Tee, *, mcp: bool) -> None:
    place = PLACE / agent.name
    place.mkdir(exist_ok=True)
    servers = ("demo",) if mcp else ()
    translator, turns = agent.translator(WORKSPACE, servers), []
    for number, (lines, endings) in enumerate(tee.turns, 1):
        data = _anonymous(b"".join(line + b"\n" for line in lines))
        (place / f"{scenario}-{number}.jsonl").write_bytes(data)
        said = endings[0] if endings else Ending(exit_code=None, stderr="")
        ending = {
            "exit_code": said.exit_code,
            "stderr": _anonymous(said.stderr.encode()).decode(),
            "result": None if said.result is None else _anonymous(said.result).decode(),
        }
        came = came_to(agent, translator, data, ending_of(ending), first=number == 1)
        turns.append({"ending": ending, "came_to": came})
    found = {"agent": f"{agent.name} {agent.package.version}", "servers": servers, "turns": turns}
    (place / f"{scenario}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def ending_of(data: dict[str, Any]) -> Ending:
    """Return a recorded ending."""
    result = data["result"]
    return Ending(exit_code=data["exit_code"], stderr=data["stderr"], result=result and result.encode())


def _anonymous(data: bytes) -> bytes:
    """Leave out what differs from one recording to the next and means nothing."""
    data = re.sub(rb"127\.0\.0\.1:\d+", b"127.0.0.1:PORT", data)
    return data.replace(str(Path.home()).encode(), b"/home/user")


async def _main(kinds: list[str]) -> None:
    with AgentServer() as server:
        for kind in kinds or list(SUBJECTS):
            if (why := installed(kind)) is not None:
                print(f"{kind}: {why}")  # noqa: T201
                continue
            shutil.rmtree(PLACE / kind, ignore_errors=True)
            for scenario in SCENARIOS:
                await _record(SUBJECTS[kind], scenario, server)
                print(kind, scenario, flush=True)  # noqa: T201


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1:])

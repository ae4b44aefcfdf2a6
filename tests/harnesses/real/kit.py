"""Real agents in the local sandbox, over the scripted model server.

An agent's program is installed once into the user's cache (``install = true``). Where that cannot be, or where there is
no bubblewrap, the test is skipped with the reason. ``REEVAL_AGENTS=codex,pi`` names those whose tests fail instead, as
in CI; others are tested then where they are installed already.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from reeval.errors import InfrastructureError
from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.kind import agent_kind
from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.programs.install import installed as in_cache
from reeval.harnesses.kinds import KINDS
from reeval.protocols import HarnessKind, Sandbox, SandboxRequest, Session
from reeval.sandboxes.local.bubblewrap import problem
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.schema.environment import McpServer
from reeval.schema.plan import PlannedHarness
from reeval.usage import Usage
from tests.servers.obedient import Spent

__all__ = [
    "ROOT",
    "SUBJECTS",
    "WANTED",
    "Conversation",
    "Fault",
    "Room",
    "Subject",
    "Talk",
    "conversation",
    "need",
    "spent",
]

WANTED = [one.strip() for one in os.environ.get("REEVAL_AGENTS", "").split(",") if one.strip()]
ROOT = Path(__file__).parents[3]
LOOKUP = (ROOT / "tests/servers/lookup.py").read_bytes()
SERVER = McpServer(kind="stdio", command=("python3", "/home/agent/lookup.py"), env={"WORD": "s3cret"})


Fault = Literal["limited-1", "limited", "busy", "refused", "empty"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A real agent under test."""

    kind: str
    path: str = ""
    """What its base URL has after the server's own."""
    model: str
    effort: str | None = "high"
    options: Mapping[str, Any] = field(default_factory=dict)
    asks_within: int = 8
    """Seconds after which it has surely called its model."""
    slow: frozenset[Fault] = frozenset()
    """Faults at which it goes on trying for more than ten seconds, whatever it is told."""
    edits: Literal["create", "modify"] | None = "create"
    """How it reports a new file; None: it writes files with its shell."""
    exit_codes: bool = True
    times: bool = True
    """Whether it tells when calls of tools began and ended."""
    long_prompts: bool = True
    tells_retries: bool = True
    most_tries: int = 2
    """Requests with ``retries = 1``, those for a title and the like included."""

    @property
    def version(self) -> str:
        """The version that is installed."""
        return agent_named(self.kind).package.version


SUBJECTS = {
    subject.kind: subject
    for subject in (
        Subject(kind="claude-code", model="claude-sonnet-4-5"),
        Subject(kind="codex", path="/v1", model="gpt-5.5-codex"),
        Subject(kind="pi", path="/v1", model="scripted", edits="modify"),
        Subject(
            kind="gemini",
            model="gemini-2.5-pro",
            asks_within=12,
            edits="modify",
            exit_codes=False,
            long_prompts=False,  # it repeats the prompt, and ends before a line of that length is read
        ),
        Subject(
            kind="qwen",
            path="/v1",
            model="scripted",
            asks_within=20,
            slow=frozenset({"limited", "busy", "refused", "empty"}),
            tells_retries=False,
            most_tries=7,
        ),
        Subject(
            kind="opencode",
            path="/v1",
            model="scripted",
            asks_within=20,
            slow=frozenset({"refused"}),
            tells_retries=False,
            most_tries=9,
        ),
        Subject(
            kind="mini-swe-agent",
            path="/v1",
            model="scripted",
            options={"retries": 0},  # it waits four seconds before one
            asks_within=20,
            edits=None,
            times=False,
            long_prompts=False,
        ),
    )
}


class Room:
    """A room with a started sandbox."""

    key = "evals/a.eval.py::a@x/-/local#1"
    skills = ()

    def __init__(self, sandbox: Sandbox, mcp: Mapping[str, McpServer], env: Mapping[str, str]) -> None:
        self._sandbox = sandbox
        self.mcp = mcp
        self.env = env

    async def sandbox(self) -> Sandbox:
        return self._sandbox


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What a test does with an agent."""

    base_url: str
    mcp: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    agent: Agent | None = None
    """A changed one."""


@dataclass(frozen=True)
class Talk:
    """An open conversation."""

    session: Session
    sandbox: Sandbox


def kind_of(subject: Subject, agent: Agent | None = None) -> HarnessKind:
    return KINDS[subject.kind] if agent is None else agent_kind(agent)


@cache
def installed(name: str) -> str | None:
    """Install an agent, and return why that cannot be; None when it is there."""
    if (why := problem()) is not None:
        return why
    try:
        KINDS[name].programs(PlannedHarness(id=name, kind=name, options={"install": True}))
    except InfrastructureError as error:
        return error.reason
    return None


def need(name: str) -> None:
    """Skip the test where an agent cannot run."""
    if WANTED and name not in WANTED and not is_installed(name):
        pytest.skip(f"{name} is not installed, and not among REEVAL_AGENTS={','.join(WANTED)}")
    if (why := installed(name)) is not None:
        if name in WANTED:
            pytest.fail(why)
        pytest.skip(why)


def is_installed(name: str) -> bool:
    """Say whether an agent is in the user's cache."""
    package = agent_named(name).package
    return in_cache(package, package.version)


@asynccontextmanager
async def conversation(subject: Subject, what: Conversation) -> AsyncIterator[Talk]:
    """Start a sandbox and in it a conversation with the agent."""
    kind, local = kind_of(subject, what.agent), LocalSandboxKind()
    options = {
        "install": True,
        "base_url": f"{what.base_url}{subject.path}",
        "turn_timeout": 90.0,
        "retries": 1,
        **subject.options,
        **what.options,
    }
    planned = PlannedHarness(id="x", kind=kind.name, model=subject.model, effort=subject.effort, options=options)
    request = SandboxRequest(
        key=Room.key,
        run_id="run",
        sandbox=local.plan("local", {}, kind, ROOT),
        root=ROOT,
        programs=kind.programs(planned),
    )
    mcp = {"demo": SERVER} if what.mcp else {}
    async with local.open(request) as sandbox:
        await sandbox.write("~/lookup.py", LOOKUP)
        async with kind.open(planned, ROOT).session(Room(sandbox, mcp, what.env)) as session:
            yield Talk(session, sandbox)


def spent(calls: int) -> Usage:
    """Return what a conversation of so many calls of the model uses, by the server's account."""
    each = [Spent(step) for step in range(calls)]
    return Usage(
        input=sum(one.prompt - one.cached for one in each),
        output=sum(one.answer for one in each),
        cache_read=sum(one.cached for one in each),
        cache_write=0,
        reasoning=calls * Spent.reasoning,
    )

"""What is there to say about one coding agent? What its file in ``harnesses/`` gives, and nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.program.stream import StreamEvent
from reeval.schema.environment import Layout, McpServer
from reeval.schema.transcript import Channel

__all__ = ["Agent", "AgentFile", "Call", "Ending", "Invocation", "Translator"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """What one turn is to be: the agent makes a command line of it."""

    prompt: str
    session: str | None
    """The agent's own id of the conversation, as its translator gave it; None in the first turn."""
    key: str | None
    """The value of the key; None: the agent is logged in by other variables."""
    model: str | None
    effort: str | None
    options: Any
    """An instance of the agent's ``options``."""
    home: str
    """The agent's home, as an absolute path in the sandbox."""
    workspace: str
    env: Mapping[str, str] = field(default_factory=dict)
    """The variables that its processes have already."""
    mcp: Mapping[str, McpServer] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AgentFile:
    """A file to place before a turn, unless this very file was placed before an earlier one."""

    path: str
    """``~/…``"""
    data: bytes
    merge: Literal["replace", "json", "append"] = "replace"
    """With what is there already: ``json`` lays the objects in ``data`` over it, key by key at every depth."""


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """How the program is called for one turn."""

    args: tuple[str, ...]
    """What follows the program. A prompt that is an argument is refused when it is too long for one."""
    stdin: bytes | None = None
    """What it reads, best the prompt; None: nothing (``/dev/null``)."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: tuple[AgentFile, ...] = ()
    result: str | None = None
    """A file (``~/…``) that holds what it does not print; read after its end for ``Ending.result``."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the program ended."""

    exit_code: int | None
    """None: it said it had ended, and still ran."""
    stderr: str
    result: bytes | None = None
    """What ``Invocation.result`` holds; None: there is no such file."""


class Translator(Protocol):
    """Turns what an agent prints into events, over all turns of one conversation: totals that run on are its concern.

    It never raises for what it reads. What is unknown it leaves out, or returns as a text, which becomes a note.
    """

    session: str | None
    """The agent's id of the conversation, once it was seen."""

    def begin(self) -> None:
        """Start a turn."""
        ...

    def lines(self, lines: Sequence[bytes]) -> Iterable[StreamEvent | str]:
        """Return the events of lines of standard output, as many as came together."""
        ...

    def end(self, ending: Ending) -> Iterable[StreamEvent | str]:
        """Return what is to be added when the program has ended: calls without an end, what the exit code alone says.

        ``Done``, or ``Failed`` and ``Done``, must have come until then, else the program counts as having died.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One coding agent with a command line."""

    name: str
    """The kind."""
    package: Package
    """Where its program comes from, and the version that this adapter was made with."""
    invoke: Callable[[Call], Invocation]
    """Pure."""
    translator: Callable[[str, Sequence[str]], Translator]
    """Takes the path of the workspace, so that paths of edits are relative to it, and the names of the MCP servers, so
    that a name such as ``demo_lookup`` can be told to be one of their tools."""
    layout: Layout
    reads: frozenset[Literal["rules", "skills"]] = frozenset({"rules", "skills"})
    """Which of an environment's it reads on its own."""
    keys: tuple[str, ...]
    """Variables that log it in, any of them; the first is the one that a key is handed over in."""
    hosts: tuple[str, ...]
    """Where its models are, unless ``base_url`` or one of ``base_urls`` says otherwise."""
    base_urls: tuple[str, ...] = ()
    """Variables of the program that hold a base URL."""
    price_list: str | None = None
    """Where ``reeval.prices`` finds its models; None: a model names its provider itself, ``anthropic/…``."""
    reports_cost: bool = False
    """Whether it says what every turn cost, whatever its model."""
    options: type[AgentOptions] = AgentOptions
    unreported: frozenset[Channel] = frozenset()
    mcp: frozenset[Literal["stdio", "http"]] = frozenset()
    resumes: bool = True
    effort: bool = True
    """Whether it can be told how hard to think."""
    exit_codes: bool = True
    """Whether it reports exit codes of shell commands."""
    exit_grace: float = 10.0
    """Seconds that it may take to end after its last event: some save the conversation then."""

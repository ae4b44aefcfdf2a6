"""What does an attempt start from? Environments and their parts, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, Unpack

if TYPE_CHECKING:
    from reeval.schema.parts import EnvironmentParts

__all__ = [
    "DEFAULT_SETUP_TIMEOUT",
    "Egress",
    "Environment",
    "HostFile",
    "Layout",
    "McpServer",
    "PreparedTree",
    "Secret",
    "SetupStep",
    "Skill",
    "Workspace",
    "cached_steps",
    "git_sources",
    "skill_key",
    "source_key",
]

DEFAULT_SETUP_TIMEOUT = 300.0
"""Seconds a setup step may take."""


@dataclass(frozen=True, kw_only=True)
class HostFile:
    """A file of the host, by its path from the project's root."""

    path: str


@dataclass(frozen=True, kw_only=True)
class Secret:
    """The value of a host variable, passed to the process that needs it and masked everywhere."""

    name: str
    """The host's variable."""
    to: Literal["agent", "checks", "all"] = "all"
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What the workspace holds at first: a directory of the host, or a git source."""

    path: str | None = None
    """A directory, from the project's root; for a git source a folder inside it."""
    git: str | None = None
    """URL of a git source."""
    ref: str | None = None
    init: bool = False


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """A command that runs in every attempt before the agent, outside the attempt's timeout."""

    run: str
    timeout: float = DEFAULT_SETUP_TIMEOUT
    cache: bool = False
    """What it leaves is kept and reused; it gets no secrets."""


def cached_steps(setup: tuple[SetupStep, ...]) -> tuple[SetupStep, ...]:
    """Return the first steps that may be cached: those after one that runs in every attempt cannot be."""
    return tuple(takewhile(lambda step: step.cache, setup))


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A skill the agent can read: a directory with a ``SKILL.md``, a git source, or inline text."""

    kind: Literal["local", "git", "inline"]
    name: str | None = None
    """Inline: its name. Otherwise the directory's name is used."""
    path: str | None = None
    url: str | None = None
    ref: str | None = None
    description: str = ""
    content: str = ""
    files: dict[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """An MCP server the agent can call."""

    kind: Literal["stdio", "http"]
    command: tuple[str, ...] = ()
    url: str | None = None
    env: dict[str, str | Secret] = field(default_factory=dict)
    headers: dict[str, str | Secret] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Egress:
    """Where an attempt may connect to."""

    mode: Literal["allow-all", "deny-all", "allow"]
    hosts: tuple[str, ...] = ()
    """With ``allow``: host names, ``*.example.com`` for subdomains."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What an attempt runs in: the factor that a compare varies. Everything in it is optional."""

    name: str
    workspace: Workspace | None = None
    files: dict[str, str | HostFile] = field(default_factory=dict)
    """Path in the workspace (``~/…``: in the agent's home) → text, or a host file."""
    rules: str | HostFile | None = None
    setup: tuple[SetupStep, ...] = ()
    skills: tuple[Skill, ...] = ()
    mcp: dict[str, McpServer] = field(default_factory=dict)
    env: dict[str, str | Secret] = field(default_factory=dict)
    egress: Egress | None = None
    sandbox: str | None = None

    def layered(self, child: Environment) -> Environment:
        """Return ``child`` on top of this one.

        Setup appends; files, env and mcp merge by key; skills add by name; the rest replaces.
        """
        replaced = {skill_key(skill) for skill in child.skills}
        kept = tuple(skill for skill in self.skills if skill_key(skill) not in replaced)
        return replace(
            child,
            workspace=child.workspace or self.workspace,
            files={**self.files, **child.files},
            rules=self.rules if child.rules is None else child.rules,
            setup=self.setup + child.setup,
            skills=kept + child.skills,
            mcp={**self.mcp, **child.mcp},
            env={**self.env, **child.env},
            egress=child.egress or self.egress,
            sandbox=child.sandbox or self.sandbox,
        )

    def extend(self, name: str, **parts: Unpack[EnvironmentParts]) -> Environment:
        """Return a new environment ``name``: this one with ``parts`` on top (see ``layered``).

        Raises ``DeclarationError`` for a part that is misspelt or cannot be used.
        """
        from reeval.schema.parts import build_environment  # it is made of the classes above

        return self.layered(build_environment(name, parts))


def skill_key(skill: Skill) -> str:
    """Return what makes two declared skills the same one: the name, else where it comes from."""
    return skill.name or skill.path or skill.url or ""


def git_sources(environment: Environment) -> list[tuple[str, str, str | None, str | None]]:
    """Return what each git source of an environment is for, its URL, its ref and its folder."""
    workspace = environment.workspace
    found = [("workspace", workspace.git, workspace.ref, workspace.path)] if workspace and workspace.git else []
    return found + [("skills", skill.url, skill.ref, skill.path) for skill in environment.skills if skill.url]


def source_key(url: str, ref: str | None) -> str:
    """Return what stands for a git source in a plan: ``https://example.com/x.git@main``."""
    return f"{url}@{ref or 'HEAD'}"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a harness's agent reads what an environment gives it: paths, ``~/`` is the agent's home."""

    rules: str = "AGENTS.md"
    skills: str = ".agents/skills"


@dataclass(frozen=True, kw_only=True)
class PreparedTree:
    """An environment's files, built once for a run and copied into each attempt."""

    digest: str
    """Names the content: equal digests are equal trees."""
    workspace: str | None = None
    """Host directory to copy into the workspace; None: it starts empty."""
    home: str | None = None
    """Host directory to copy into the agent's home; None: it starts empty."""
    git: str | None = None
    """Host directory of git objects and the snapshot of ``workspace``, so that no attempt hashes it again."""
    skills: tuple[str, ...] = ()
    """Names of the skills in it."""

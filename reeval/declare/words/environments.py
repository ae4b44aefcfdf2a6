"""``environment`` and its parts: what does an attempt start from?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Unpack, get_args

from reeval.declare.options import is_text
from reeval.errors import DeclarationError
from reeval.schema.environment import Egress, Environment, McpServer, Secret, Skill
from reeval.schema.parts import EnvironmentParts, build_environment, project_path

__all__ = ["egress", "environment", "mcp", "secret", "skill"]

_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*", re.IGNORECASE)
_Readers = Literal["agent", "checks", "all"]


def environment(name: str, **parts: Unpack[EnvironmentParts]) -> Environment:
    """Return an environment; everything in it is optional, and paths start at the project's root.

    Raises ``DeclarationError`` for a part that is misspelt or cannot be used.
    """
    return build_environment(name, parts)


def secret(name: str, *, to: _Readers = "all", optional: bool = False) -> Secret:
    """Return a stand-in for the host's variable ``name``: passed on to those who need it, masked everywhere.

    ``to``: the agent's processes, the eval's own commands, or both.
    """
    if not is_text(name) or "=" in name or "\0" in name:
        raise DeclarationError(f"secret({name!r}): give the name of a variable of the host")
    if to not in get_args(_Readers):
        raise DeclarationError(f"secret({name!r}) is to={to!r}; it takes 'agent', 'checks' or 'all'")
    return Secret(name=name, to=to, optional=optional)


class _Skills:
    """Skills an environment gives to the agent."""

    def local(self, path: str | Path, *, only: Sequence[str] = (), exclude: Sequence[str] = ()) -> Skill:
        """Return a directory with a ``SKILL.md``, or one of such directories; ``only`` picks by name.

        ``exclude``: gitignore-style patterns of files to leave out.
        """
        return Skill(
            kind="local",
            path=project_path(path, "skill.local"),
            only=_texts(only, "only"),
            exclude=_texts(exclude, "exclude"),
        )

    def git(
        self,
        url: str,
        *,
        ref: str | None = None,
        path: str | None = None,
        only: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Skill:
        """Return the skills of a git source, in its folder ``path``, at ``ref``."""
        if not is_text(url):
            raise DeclarationError(f"skill.git({url!r}): give a URL")
        return Skill(
            kind="git", url=url, ref=ref, path=path, only=_texts(only, "only"), exclude=_texts(exclude, "exclude")
        )

    def inline(self, name: str, description: str, content: str, *, files: Mapping[str, str] | None = None) -> Skill:
        """Return a skill written here: ``content`` is the text of its ``SKILL.md`` below the header."""
        if not is_text(name) or not _NAME.fullmatch(name):
            raise DeclarationError(f"skill.inline({name!r}): a skill's name holds letters, digits, '-' and '_'")
        if not is_text(description):
            raise DeclarationError(f"skill.inline({name!r}) needs a description: agents choose a skill by it")
        for path in files or {}:
            project_path(path, f"a file of skill.inline({name!r})")
        return Skill(kind="inline", name=name, description=description, content=content, files=dict(files or {}))


class _Servers:
    """MCP servers an environment gives to the agent."""

    def stdio(self, command: str | Sequence[str], *, env: Mapping[str, str | Secret] | None = None) -> McpServer:
        """Return a server that the agent starts: an argv list, or words that are split at spaces."""
        argv = tuple(command.split()) if isinstance(command, str) else tuple(command)
        if not argv or not all(map(is_text, argv)):
            raise DeclarationError(f"mcp.stdio({command!r}): give a command")
        return McpServer(kind="stdio", command=argv, env=dict(env or {}))

    def http(self, url: str, *, headers: Mapping[str, str | Secret] | None = None) -> McpServer:
        """Return a server that the agent reaches at ``url``."""
        if not is_text(url) or not url.startswith(("http://", "https://")):
            raise DeclarationError(f"mcp.http({url!r}): give a URL that starts with http:// or https://")
        return McpServer(kind="http", url=url, headers=dict(headers or {}))


class _Egress:
    """Where an attempt may connect to."""

    allow_all: Final = Egress(mode="allow-all")
    deny_all: Final = Egress(mode="deny-all")

    def allow(self, *hosts: str) -> Egress:
        """Return the policy that allows these hosts only; ``*.example.com`` for subdomains."""
        if not hosts:
            raise DeclarationError("egress.allow() names no host; for none at all there is egress.deny_all")
        for host in hosts:
            if not is_text(host) or not _HOST.fullmatch(host):
                raise DeclarationError(
                    f"egress.allow({host!r}): give a host name, such as 'example.com', without scheme or port"
                )
        return Egress(mode="allow", hosts=hosts)


skill = _Skills()
mcp = _Servers()
egress = _Egress()


def _texts(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(text, str) for text in value):
        raise DeclarationError(f"{what} is {value!r}; it takes a list of texts")
    return tuple(value)

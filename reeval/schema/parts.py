"""How are the parts of an environment written by hand, and what do they become?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from reeval.errors import DeclarationError, did_you_mean
from reeval.schema.environment import (
    Egress,
    Environment,
    HostFile,
    McpServer,
    Secret,
    SetupStep,
    Skill,
    Workspace,
    skill_key,
)

__all__ = ["EnvironmentParts", "build_environment", "project_path"]

Part = TypeVar("Part")
_MODES = {"allow-all": Egress(mode="allow-all"), "deny-all": Egress(mode="deny-all")}


class EnvironmentParts(TypedDict, total=False):
    """What ``environment()`` and ``extend()`` take. Paths start at the project's root."""

    workspace: str | Path | Workspace | Mapping[str, Any]
    """A directory; or a mapping with ``path``, or ``git`` (a URL or path), ``ref`` and ``path`` in it; and ``init``."""
    files: Mapping[str, str | Path | HostFile]
    """Path in the workspace (``~/…``: in the agent's home) → text, or a ``Path``: a file of the project."""
    rules: str | Path | HostFile
    """The agent's rules file: text, or a ``Path``: a file of the project."""
    setup: Sequence[str | SetupStep | Mapping[str, Any]]
    """Commands; or mappings with ``run``, ``timeout`` (seconds) and ``cache``."""
    skills: Sequence[Skill]
    mcp: Mapping[str, McpServer]
    env: Mapping[str, str | Secret]
    egress: Egress | Literal["allow-all", "deny-all"]
    sandbox: str


def build_environment(name: str, parts: EnvironmentParts) -> Environment:
    """Return the environment; raise ``DeclarationError`` naming the part that cannot be used."""
    given: dict[str, Any] = {key: value for key, value in parts.items() if value is not None}
    problem = _problem(name, given)
    if problem:
        raise DeclarationError(f"environment {name!r}: {problem}")
    try:
        return Environment(name=name, **{key: _BUILDERS[key](value) for key, value in given.items()})
    except DeclarationError as error:
        raise DeclarationError(f"environment {name!r}: {error}") from None


def _problem(name: Any, given: Mapping[str, Any]) -> str | None:
    if not isinstance(name, str) or not name.strip():
        return "its name must be a text"
    misspelt = next((key for key in given if key not in _BUILDERS), None)
    return None if misspelt is None else f"it has no part {misspelt!r}{did_you_mean(misspelt, _BUILDERS)}"


def project_path(path: str | Path, what: str) -> str:
    """Return ``path`` with ``/``; refuse what does not stay inside the project."""
    text = Path(path).as_posix()
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise DeclarationError(f"{what} is {text!r}; write it from the project's root, such as 'evals/files/x.txt'")
    return text


def _workspace(value: object) -> Workspace:
    if isinstance(value, Workspace):
        return value
    if isinstance(value, str | Path):
        return Workspace(path=project_path(value, "workspace"))
    source = _from_mapping(Workspace, value, "workspace")
    for field, given in (("git", source.git), ("ref", source.ref), ("path", source.path)):
        if given is not None and not isinstance(given, str | Path):
            raise DeclarationError(f"workspace has {field}={_short(given)}; give a text")
    if source.git is None and source.ref is not None:
        raise DeclarationError(f"workspace has ref={source.ref!r}, which belongs to a git source; add git, or drop it")
    if source.git is None and source.path is None and not source.init:
        raise DeclarationError("workspace needs 'path' or 'git', or init=True for an empty one with a git history")
    if source.git is None and source.path is not None:
        return replace(source, path=project_path(source.path, "workspace"))
    return source


def _files(value: object) -> dict[str, str | HostFile]:
    return {_target(path): _content(content, f"files[{path!r}]") for path, content in _mapping(value, "files")}


def _target(path: str) -> str:
    inner = path.removeprefix("~/")
    if not inner or inner.startswith("/") or ".." in Path(inner).parts:
        raise DeclarationError(f"files has {path!r}; write a path in the workspace, or '~/…' for the agent's home")
    return path


def _content(value: object, what: str) -> str | HostFile:
    if isinstance(value, Path):
        return HostFile(path=project_path(value, what))
    if isinstance(value, HostFile | str):
        return value
    raise DeclarationError(f"{what} is {_short(value)}; give a text, or a Path for a file of the project")


def _setup(value: object) -> tuple[SetupStep, ...]:
    steps = []
    for step in _sequence(value, "setup", "commands"):
        made: Any = SetupStep(run=step) if isinstance(step, str) else step
        if not isinstance(made, SetupStep):
            made = _from_mapping(SetupStep, made, "a setup step")
        if not isinstance(made.run, str) or not made.run.strip():
            raise DeclarationError(f"a setup step runs {_short(made.run)}; give a command")
        if isinstance(made.timeout, bool) or not isinstance(made.timeout, int | float) or not made.timeout > 0:
            raise DeclarationError(f"the setup step {made.run!r} has timeout={made.timeout!r}; give seconds above 0")
        steps.append(made)
    return tuple(steps)


def _skills(value: object) -> tuple[Skill, ...]:
    skills = tuple(_typed(Skill, skill, "a skill", "skill.local(…)") for skill in _sequence(value, "skills", "skills"))
    keys = [skill_key(skill) for skill in skills]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise DeclarationError(f"the skill {twice[0]!r} is listed twice; drop one")
    return skills


def _mcp(value: object) -> dict[str, McpServer]:
    return {
        name: _typed(McpServer, server, f"mcp[{name!r}]", "mcp.stdio(…)") for name, server in _mapping(value, "mcp")
    }


def _env(value: object) -> dict[str, str | Secret]:
    pairs = dict(_mapping(value, "env"))
    for name, content in pairs.items():
        if not isinstance(content, str | Secret):
            raise DeclarationError(f"env[{name!r}] is {_short(content)}; give a text or secret('HOST_NAME')")
        if not name or "=" in name or "\0" in name:
            raise DeclarationError(f"env has the name {name!r}, which no variable can have")
    return pairs


def _egress(value: object) -> Egress:
    if isinstance(value, str) and value in _MODES:
        return _MODES[value]
    return _typed(Egress, value, "egress", "'deny-all', 'allow-all' or egress.allow(…)")


def _sandbox(value: object) -> str:
    return _typed(str, value, "sandbox", "the name of a [sandbox.NAME] table or a kind")


def _rules(value: object) -> str | HostFile:
    return _content(value, "rules")


_BUILDERS: dict[str, Any] = {
    "workspace": _workspace,
    "files": _files,
    "rules": _rules,
    "setup": _setup,
    "skills": _skills,
    "mcp": _mcp,
    "env": _env,
    "egress": _egress,
    "sandbox": _sandbox,
}


def _typed(kind: type[Part], value: object, what: str, wanted: str) -> Part:
    if isinstance(value, kind):
        return value
    raise DeclarationError(f"{what} is {_short(value)}; give {wanted}")


def _mapping(value: object, what: str) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise DeclarationError(f"{what} is {_short(value)}; give a mapping with text keys")
    return list(value.items())


def _sequence(value: object, what: str, of: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise DeclarationError(f"{what} is {_short(value)}; give a list of {of}")
    return value


def _from_mapping(kind: type[Part], value: object, what: str) -> Part:
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # called with dataclasses only
    pairs = dict(_mapping(value, what))
    for key in pairs:
        if key not in known:
            raise DeclarationError(f"{what} has no {key!r}{did_you_mean(key, known)}")
    try:
        return kind(**pairs)
    except TypeError as error:
        raise DeclarationError(f"{what} is {_short(value)}: {error}") from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"

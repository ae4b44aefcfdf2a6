"""Which environment does an option stand for, and is everything that it names there?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from reeval.plan.config import CONFIG_NAME, Config
from reeval.plan.nearest import hint
from reeval.plan.parts.names import word
from reeval.plan.parts.problems import Problems
from reeval.plan.parts.sources import git_missing, source_problem
from reeval.schema.environment import Environment, HostFile, Secret, Skill, Workspace, cached_steps
from reeval.schema.plan import NO_ENVIRONMENT

__all__ = ["Environments", "secrets_in_cached"]


class Environments:
    """Plans environments, each once: in a run one name has one content."""

    def __init__(self, config: Config, problems: Problems) -> None:
        self._config = config
        self._problems = problems
        self.planned: dict[str, Environment] = {}
        """By the word that stands for them in ids."""

    def planned_as(self, value: Environment | str | None, place: str) -> str | None:
        """Return the word of an environment, ``-`` for none; None, with a problem, when it cannot be used."""
        if value is None:
            return NO_ENVIRONMENT
        environment = self._config.environments.get(value) if isinstance(value, str) else value
        if environment is None:
            self._problems.add(place, self._unknown(str(value)))
            return None
        id = word(environment.name)
        known = self.planned.get(id)
        if known is environment:
            return id
        text = _refused(id, environment, known)
        if text:
            self._problems.add(place, text)
        elif known is None:
            self.planned[id] = environment
            self._check_parts(environment, place)
        return None if text else id

    def _check_parts(self, environment: Environment, place: str) -> None:
        if self._config.environments.get(environment.name) is environment:
            place = self._config.at("environment", environment.name)
        for text in _wrong_parts(environment, self._config.root):
            self._problems.add(place, f"environment {environment.name!r}: {text}")

    def _unknown(self, name: str) -> str:
        known = hint(name, self._config.environments)
        return f"there is no environment {name!r} (an [environment.NAME] table of {CONFIG_NAME}); {known}"


def _refused(id: str, environment: Environment, known: Environment | None) -> str | None:
    if not id or id == NO_ENVIRONMENT:
        return f"environment {environment.name!r} has no letter or digit to name it by in ids; rename it"
    if known is None or known == environment:
        return None
    if known.name != environment.name:
        return f"environments {known.name!r} and {environment.name!r} are both called {id!r} in ids; rename one"
    return f"two environments with different contents are called {environment.name!r}; rename one of them"


def _wrong_parts(environment: Environment, root: Path) -> Iterator[str]:
    if environment.workspace:
        yield from _wrong_workspace(environment.workspace, root)
    for path, content in environment.files.items():
        if isinstance(content, HostFile) and not (root / content.path).is_file():
            yield f"the file {content.path!r}, for {path!r}, is not there; paths start at {root}"
    if isinstance(environment.rules, HostFile) and not (root / environment.rules.path).is_file():
        yield f"the rules {environment.rules.path!r} are not there; paths start at {root}"
    for skill in environment.skills:
        yield from _wrong_skill(skill, root)
    yield from _wrong_cache(environment)


def _wrong_workspace(workspace: Workspace, root: Path) -> Iterator[str]:
    if workspace.git is not None:
        if problem := source_problem(workspace.git, workspace.ref, workspace.path, root):
            yield f"workspace: {problem}"
    elif workspace.path is not None and not (root / workspace.path).is_dir():
        yield f"the workspace {workspace.path!r} is not a directory; paths start at {root}"
    if (workspace.git is not None or workspace.init) and (missing := git_missing()):
        yield f"the workspace {missing}"


def _wrong_skill(skill: Skill, root: Path) -> Iterator[str]:
    if skill.kind == "git":
        if problem := source_problem(skill.url or "", skill.ref, skill.path, root) or git_missing():
            yield f"skills: {problem}"
    elif skill.kind == "local" and not _holds_skill(root / str(skill.path)):
        yield f"the skill {skill.path!r} has no SKILL.md, nor has a directory in it; paths start at {root}"


def _wrong_cache(environment: Environment) -> Iterator[str]:
    steps = cached_steps(environment.setup)
    for step in environment.setup[len(steps) :]:
        if step.cache:
            before = environment.setup[len(steps)].run
            yield (
                f"the setup step {step.run!r} cannot be cached, since it comes after {before!r}, which runs in every "
                "attempt; put it before that, or leave cache out"
            )
    yield from secrets_in_cached(environment, environment.env)


def secrets_in_cached(environment: Environment, env: Mapping[str, str | Secret]) -> Iterator[str]:
    """Yield what is wrong with cached steps that name a secret among ``env``: they would run without it."""
    secrets = [name for name, value in env.items() if isinstance(value, Secret)]
    for step in cached_steps(environment.setup):
        used = next((name for name in secrets if re.search(rf"\b{re.escape(name)}\b", step.run)), None)
        if used is not None:
            yield (
                f"the setup step {step.run!r} cannot be cached, since it uses {used}, a secret, and what it leaves is "
                "kept; leave cache out, and it runs in every attempt"
            )


def _holds_skill(directory: Path) -> bool:
    return (directory / "SKILL.md").is_file() or any(directory.glob("*/SKILL.md"))

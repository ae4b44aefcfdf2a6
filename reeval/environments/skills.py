"""Which files does a declared skill give the agent?"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

from reeval.environments.listing import Entry, list_directory, text_entry
from reeval.environments.paths import WORKSPACE, tree_path
from reeval.environments.sources.directory import Sources
from reeval.errors import PlanError
from reeval.schema.environment import Skill, source_key

__all__ = ["SKILL_FILE", "skill_files"]

SKILL_FILE = "SKILL.md"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


def skill_files(skill: Skill, sources: Sources, owner: str) -> dict[str, dict[str, Entry]]:
    """Return name → path in the skill's directory → entry.

    A directory is one skill when it holds a ``SKILL.md``, else each directory in it that does is one. ``only`` and
    ``exclude`` are gitignore-style patterns over paths from that directory; the ``SKILL.md`` of a directory that is one
    skill always stays. In a git source it is the folder ``path``, which names the skill; without one the URL does.
    """
    if skill.kind == "inline":
        return {_checked_name(skill.name or "", owner): _inline(skill, owner)}
    if skill.kind == "git":
        url = skill.url or ""
        top = sources.directory(url, skill.ref, skill.path, owner)
        name = PurePosixPath(skill.path or "").name or _url_name(url)
        return _in_directory(skill, top, name, f"{owner}: skill {source_key(url, skill.ref)!r}")
    top = sources.root / (skill.path or "")
    return _in_directory(skill, top, top.resolve().name, f"{owner}: skill {skill.path!r}")


def _url_name(url: str) -> str:
    """Return what a clone of a URL would be called: ``skills`` for ``https://example.com/me/skills.git``."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


def _inline(skill: Skill, owner: str) -> dict[str, Entry]:
    owner = f"{owner}: skill {skill.name!r}"
    # A JSON string is a YAML string, so no description can break the front matter.
    description = json.dumps(skill.description, ensure_ascii=False)
    head = f"---\nname: {skill.name}\ndescription: {description}\n---\n\n"
    files = {SKILL_FILE: text_entry(f"{head}{skill.content.rstrip()}\n", owner)}
    for path, text in skill.files.items():
        inside = tree_path(path, owner).removeprefix(f"{WORKSPACE}/")
        if path.startswith("~/") or inside == SKILL_FILE:
            raise PlanError(f"{owner}: files: {path!r} cannot be a file of a skill; write a path beside {SKILL_FILE}")
        files[inside] = text_entry(text, f"{owner}: {path!r}")
    return files


def _in_directory(skill: Skill, top: Path, name: str, owner: str) -> dict[str, dict[str, Entry]]:
    if not (skill.path or skill.url) or not top.is_dir():
        raise PlanError(f"{owner} is not a directory; name a directory that holds a {SKILL_FILE}")
    if (top / SKILL_FILE).is_file():
        listed = dict(list_directory(top, owner))
        kept = {path: entry for path, entry in _kept(skill, listed).items() if path != SKILL_FILE}
        return {_checked_name(name, owner): {SKILL_FILE: listed[SKILL_FILE], **kept}}
    kept = _kept(skill, dict(list_directory(top, owner)))
    names = sorted(path.split("/")[0] for path in kept if path.split("/")[1:] == [SKILL_FILE])
    if not names:
        raise PlanError(f"{owner} holds no {SKILL_FILE}, neither itself nor in a directory of it that is not left out")
    return {_checked_name(name, owner): _below(name, kept) for name in names}


def _kept(skill: Skill, listed: dict[str, Entry]) -> dict[str, Entry]:
    """Drop what the patterns leave out. Directories come back with the files in them, so empty ones do not stay."""
    files = {path: entry for path, entry in listed.items() if entry.kind != "directory"}
    if not skill.only and not skill.exclude:
        return files
    import pathspec

    only = pathspec.GitIgnoreSpec.from_lines(skill.only)
    exclude = pathspec.GitIgnoreSpec.from_lines(skill.exclude)
    return {
        path: entry
        for path, entry in files.items()
        if (not skill.only or only.match_file(path)) and not exclude.match_file(path)
    }


def _below(name: str, files: dict[str, Entry]) -> dict[str, Entry]:
    prefix = f"{name}/"
    return {path.removeprefix(prefix): entry for path, entry in files.items() if path.startswith(prefix)}


def _checked_name(name: str, owner: str) -> str:
    if not _NAME.fullmatch(name):
        raise PlanError(f"{owner}: {name!r} cannot be a skill's name; use letters, digits, '-', '_' and '.'")
    return name

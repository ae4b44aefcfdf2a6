"""Which files does a declared skill give the agent?"""

from __future__ import annotations

import json
import re
from pathlib import Path

from reeval.environments.listing import Entry, list_directory, text_entry
from reeval.environments.paths import WORKSPACE, tree_path
from reeval.errors import PlanError
from reeval.schema.environment import Skill

__all__ = ["SKILL_FILE", "skill_files"]

SKILL_FILE = "SKILL.md"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


def skill_files(skill: Skill, root: Path, owner: str) -> dict[str, dict[str, Entry]]:
    """Return name → path in the skill's directory → entry.

    A local directory is one skill when it holds a ``SKILL.md``, else each directory in it that does is one. ``only``
    and ``exclude`` are gitignore-style patterns over paths from that directory; a skill's ``SKILL.md`` always stays.
    """
    if skill.kind == "git":
        raise PlanError(f"{owner}: skill {skill.url!r} is a git source, which is not in this version yet")
    if skill.kind == "inline":
        return {_checked_name(skill.name or "", owner): _inline(skill, owner)}
    return _local(skill, root, owner)


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


def _local(skill: Skill, root: Path, owner: str) -> dict[str, dict[str, Entry]]:
    top = root / (skill.path or "")
    owner = f"{owner}: skill {skill.path!r}"
    if not skill.path or not top.is_dir():
        raise PlanError(f"{owner} is not a directory; name a directory that holds a {SKILL_FILE}")
    if (top / SKILL_FILE).is_file():
        listed = dict(list_directory(top, owner))
        kept = {path: entry for path, entry in _kept(skill, listed).items() if path != SKILL_FILE}
        return {_checked_name(top.resolve().name, owner): {SKILL_FILE: listed[SKILL_FILE], **kept}}
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

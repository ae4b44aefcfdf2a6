"""What is a check called? The words an author gives it, else its default, and repeats told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reeval.authoring import Match
from reeval.grade.observing.display import clip, show, squeeze
from reeval.schema.transcript import CommandResult

__all__ = [
    "DEFAULT_LABEL_LIMIT",
    "LABEL_LIMIT",
    "blank_problem",
    "check_name",
    "default_label",
    "distinct",
    "wording_problem",
]

LABEL_LIMIT = 256
"""Characters of a label or a key."""
DEFAULT_LABEL_LIMIT = 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def blank_problem(text: object) -> str | None:
    """Say why ``text`` names nothing; None when it does."""
    if not isinstance(text, str) or not text.strip():
        return f"takes a text that is not blank, got {show(text, 80)}"
    return None


def wording_problem(text: str) -> str | None:
    """Say why ``text`` cannot be a key; None when it can."""
    if problem := blank_problem(text):
        return problem
    if len(text) > LABEL_LIMIT:
        return f"takes at most {LABEL_LIMIT} characters, got {len(text):,}"
    if _CONTROL.search(text):
        return f"takes a text without control characters, got {show(text, 80)}"
    return None


def check_name(match: Match, value: object) -> str:
    """Return what a check is about, uncut: the command, or the match and its first argument."""
    if match.name == "command_succeeded" and isinstance(value, CommandResult):
        return value.command
    return f"{match.name} {match.argument}".strip()


def default_label(name: str, limit: int = DEFAULT_LABEL_LIMIT) -> str:
    """Return ``name`` as a label: one line, no control characters, cut."""
    return clip(squeeze(name, limit), limit)


def distinct(labels: Iterable[str]) -> list[str]:
    """Number repeats, ``runs``, ``runs #2``, and never as a label that is already there."""
    labels = list(labels)
    taken = set(labels)
    counts: dict[str, int] = {}
    distinct = []
    for label in labels:
        number = counts.get(label, 0) + 1
        unique = label
        if number > 1:
            while (unique := f"{label} #{number}") in taken:
                number += 1
            taken.add(unique)
        counts[label] = number
        distinct.append(unique)
    return distinct

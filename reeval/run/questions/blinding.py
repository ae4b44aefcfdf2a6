"""What in the material of a pair could name a side, and how is it hidden?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from reeval.schema.environment import Environment
from reeval.schema.plan import NO_ENVIRONMENT, Plan, PlannedAttempt
from reeval.schema.record import AttemptRecord

__all__ = ["HIDDEN", "SideText", "blinded", "names_of"]

HIDDEN = "[hidden]"
"""Stands for any name of any side."""
_ANY_SIDES_KINDS = frozenset({"command", "fake", "http"})
"""Kinds of harness that say nothing about which agent it is, and are words of ordinary text."""
_PLACES = re.compile(r"(?:/[\w.+~-]+)*/reeval-[\w.-]+/\d+/(?:workspace|home|tmp)\b")
"""Where an attempt without isolation works on the host: its number in it tells the attempts apart."""
_SEPARATORS = re.compile(r"[-_ ]+")


class SideText(NamedTuple):
    """What one side of a pair says."""

    task: str
    """What its agent was asked, shown or not."""
    shown: str
    """Everything that a model is shown of it."""


def names_of(attempt: PlannedAttempt, record: AttemptRecord, plan: Plan) -> frozenset[str]:
    """Return every word that names an attempt, what ran it or what it started from."""
    harness = plan.harnesses[attempt.cell.harness]
    kind = () if harness.kind in _ANY_SIDES_KINDS else (harness.kind,)
    served = [turn.model for turn in record.turns] if isinstance(record.turns, list) else []
    environment = plan.environments.get(attempt.cell.environment)
    found = [attempt.key, attempt.id, attempt.cell.key, harness.id, *kind, harness.model, record.model, *served]
    if attempt.cell.environment != NO_ENVIRONMENT:
        found.append(attempt.cell.environment)
    if environment is not None:
        found += _parts(environment)
    return frozenset(name for name in found if name)


def blinded(names: Iterable[str], left: SideText, right: SideText) -> Callable[[str], str]:
    """Return what hides ``names`` in a text of either side, as whole words, in any case and with any separator.

    A word that both sides hold is left: it tells nobody apart, and an ordinary word should stay one.
    """
    texts = ["\n".join(side) for side in (left, right)]
    patterns = [_as_words(name) for name in sorted(names, key=len, reverse=True)]
    telling = [one for one in patterns if not all(re.search(_whole(one), text, re.IGNORECASE) for text in texts)]
    if not telling:
        return lambda text: _PLACES.sub(HIDDEN, text)
    pattern = re.compile(_whole("|".join(telling)), re.IGNORECASE)
    return lambda text: pattern.sub(HIDDEN, _PLACES.sub(HIDDEN, text))


def _parts(environment: Environment) -> Iterator[str | None]:
    for skill in environment.skills:
        yield skill.name
        for path in (skill.path, skill.url):
            if path is not None:
                yield path.rstrip("/")
                yield path.rstrip("/").rpartition("/")[2]
    if environment.workspace is not None:
        yield environment.workspace.path
        yield environment.workspace.git
    yield from environment.mcp


def _as_words(name: str) -> str:
    """Return a pattern of the name in which ``-``, ``_`` and a space are the same."""
    return "[-_ ]".join(map(re.escape, _SEPARATORS.split(name)))


def _whole(pattern: str) -> str:
    return rf"(?<!\w)(?:{pattern})(?!\w)"

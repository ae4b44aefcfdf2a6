"""How is a model asked which of two attempts is better, so that neither a name nor the position tells it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import msgspec

from reeval.backends import ModelRequest
from reeval.grade.asked.pairs import Pair
from reeval.protocols import Recorder
from reeval.run.asking.material import Section
from reeval.run.asking.wording import DATA_RULE, prompt
from reeval.run.questions.answering import REASON_LIMIT, Shown, bounded, shown_of, text_of
from reeval.run.questions.blinding import HIDDEN, SideText, blinded, names_of
from reeval.schema.plan import Plan, PlannedQuestion
from reeval.schema.record import AttemptRecord, FileRef
from reeval.schema.recorded.answers import Vote
from reeval.secrets import Masker

__all__ = ["ORDERS", "Order", "Sides", "files_of", "pair_request", "read_vote", "sides_of"]

Order = Literal["left", "right"]
"""The side that is shown first, as A."""
ORDERS: tuple[Order, Order] = ("left", "right")

_SYSTEM = f"""\
You compare two attempts by coding agents at the same task. The prompt holds one question and then the material: what
you are shown of both attempts, which are called A and B and nothing else. Answer from the material alone. The order of
the two says nothing, and neither does the length of what is shown. {HIDDEN} stands where a name was taken out.

{DATA_RULE}

Say in one or two sentences what decided it, and then the winner: "A", "B", or "tie" when neither is better."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "One or two sentences: what in the material decided it."},
        "winner": {"type": "string", "enum": ["A", "B", "tie"]},
    },
    "required": ["reason", "winner"],
    "additionalProperties": False,
}
_TASK = "Task"


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of both attempts, blinded."""

    task: Section | None
    """What both were asked; None: it is not shown, or was not the same."""
    left: Shown
    right: Shown


def sides_of(
    pair: Pair, question: PlannedQuestion, records: tuple[AttemptRecord, AttemptRecord], plan: Plan, recorder: Recorder
) -> Sides:
    """Return what a question shows of two recorded attempts, nothing in it naming a side; raise ``RecordError``."""
    left, right = (shown_of(question, record, recorder) for record in records)
    names = frozenset[str]().union(
        *(names_of(one, record, plan) for one, record in zip((pair.left, pair.right), records, strict=True))
    )
    hide = blinded(names, *(_text(record, shown) for record, shown in zip(records, (left, right), strict=True)))
    left, right = (_hidden(shown, hide) for shown in (left, right))
    task = next((one for one in left.sections if one.title == _TASK), None)
    if task is None or task not in right.sections:
        return Sides(task=None, left=left, right=right)
    return Sides(task=task, left=_without(left, task), right=_without(right, task))


def pair_request(question: PlannedQuestion, sides: Sides, first: Order, masker: Masker) -> ModelRequest:
    """Return one of the two calls: they hold the same and differ only in which side is A."""
    shown = (sides.left, sides.right) if first == "left" else (sides.right, sides.left)
    parts = [] if sides.task is None else [sides.task]
    for label, side in zip("AB", shown, strict=True):
        parts += [Section(f"{label}: {part.title}", part.text) for part in side.sections]
    return ModelRequest(
        system=_SYSTEM,
        prompt=prompt(parts, masker, lead=f"Question: {question.text}"),
        schema=_SCHEMA,
        pictures=tuple(
            replace(picture, name=f"{label}: {picture.name}")
            for label, side in zip("AB", shown, strict=True)
            for picture in side.pictures
        ),
    )


def files_of(sides: Sides, first: Order) -> tuple[FileRef, ...]:
    """Return where the pictures of a call are kept, in the order they were sent."""
    return (*sides.left.files, *sides.right.files) if first == "left" else (*sides.right.files, *sides.left.files)


def read_vote(first: Order, data: Mapping[str, Any]) -> Vote:
    """Return the vote in a model's reply."""
    reason, winner = text_of(data, "reason", REASON_LIMIT), data.get("winner")
    picked = winner.strip() if isinstance(winner, str) else winner
    second: Order = "right" if first == "left" else "left"
    sides: dict[object, Literal["left", "right", "tie"]] = {"A": first, "B": second, "tie": "tie"}
    if not isinstance(picked, str) or picked not in sides:
        error = f"the model named {bounded(repr(picked), 100)} the winner; it may be 'A', 'B' or 'tie'"
        return Vote(shown_first=first, reason=reason, error=error)
    return Vote(shown_first=first, winner=sides[picked], reason=reason)


def _text(record: AttemptRecord, shown: Shown) -> SideText:
    assert isinstance(record.turns, list)
    asked = "\n".join(turn.prompt for turn in record.turns)
    return SideText(asked, "\n".join(part.text for part in shown.sections))


def _hidden(shown: Shown, hide: Callable[[str], str]) -> Shown:
    parts = [Section(part.title, hide(part.text)) for part in shown.sections]
    pictures = tuple(replace(picture, name=hide(picture.name)) for picture in shown.pictures)
    return Shown(sections=parts, pictures=pictures, files=shown.files)


def _without(shown: Shown, task: Section) -> Shown:
    return Shown(sections=[part for part in shown.sections if part != task], pictures=shown.pictures, files=shown.files)

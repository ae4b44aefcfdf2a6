"""How is a model asked about one attempt, and what is an answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.protocols import Recorder
from reeval.run.asking.material import Evidence, Section, sections
from reeval.run.asking.pictures import as_picture
from reeval.run.asking.wording import DATA_RULE, prompt
from reeval.run.questions.queries import query_sections
from reeval.schema.options import StateOptions
from reeval.schema.plan import PlannedQuestion
from reeval.schema.record import AttemptRecord, FileRef
from reeval.secrets import Masker

__all__ = ["Answer", "Shown", "attempt_request", "bounded", "read_answer", "shown_of", "text_of"]

MOST_PICTURES = 10
"""Images of one attempt that are sent."""
ANSWER_LIMIT, REASON_LIMIT = 4000, 1000
"""Characters that are kept."""

_SYSTEM = f"""\
You answer one question about an attempt by a coding agent at a task. The prompt holds the question and then the
material: what you are shown of the attempt. Answer from the material alone; where it does not tell, say so.

{DATA_RULE}

{{}}"""
_IN_WORDS = "Answer in one to three plain sentences."
_IN_CHOICES = """\
Pick the one choice that fits best, written exactly as it is in the list, and give your reason in one short sentence."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is shown of one attempt."""

    sections: list[Section]
    pictures: tuple[Picture, ...] = ()
    files: tuple[FileRef, ...] = ()
    """Where each picture is kept."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model said about an attempt; ``error`` when it is no answer."""

    answer: str | None = None
    choice: str | None = None
    reason: str | None = None
    error: str | None = None


def shown_of(question: PlannedQuestion, record: AttemptRecord, recorder: Recorder) -> Shown:
    """Return what a question shows of a recorded attempt, its parts read back; raise ``RecordError``."""
    assert isinstance(record.turns, list)  # ``recall`` reads every part back
    assert isinstance(record.commands, list)
    evidence = Evidence(turns=tuple(record.turns), commands=record.commands, observations=record.observations)
    state = cast("StateOptions", {"turns": "all", **question.state})
    found = [*sections(evidence, state), *query_sections(record, state)]
    pictures, files, left_out = _pictures(question.artifacts, record, recorder)
    if question.artifacts:
        names = [*(f"{one.name}: attached" for one in pictures), *left_out]
        found.append(Section("Images", "\n".join(names) or "(none was kept)"))
    return Shown(sections=found, pictures=tuple(pictures), files=tuple(files))


def attempt_request(question: PlannedQuestion, shown: Shown, masker: Masker) -> ModelRequest:
    """Return what is sent; the prompt is masked and bounded."""
    choices = question.choices
    lead = f"Question: {question.text}"
    if choices:
        lead += "\n\nChoices:\n" + "\n".join(f"- {choice}" for choice in choices)
    return ModelRequest(
        system=_SYSTEM.format(_IN_CHOICES if choices else _IN_WORDS),
        prompt=prompt(shown.sections, masker, lead=lead),
        schema=_schema(choices),
        pictures=shown.pictures,
    )


def read_answer(question: PlannedQuestion, data: Mapping[str, Any]) -> Answer:
    """Return the answer in a model's reply. A choice must be one of the question's, letter for letter."""
    if question.choices is None:
        answer = text_of(data, "answer", ANSWER_LIMIT)
        return Answer(answer=answer) if answer else Answer(error="the model gave an empty answer")
    reason = text_of(data, "reason", REASON_LIMIT) or None
    choice = data.get("choice")
    picked = choice.strip() if isinstance(choice, str) else choice
    if picked in question.choices:
        return Answer(choice=picked, reason=reason)
    offered = ", ".join(map(repr, question.choices))
    return Answer(error=f"the model picked {bounded(repr(picked), 100)}, which is not offered; it may pick {offered}")


def text_of(data: Mapping[str, Any], name: str, limit: int) -> str:
    """Return a text of a reply without the space around it, bounded; empty when it is not there."""
    value = data.get(name)
    return bounded(value.strip(), limit) if isinstance(value, str) else ""


def bounded(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, with a mark where they were cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _schema(choices: Sequence[str] | None) -> dict[str, Any]:
    if choices is None:
        properties: dict[str, Any] = {"answer": {"type": "string", "description": "One to three sentences."}}
    else:
        properties = {
            "reason": {"type": "string", "description": "One short sentence: what in the material decided it."},
            "choice": {"type": "string", "enum": list(choices)},
        }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _pictures(
    wanted: bool | Sequence[str],
    record: AttemptRecord,
    recorder: Recorder,
) -> tuple[list[Picture], list[FileRef], list[str]]:
    """Return the images to send, where they are kept, and what is said of those that are not sent."""
    if not wanted:
        return [], [], []
    pictures: list[Picture] = []
    files: list[FileRef] = []
    left_out: list[str] = []
    for kept in record.artifacts:
        if wanted is not True and kept.name not in wanted:
            continue
        picture = as_picture(kept.name, recorder.part(kept.ref)) if len(pictures) < MOST_PICTURES else None
        if picture is not None:
            pictures.append(picture)
            files.append(kept.ref)
        elif wanted is not True or len(pictures) >= MOST_PICTURES:
            left_out.append(f"{kept.name}: not attached, since it is no image or one too many")
    if wanted is not True:
        there = {kept.name for kept in record.artifacts}
        left_out += [f"{name}: not kept by this attempt" for name in wanted if name not in there]
    return pictures, files, left_out

"""What was a model sent, and what did it say? ``questions/<n>.json``, kept beside what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from reeval.backends import ModelReply, ModelRequest, Picture
from reeval.grade.asked.pairs import Pair
from reeval.protocols import Recorder
from reeval.run.questions.pairing import Order
from reeval.schema.plan import PlannedAttempt, PlannedEval, PlannedQuestion
from reeval.schema.record import FileRef
from reeval.schema.recorded.answers import PairRecord

__all__ = ["PairDocument", "keep_answer"]

MOST_HELD = 8 * 1024 * 1024
"""Bytes of prompts that wait to be written; more of them go into a further file."""


def keep_answer(
    recorder: Recorder,
    asked: tuple[PlannedAttempt, int],
    request: ModelRequest,
    files: Sequence[FileRef],
    reply: ModelReply | None,
    error: str | None,
) -> FileRef:
    """Keep the call about one attempt; ``asked`` is the attempt and the question's number."""
    attempt, number = asked
    question = attempt.eval.questions[number - 1]
    data = {**_head(question), "choices": question.choices, "attempt": attempt.id, **_call(request, files)}
    return _keep(recorder, attempt, number, {**data, **_said(reply, error)})


class PairDocument:
    """The calls of one pairwise question. They are written together, then their pairs once more, with the file."""

    def __init__(self, recorder: Recorder, planned: PlannedEval, number: int, pairs: int) -> None:
        """``pairs`` will be added: with the last one everything is written."""
        self._recorder = recorder
        self._ahead = pairs
        self._planned = planned
        self._number = number
        self._calls: list[dict[str, Any]] = []
        self._pairs: list[PairRecord] = []
        self._size = 0
        self._system = ""

    def call(
        self,
        pair: Pair,
        first: Order,
        request: ModelRequest,
        files: Sequence[FileRef],
        reply: ModelReply | None,
        error: str | None,
    ) -> None:
        """Hold one call."""
        second = pair.right if first == "left" else pair.left
        labels = {"A": (pair.left if first == "left" else pair.right).id, "B": second.id}
        call = {"factor": pair.factor, "labels": labels, **_call(request, files), **_said(reply, error)}
        self._calls.append({name: value for name, value in call.items() if name != "system"})
        self._size += len(request.prompt)
        self._system = request.system

    def add(self, record: PairRecord) -> None:
        """Hold a pair whose calls were made and whose votes are recorded."""
        self._pairs.append(record)
        self._ahead -= 1
        if not self._ahead or self._size > MOST_HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is held; raise ``RecordError`` when it cannot be."""
        if not self._pairs:
            return
        question = self._planned.questions[self._number - 1]
        data = {**_head(question), "across": question.across, "system": self._system, "calls": self._calls}
        ref = _keep(self._recorder, self._planned, self._number, data)
        for record in self._pairs:
            self._recorder.answer(msgspec.structs.replace(record, input=ref))
        self._calls, self._size = [], 0
        self._pairs.clear()


def _head(question: PlannedQuestion) -> dict[str, Any]:
    return {"question": question.text, "model": question.model}


def _call(request: ModelRequest, files: Sequence[FileRef]) -> dict[str, Any]:
    return {"system": request.system, "prompt": request.prompt, **_pictures(request.pictures, files)}


def _pictures(pictures: Sequence[Picture], files: Sequence[FileRef]) -> dict[str, Any]:
    if not pictures:
        return {}
    return {
        "pictures": [
            {"name": picture.name, "media_type": picture.media_type, "file": ref.file}
            for picture, ref in zip(pictures, files, strict=True)
        ]
    }


def _said(reply: ModelReply | None, error: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if reply is not None:
        said = {"reply": reply.data, "served": reply.model, "tries": reply.tries}
    return said if error is None else {**said, "error": error}


def _keep(recorder: Recorder, of: PlannedAttempt | PlannedEval, number: int, data: dict[str, Any]) -> FileRef:
    text = msgspec.json.format(msgspec.json.encode(data), indent=2)
    return recorder.document(of, f"questions/{number}.json", text)

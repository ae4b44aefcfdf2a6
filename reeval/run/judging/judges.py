"""How do the judges of one attempt come to their measurements? Each once: at ``or_stop``, or after the body."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Context
from functools import partial
from time import monotonic
from typing import Any

import anyio
import msgspec

from reeval.backends import ModelRequest, Picture
from reeval.errors import InfrastructureError
from reeval.grade.checks.entry import Entry
from reeval.grade.observing.observe import described
from reeval.run.asking.material import Evidence, sections
from reeval.run.asking.models import Models
from reeval.run.judging.call import JudgeCall
from reeval.run.judging.measure import Ballot, Measurement, judge_request, measure
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.record import CheckRecord, FileRef, ObservationRecord, SpenderUsage
from reeval.schema.recorded.answers import JudgmentRecord, JudgmentVote
from reeval.schema.transcript import CommandResult
from reeval.secrets import Masker

__all__ = ["Bench", "Judges"]

NOT_ASKED = "the attempt ended before it was asked"
NO_MODEL = "no judge model: set judge.model in an option, name one in c.judge(…, model=…), or give the judge one"


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What the judges of one attempt work with."""

    models: Models
    masker: Masker
    keep: Callable[[str, bytes], FileRef]
    """Puts a file beside the attempt's record."""
    contents: Callable[[Sequence[str]], Awaitable[Mapping[str, str | None]]]
    """Reads files of the workspace, while there is one."""
    commands: Sequence[CommandResult]
    observations: Sequence[ObservationRecord]
    pictures: Mapping[str, Picture]
    """Attached images by name. All three grow while the body runs."""
    waits: Callable[[], AbstractContextManager[None]]
    """Holds the attempt's time while its body waits for a model."""


class _UnaskedError(Exception):
    """A judge cannot be asked."""

    def __init__(self, status: CheckStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class _Case:
    """One judge with what it is to measure."""

    def __init__(self, call: JudgeCall, entry: Entry) -> None:
        self.call = call
        self.entry = entry
        self.contents: Mapping[str, str | None] | None = None
        self.problem: str | None = None
        """Why it cannot be asked."""
        self.task: asyncio.Task[None] | None = None
        self.record: JudgmentRecord | None = None

    @property
    def needs_sandbox(self) -> bool:
        return bool(self.call.state.get("contents")) and self.contents is None and self.problem is None


class Judges:
    """The judges of one attempt, in the order in which they were registered."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._cases: list[_Case] = []

    def add(self, call: JudgeCall, entry: Entry) -> Callable[[], Awaitable[None]]:
        """Take a judge; what is returned settles its entry, however often and by however many it is called."""
        case = _Case(call, entry)
        self._cases.append(case)
        return partial(self._waited_for, case)

    def check(self, call: JudgeCall) -> None:
        """Raise ``UsageError`` when there is no such provider, so that it is told where it is written."""
        if call.model is not None:
            self._bench.models.planned(call.model)

    @property
    def waiting(self) -> bool:
        """Whether a judge is still to answer."""
        return any(not case.entry.settled for case in self._cases)

    async def collect(self) -> None:
        """Read what unsettled judges need of the sandbox, which is closed after this."""
        for case in self._cases:
            await self._collect(case)

    async def settle(self) -> None:
        """Settle every judge, side by side."""
        cases = [case for case in self._cases if not case.entry.settled]
        for case in cases:
            self._begin(case)
        for case in cases:
            await self._settled(case)

    async def close(self) -> None:
        """End what is still being asked."""
        tasks = [case.task for case in self._cases if case.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def judgments(self, sealed: Callable[[Entry], CheckRecord]) -> list[JudgmentRecord]:
        """Return what was measured; ``sealed`` gives the record of an entry, whose label it takes."""
        return [
            msgspec.structs.replace(case.record or _record(case, error=NOT_ASKED), label=sealed(case.entry).label)
            for case in self._cases
        ]

    def usage(self) -> list[SpenderUsage]:
        """Return what the judges used, by model."""
        totals: dict[str, SpenderUsage] = {}
        for case in self._cases:
            record = case.record
            if record is None or record.model is None or record.input is None:
                continue
            before = totals.get(record.model)
            used = record.usage if before is None else before.usage + record.usage
            totals[record.model] = SpenderUsage(spender="judge", usage=used, model=record.model)
        return list(totals.values())

    async def _waited_for(self, case: _Case) -> None:
        with self._bench.waits():
            await self._settled(case)

    async def _settled(self, case: _Case) -> None:
        if case.task is None:
            await self._collect(case)
        # Shared and shielded: whoever waits may be cancelled, and the model is not asked twice.
        await asyncio.shield(self._begin(case))

    def _begin(self, case: _Case) -> asyncio.Task[None]:
        if case.task is None:
            case.task = asyncio.get_running_loop().create_task(self._judge(case), context=Context())
        return case.task

    async def _collect(self, case: _Case) -> None:
        if case.entry.settled or not case.needs_sandbox:
            return
        try:
            case.contents = await self._bench.contents(case.call.state["contents"])
        except InfrastructureError as error:
            case.problem = error.reason

    async def _judge(self, case: _Case) -> None:
        call, bench = case.call, self._bench
        began = monotonic()
        try:
            model = self._model(call)
            request = await self._request(case)
        except _UnaskedError as unasked:
            self._end(case, unasked.status, unasked.why, _record(case, error=unasked.why))
            return
        found = await measure(partial(bench.models.answer, model, at_once=call.at_once), request, call.votes)
        duration = round(monotonic() - began, 6)
        kept = bench.keep(f"judges/{self._cases.index(case) + 1}.json", _document(call, request, found))
        record = _record(case, found=found, duration=duration, kept=kept)
        if found.score is None:
            self._end(case, CheckStatus.ERRORED, f"{found.error}\n{_facts(call, found)}", record)
        else:
            text = f"{found.reason}\n{_facts(call, found)}".strip()
            self._end(case, CheckStatus.MEASURED, text, record, found.score)

    def _end(
        self, case: _Case, status: CheckStatus, text: str, record: JudgmentRecord, score: float | None = None
    ) -> None:
        case.record = record
        message = self._bench.masker.text(text)
        case.entry.settle(Observation(status=status, measurement=score, message=message), record.duration)

    def _model(self, call: JudgeCall) -> str:
        why = NO_MODEL if call.model is None else self._bench.models.problem(call.model)
        if call.model is None or why is not None:
            raise _UnaskedError(CheckStatus.UNAVAILABLE, why or NO_MODEL)
        return call.model

    async def _request(self, case: _Case) -> ModelRequest:
        if case.problem is not None:
            raise _UnaskedError(CheckStatus.ERRORED, case.problem)
        pictures, evidence = self._pictures(case.call), self._evidence(case)
        try:
            # In a thread: masking and cutting megabytes would hold up every other attempt.
            return await anyio.to_thread.run_sync(_made, case.call, evidence, self._bench.masker, pictures)
        except Exception as error:  # Such as a pattern of the state that is none.
            why = f"what it is shown could not be made: {described(error)}"
            raise _UnaskedError(CheckStatus.ERRORED, why) from error

    def _evidence(self, case: _Case) -> Evidence:
        return Evidence(
            turns=case.call.turns,
            commands=tuple(self._bench.commands),
            observations=tuple(self._bench.observations),
            contents=case.contents or {},
            output=case.call.output,
        )

    def _pictures(self, call: JudgeCall) -> list[Picture]:
        there = self._bench.pictures
        if isinstance(call.artifacts, bool):
            return list(there.values()) if call.artifacts else []
        for name in call.artifacts:
            if name not in there:
                known = ", ".join(map(repr, there)) or "none"
                why = f"no image {name!r} was attached (png, jpeg, webp or gif of at most 5 MiB); there are: {known}"
                raise _UnaskedError(CheckStatus.ERRORED, why)
        return [there[name] for name in call.artifacts]


def _made(call: JudgeCall, evidence: Evidence, masker: Masker, pictures: Sequence[Picture]) -> ModelRequest:
    shown = sections(evidence, call.state) if call.material is None else call.material
    return judge_request(call.judge, shown, masker, pictures)


def _facts(call: JudgeCall, found: Measurement) -> str:
    """Say who measured, and how far several votes were apart. A judge's name stands nowhere else beside its check."""
    facts = [f"judged by {call.model}" if call.name is None else f"{call.name}: judged by {call.model}"]
    if found.spread is not None:
        scores = " ".join(f"{ballot.score:.3g}" for ballot in found.ballots if ballot.score is not None)
        facts.append(f"median of {len(found.ballots)} votes: {scores} (spread {found.spread:.3g})")
    return "; ".join(facts)


def _record(
    case: _Case,
    *,
    found: Measurement | None = None,
    error: str | None = None,
    duration: float | None = None,
    kept: FileRef | None = None,
) -> JudgmentRecord:
    call = case.call
    record = JudgmentRecord(
        label=case.entry.wording, question=call.question, judge=call.name, model=call.model, error=error
    )
    if found is None:
        return record
    votes = [JudgmentVote(score=one.score, reason=one.reason) for one in found.ballots if one.score is not None]
    return msgspec.structs.replace(
        record,
        served=found.served,
        score=found.score,
        reason=found.reason,
        votes=votes if len(found.ballots) > 1 else [],
        spread=found.spread,
        error=found.error,
        usage=found.usage,
        duration=duration,
        input=kept,
    )


def _document(call: JudgeCall, request: ModelRequest, found: Measurement) -> bytes:
    """Return what was sent and answered, for a person to read."""
    calls: list[Ballot] = list(found.ballots)
    pictures: list[dict[str, Any]] = [
        {"name": one.name, "media_type": one.media_type, "bytes": len(one.data)} for one in request.pictures
    ]
    data = {
        "judge": call.name,
        "question": call.question,
        "model": call.model,
        "system": request.system,
        "prompt": request.prompt,
        "schema": request.schema,
        "pictures": pictures,
        "calls": calls,
        "score": found.score,
        "spread": found.spread,
        "error": found.error,
    }
    return msgspec.json.format(msgspec.json.encode(data), indent=2)

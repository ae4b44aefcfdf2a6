"""When is which question asked? About an attempt as it ends, about pairs once their eval is over, a few at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic

import anyio
import msgspec
from anyio.abc import TaskGroup

from reeval.backends import ModelReply, ModelRequest
from reeval.errors import InfrastructureError, RecordError
from reeval.grade.asked.pairs import Pair, is_asked, is_paired, pairs_of
from reeval.grade.asked.tallies import is_split
from reeval.run.questions.answering import Answer, Shown, attempt_request, bounded, read_answer, shown_of
from reeval.run.questions.desk import Desk
from reeval.run.questions.documents import PairDocument, keep_answer
from reeval.run.questions.pairing import ORDERS, Order, Sides, files_of, pair_request, read_vote, sides_of
from reeval.run.tools import Tools
from reeval.schema.plan import Plan, PlannedAttempt, PlannedEval, PlannedQuestion, planned_attempts
from reeval.schema.record import Outcome
from reeval.schema.recorded.answers import AnswerRecord, AskedKey, PairRecord, Vote
from reeval.usage import Usage

__all__ = ["Ask", "Asker", "asking"]

Ask = Callable[[str, ModelRequest], Awaitable[ModelReply]]
"""Asks the model of that name; raises ``InfrastructureError``."""
AHEAD = 2
"""Workers for each call that may run: half of them read and write while the other half waits for models."""
WARNINGS = 5
"""Model errors that are told one by one."""
ERROR_LIMIT = 1000


@asynccontextmanager
async def asking(plan: Plan, tools: Tools, ask: Ask, broken: Callable[[RecordError], None]) -> AsyncIterator[Asker]:
    """Give who asks the plan's questions; leaving the block waits until every one is answered.

    ``broken`` is called when an answer cannot be recorded.
    """
    asker = Asker(plan, tools, ask, broken)
    try:
        async with anyio.create_task_group() as tasks:
            asker.begin(tasks)
            yield asker
    finally:
        asker.finish()


class _Open(msgspec.Struct):
    """An eval with pairwise questions whose attempts have not all ended."""

    ahead: int
    """Attempts that have not ended."""
    passed: list[PlannedAttempt]


class Asker:
    """Makes at most so many calls at once: a worker asks one question after the other, and ends when none waits."""

    def __init__(self, plan: Plan, tools: Tools, ask: Ask, broken: Callable[[RecordError], None]) -> None:
        questions = [question for planned in plan.evals for question in planned.questions]
        self._plan = plan
        self._tools = tools
        self._ask = ask
        self._broken = broken
        self._calls = anyio.CapacityLimiter(max((question.max_concurrent for question in questions), default=1))
        self._working = 0
        self._desk = Desk()
        self._waiting: deque[Callable[[], Awaitable[None]]] = deque()
        self._tasks: TaskGroup | None = None
        self._open = {
            planned.id: _Open(planned.attempts, [])
            for planned in plan.evals
            if any(question.across for question in planned.questions)
        }
        self._documents: list[PairDocument] = []
        self._errors = 0
        self._held = False
        self.unasked = 0
        """Questions about an attempt or a pair that were held back."""

    def begin(self, tasks: TaskGroup) -> None:
        """Start with what a resumed run left unasked."""
        self._tasks = tasks
        for attempt in planned_attempts(self._plan) if self._tools.earlier.attempts else ():
            ended = self._tools.earlier.attempts.get(attempt.key)
            if ended is not None:
                self.ended(attempt, *ended)

    def ended(self, attempt: PlannedAttempt, outcome: Outcome, verdict: str | None) -> None:
        """Ask about an attempt that is on disk, and about pairs when it was the last one of its eval."""
        for number, question in enumerate(attempt.eval.questions, 1):
            key = AskedKey(attempt.eval.id, number, None, (attempt.id,))
            if not question.across and is_asked(outcome) and key not in self._tools.earlier.answered:
                self._add(partial(self._about_attempt, attempt, number))
        open_eval = self._open.get(attempt.eval.id)
        if open_eval is None:
            return
        if is_paired(outcome, verdict):
            open_eval.passed.append(attempt)
        self._one_less(attempt.eval)

    def left_out(self, attempts: Sequence[PlannedAttempt]) -> None:
        """Wait no longer for attempts that will not run, since what they were for is known."""
        for attempt in attempts:
            if attempt.eval.id in self._open:
                self._one_less(attempt.eval)

    def _one_less(self, planned: PlannedEval) -> None:
        self._open[planned.id].ahead -= 1
        if not self._open[planned.id].ahead:
            self._pair(planned, self._open.pop(planned.id).passed)

    def hold(self) -> None:
        """Begin no more questions: the calls that run come to their end."""
        self._held = True
        self.unasked += len(self._waiting)
        self._waiting.clear()

    def cancel(self) -> None:
        """Ask nothing more and leave the calls that run; what was answered stays."""
        self._waiting.clear()
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    def finish(self) -> None:
        """Write what is held, and say how many errors were not told."""
        try:
            for document in self._documents:
                document.flush()
        except RecordError as error:
            self._broken(error)
        more = self._errors - WARNINGS
        if more > 0:
            what = "question was" if more == 1 else "questions were"
            self._tools.reporter.warning(f"{more:,} more {what} not answered: reeval query attempt_answers, or votes")

    # --- workers --------------------------------------------------------------------------------------

    def _add(self, job: Callable[[], Awaitable[None]]) -> None:
        if self._held:
            self.unasked += 1
            return
        self._waiting.append(job)
        if self._tasks is not None and self._working < AHEAD * self._calls.total_tokens:
            self._working += 1
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._waiting.popleft()()
        except RecordError as error:
            self._waiting.clear()
            self._broken(error)
        finally:
            self._working -= 1

    async def _called(self, question: PlannedQuestion, request: ModelRequest) -> ModelReply | str:
        """Return the reply, or why there is none."""
        assert question.model is not None  # the plan has no question without one
        try:
            async with self._calls:
                return await self._ask(question.model, request)
        except InfrastructureError as error:
            return bounded(error.reason, ERROR_LIMIT)
        except Exception as error:  # noqa: BLE001 - a defect of a model's adapter must not end a run that is measured
            return bounded(f"an unexpected error: {type(error).__name__}: {error}", ERROR_LIMIT)

    # --- one attempt ----------------------------------------------------------------------------------

    async def _about_attempt(self, attempt: PlannedAttempt, number: int) -> None:
        question, recorder, began = attempt.eval.questions[number - 1], self._tools.recorder, monotonic()
        try:
            request, shown = await self._desk.done(partial(self._prepared, attempt, question))
        except RecordError as error:
            self._answered(_record(attempt, number, Answer(error=str(error)), None, began))
            return
        reply = await self._called(question, request)
        answer = Answer(error=reply) if isinstance(reply, str) else read_answer(question, reply.data)
        said = None if isinstance(reply, str) else reply
        keep = partial(keep_answer, recorder, (attempt, number), request, shown.files, said, answer.error)
        record = _record(attempt, number, answer, said, began)
        with anyio.CancelScope(shield=True):  # What was answered and paid for is kept, also on an interruption.
            ref = await self._desk.done(keep)
        self._answered(msgspec.structs.replace(record, input=ref))

    def _prepared(self, attempt: PlannedAttempt, question: PlannedQuestion) -> tuple[ModelRequest, Shown]:
        shown = shown_of(question, self._tools.recorder.recall(attempt), self._tools.recorder)
        return attempt_request(question, shown, self._tools.masker), shown

    # --- a pair ---------------------------------------------------------------------------------------

    def _pair(self, planned: PlannedEval, passed: list[PlannedAttempt]) -> None:
        answered = self._tools.earlier.answered
        for number, question in enumerate(planned.questions, 1):
            found = pairs_of(question, passed)
            pairs = [pair for pair in found if AskedKey(planned.id, number, *_asked(pair)) not in answered]
            document = PairDocument(self._tools.recorder, planned, number, len(pairs))
            self._documents.append(document)
            for pair in pairs:
                self._add(partial(self._about_pair, pair, number, document))

    async def _about_pair(self, pair: Pair, number: int, document: PairDocument) -> None:
        question = pair.left.eval.questions[number - 1]
        try:
            sides = await self._desk.done(partial(self._sides, pair, question))
        except RecordError as error:
            votes = [Vote(shown_first=first, error=str(error)) for first in ORDERS]
            self._answered(_pair_record(pair, number, votes, None))
            return
        votes, served = [], None
        for first in ORDERS:
            vote, model = await self._vote(pair, question, sides, first, document)
            votes.append(vote)
            served = model or served
        record = _pair_record(pair, number, votes, served)
        self._answered(record)
        document.add(record)

    def _sides(self, pair: Pair, question: PlannedQuestion) -> Sides:
        recorder = self._tools.recorder
        records = recorder.recall(pair.left), recorder.recall(pair.right)
        return sides_of(pair, question, records, self._plan, recorder)

    async def _vote(
        self, pair: Pair, question: PlannedQuestion, sides: Sides, first: Order, document: PairDocument
    ) -> tuple[Vote, str | None]:
        request = await self._desk.done(partial(pair_request, question, sides, first, self._tools.masker))
        reply = await self._called(question, request)
        if isinstance(reply, str):
            document.call(pair, first, request, files_of(sides, first), None, reply)
            return Vote(shown_first=first, error=reply), None
        vote = msgspec.structs.replace(read_vote(first, reply.data), usage=reply.usage)
        document.call(pair, first, request, files_of(sides, first), reply, vote.error)
        return vote, reply.model

    # --- what came of it ------------------------------------------------------------------------------

    def _answered(self, record: AnswerRecord | PairRecord) -> None:
        """Record an answer, then tell it."""
        self._tools.recorder.answer(record)
        self._tools.reporter.question_answered(record, len(self._waiting))
        for what, error in _errors(record):
            self._errors += 1
            if self._errors <= WARNINGS:
                text = f"{record.eval}: question {record.question} about {what} was not answered: {error}"
                self._tools.reporter.warning(self._tools.masker.text(text))


def _asked(pair: Pair) -> tuple[str, tuple[str, str]]:
    return pair.factor, (pair.left.id, pair.right.id)


def _errors(record: AnswerRecord | PairRecord) -> Iterator[tuple[str, str]]:
    if isinstance(record, PairRecord):
        for vote in record.votes:
            if vote.error is not None:
                yield f"{record.left} and {record.right}", vote.error
    elif record.error is not None:
        yield record.attempt, record.error


def _record(
    attempt: PlannedAttempt, number: int, answer: Answer, reply: ModelReply | None, began: float
) -> AnswerRecord:
    question = attempt.eval.questions[number - 1]
    return AnswerRecord(
        eval=attempt.eval.id,
        attempt=attempt.id,
        question=number,
        text=question.text,
        model=question.model or "",
        answer=answer.answer,
        choice=answer.choice,
        reason=answer.reason,
        error=answer.error,
        served=reply.model if reply else None,
        usage=reply.usage if reply else Usage(),
        duration=round(monotonic() - began, 3),
    )


def _pair_record(pair: Pair, number: int, votes: list[Vote], served: str | None) -> PairRecord:
    question = pair.left.eval.questions[number - 1]
    left_value, right_value = pair.values
    return PairRecord(
        eval=pair.left.eval.id,
        question=number,
        text=question.text,
        model=question.model or "",
        factor=pair.factor,
        left=pair.left.id,
        right=pair.right.id,
        left_value=left_value,
        right_value=right_value,
        votes=votes,
        split=is_split(votes),
        served=served,
    )

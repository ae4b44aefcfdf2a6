"""How is a data question asked? The ground truth runs, the agent answers, both queries run on one state, and compare.

A broken ground truth is found before the agent is paid for. Only the agent's own turn counts against the timeout.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import msgspec

from reeval.backends import QueryError, Snapshots
from reeval.errors import Phase
from reeval.grade.data.answer import answer_sql
from reeval.grade.data.ending import verdict_of
from reeval.grade.data.sample import bounded_sql, differing_rows, sample_of
from reeval.grade.outcome import Verdict
from reeval.run.data.database import RunDatabase
from reeval.schema.data.questions import DataQuestion
from reeval.schema.data.results import ResultTable
from reeval.schema.record import AttemptFailure
from reeval.schema.recorded.data import DataRecord, Reason, ResultSample

if TYPE_CHECKING:
    from reeval.grade.rows.compare import Comparison
    from reeval.run.body.context import Context

__all__ = ["DataBody", "DataTask"]

_DOUBTS = 10.0
"""Seconds that looking for what is wrong with a ground truth may take, where an answer fails."""
_AGENTS = frozenset({Phase.SANDBOX, Phase.SETUP, Phase.HARNESS, Phase.MODEL})
"""Phases in which an agent's run fails."""


class DataTask(msgspec.Struct, frozen=True, kw_only=True):
    """A question that an attempt asks."""

    question: DataQuestion
    database: RunDatabase
    tells_schema: bool = False
    """Its agent cannot look at the database, so that the prompt tells what is in it."""


class _Ended(Exception):  # noqa: N818 - an ending is no error
    """The question is decided before its results are compared."""

    def __init__(self, reason: Reason, analysis: str) -> None:
        super().__init__(analysis)
        self.reason = reason
        self.analysis = analysis


class DataBody:
    """Asks one question and remembers how that ended."""

    def __init__(self, task: DataTask, paused: Callable[[], AbstractContextManager[None]]) -> None:
        """``paused`` stops the attempt's clock for a block."""
        self._task = task
        self._paused = paused
        self._decided = False
        self._record = DataRecord(
            space=task.question.space,
            question=task.question.name,
            truth_sql=bounded_sql(task.question.sql),
            certified_query=task.question.certified_query,
        )

    async def run(self, c: Context[Any]) -> None:
        """Run it as a body."""
        try:
            await self._run(c)
        except _Ended as ended:
            self._keep(reason=ended.reason, analysis=ended.analysis)
        self._decided = True

    def ended(self, failure: AttemptFailure | None) -> tuple[DataRecord, Verdict]:
        """Return the record and the outcome; ``failure`` is what broke, or the agent's timeout."""
        if failure is not None and not self._decided:
            agents = failure.phase is None or failure.phase in _AGENTS
            said = (
                f"The agent did not end: {failure.detail or failure.reason}."
                if failure.phase is None
                else failure.reason
            )
            self._keep(reason=Reason.AGENT_ERROR if agents else None, analysis=said)
        return self._record, verdict_of(self._record, failure)

    # --- the steps ------------------------------------------------------------------------------------

    async def _run(self, c: Context[Any]) -> None:
        sql = await self._truth()
        turn = await c.send(await self._prompt())
        if turn.status == "failed":
            raise _Ended(Reason.AGENT_ERROR, f"The agent's turn failed: {_ends(turn.error)}")
        found = answer_sql(turn)
        if found is None:
            raise _Ended(Reason.NO_QUERY, "The agent ran no query, so there is nothing to compare.")
        self._keep(agent_sql=bounded_sql(found))
        with self._paused():
            async with self._task.database.grading:
                await self._grade(sql, found)

    async def _truth(self) -> str:
        """Return the ground truth, which runs."""
        question = self._task.question
        if question.sql is None:
            name = f" {question.certified_query!r}" if question.certified_query else ""
            raise _Ended(Reason.TRUTH_NOT_FOUND, f"There is no certified query{name} in the space {question.space!r}.")
        sql = question.sql
        with self._paused():
            try:
                truth = await self._task.database.once("truth", sql, partial(self._try_truth, sql))
            except QueryError as error:
                raise _Ended(Reason.TRUTH_FAILED, _sentence("The ground truth does not run", error)) from error
        self._keep(truth=truth)
        return sql

    async def _try_truth(self, sql: str, *, again: bool = True) -> ResultSample:
        async with self._task.database.grading, self._task.database.snapshot() as snapshot:
            found = await _result(snapshot, sql)
        if isinstance(found, QueryError) and found.lost and again:
            return await self._try_truth(sql, again=False)
        if isinstance(found, QueryError):
            raise found
        return sample_of(found)

    async def _prompt(self) -> str:
        question = self._task.question.question
        if not self._task.tells_schema:
            return question
        with self._paused():
            try:
                schema = await self._task.database.schema()
            except QueryError as error:
                raise _Ended(Reason.TRUTH_FAILED, _sentence("The tables cannot be listed", error)) from error
        return f"{question}\n\nThe database:\n\n{schema}"

    async def _grade(self, sql: str, found: str) -> None:
        from reeval.grade.rows.compare import compare_results

        truth, answer = await self._both(sql, found)
        if any(isinstance(one, QueryError) and one.lost for one in (truth, answer)):
            truth, answer = await self._both(sql, found)
        if isinstance(truth, QueryError):
            raise _Ended(Reason.TRUTH_FAILED, _sentence("The ground truth does not run any more", truth))
        if isinstance(answer, QueryError):
            raise _Ended(Reason.QUERY_ERROR, _sentence("The agent's query does not run", answer))
        self._keep(truth=sample_of(truth), agent=sample_of(answer))
        exact = self._task.question.exact
        compare = partial(compare_results, truth, answer, exact=exact, answered="The agent returned")
        compared: Comparison = await anyio.to_thread.run_sync(compare, abandon_on_cancel=True)
        rows = differing_rows(compared.differing)
        self._keep(differing=rows, reason=compared.reason, analysis=compared.analysis)
        suspicions = await self._suspicions(sql) if compared.verdict == "fail" else ()
        self._keep(warnings=(*compared.warnings, *suspicions))

    async def _suspicions(self, sql: str) -> tuple[str, ...]:
        """Return what may be wrong with the ground truth itself, which is asked once where an answer fails."""
        database = self._task.database

        async def look() -> tuple[str, ...]:
            from reeval.run.data.audit import audit

            async with database.snapshot() as snapshot:
                return await audit(sql, snapshot, dialect=database.kind, limit=_DOUBTS)

        try:
            return await database.once("audit", sql, look)
        except Exception:  # noqa: BLE001 - a doubt that cannot be looked into changes nothing of the verdict
            return ()

    async def _both(self, sql: str, found: str) -> tuple[ResultTable | QueryError, ResultTable | QueryError]:
        """Return what both queries give on one state of the database; where the first fails, the second is not run."""
        try:
            async with self._task.database.snapshot() as snapshot:
                truth = await _result(snapshot, sql)
                answer = truth if isinstance(truth, QueryError) else await _result(snapshot, found)
        except QueryError as error:
            return error, error
        return truth, answer

    # --- what is remembered ---------------------------------------------------------------------------

    def _keep(self, **fields: Any) -> None:
        self._record = msgspec.structs.replace(self._record, **fields)


async def _result(snapshot: Snapshots, sql: str) -> ResultTable | QueryError:
    """Return why a query gives no result instead of raising it: a snapshot may wrap what leaves its block."""
    try:
        return await snapshot.query(sql)
    except QueryError as error:
        return error


def _sentence(what: str, error: QueryError) -> str:
    text = str(error).strip() or "the database gave no reason"
    return f"{what}: {text}"


def _ends(text: str | None) -> str:
    """Return the first line and the last, which of a traceback says what happened."""
    first, *more = (text or "it gave no reason").strip().splitlines()
    return f"{first} … {more[-1].strip()}" if more else first

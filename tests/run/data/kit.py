"""A database of answers known beforehand, and a run that asks questions about it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from reeval.backends import DatabaseKind, QueryError
from reeval.protocols import Room
from reeval.run.runner import run_plan
from reeval.run.tools import Tools
from reeval.schema.data.questions import DataQuestion, PlannedDatabase
from reeval.schema.data.results import Column, ResultTable
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness, PlannedSandbox
from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.data import DataRecord
from reeval.schema.transcript import Turn
from tests.run.kit import Stage

Result = ResultTable | QueryError | Callable[[], Awaitable[ResultTable]]
FILE = "agents/eval_questions.yml"
TRUTH = "SELECT truth"


def table(*rows: tuple[Any, ...], names: Sequence[str] = ("region", "total")) -> ResultTable:
    width = len(rows[0]) if rows else len(names)
    columns = tuple(
        Column(name=names[at], type="VARCHAR" if rows and isinstance(rows[0][at], str) else "INTEGER")
        for at in range(width)
    )
    return ResultTable(columns=columns, rows=list(rows))


GOLD = table(("north", 10), ("south", 20))


@dataclass
class KnownDatabase:
    """Answers each query from ``results``, and remembers which were asked in which snapshot."""

    results: dict[str, Result] = field(default_factory=lambda: {TRUTH: GOLD})
    asked: list[list[str]] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    now: int = 0
    most_at_once: int = 0
    cancelled: int = 0
    trouble: Exception | None = None

    @asynccontextmanager
    async def open(self, planned: PlannedDatabase, environ: Mapping[str, str]) -> AsyncIterator[KnownDatabase]:
        self.opened += 1
        if self.trouble is not None:
            raise self.trouble
        async with anyio.create_task_group():
            yield self
        self.closed += 1

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[KnownSnapshot]:
        self.asked.append(asked := [])
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            async with anyio.create_task_group():
                yield KnownSnapshot(self, asked)
        finally:
            self.now -= 1

    async def describe(self) -> str:
        self.asked.append(["describe"])
        return "CREATE TABLE sales (region VARCHAR)"


@dataclass
class KnownSnapshot:
    database: KnownDatabase
    asked: list[str]

    async def query(self, sql: str) -> ResultTable:
        self.asked.append(sql)
        await anyio.lowlevel.checkpoint()
        result = self.database.results.get(sql, QueryError(f"there is no {sql!r}"))
        if isinstance(result, QueryError):
            raise result
        if isinstance(result, ResultTable):
            return result
        try:
            return await result()
        except anyio.get_cancelled_exc_class():
            self.database.cancelled += 1
            raise


def says(text: str, **more: Any) -> Callable[[str, Room], Awaitable[Turn]]:
    async def answer(prompt: str, room: Room) -> Turn:
        return Turn(prompt=prompt, message=text, **more)

    return answer


def block(sql: str) -> str:
    return f"Here it is.\n\n```sql\n{sql}\n```\n"


def question(name: str = "revenue", **more: Any) -> DataQuestion:
    more.setdefault("sql", TRUTH)
    return DataQuestion(name=name, question=more.pop("question", "What is the revenue by region?"), **more)


@dataclass
class DataStage:
    """A stage whose plan asks ``questions``."""

    stage: Stage
    database: KnownDatabase = field(default_factory=KnownDatabase)
    questions: list[DataQuestion] = field(default_factory=lambda: [question()])
    needs_schema: bool = False
    runs: int = 1

    def plan(self) -> Plan:
        stage = self.stage
        return Plan(
            kind="pass-fail",
            evals=tuple(self._planned(one) for one in self.questions),
            harnesses={id: PlannedHarness(id=id, kind=id) for id in stage.harnesses},
            sandboxes={"plain": PlannedSandbox(id="plain", kind="plain", isolated=False)},
            environments={},
            database=PlannedDatabase(kind="duckdb", url="duckdb:known"),
            max_concurrent=stage.max_concurrent,
        )

    def tools(self) -> Tools:
        tools = self.stage.tools()
        kinds = {
            name: _with_schema(kind) if self.needs_schema else kind for name, kind in tools.catalog.harnesses.items()
        }
        known = DatabaseKind(name="duckdb", open=self.database.open)
        catalog = type(tools.catalog)(
            harnesses=kinds, sandboxes=tools.catalog.sandboxes, models=tools.catalog.models, databases={"duckdb": known}
        )
        return replace(tools, catalog=catalog)

    def run(self) -> list[AttemptRecord]:
        anyio.run(run_plan, self.plan(), self.tools())
        return self.stage.recorder.records

    def record(self) -> tuple[AttemptRecord, DataRecord]:
        """Run one attempt and return its record and its answer."""
        (record,) = self.run()
        assert isinstance(record.data, list)
        (data,) = record.data
        return record, data

    def _planned(self, one: DataQuestion) -> PlannedEval:
        return PlannedEval(
            id=f"{FILE}::{one.name}",
            file=FILE,
            path=(one.name,),
            slug=one.name,
            line=3,
            kind="pass-fail",
            mode="run",
            cells=tuple(
                PlannedCell(key=f"{id}/-/plain", harness=id, environment="-", sandbox="plain")
                for id in self.stage.harnesses
            ),
            runs=self.runs,
            timeout=self.stage.timeout,
            task="task",
            data=one,
        )


def _with_schema(kind: Any) -> Any:
    from dataclasses import replace

    return replace(kind, needs_schema=True)

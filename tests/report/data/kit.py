"""Data questions of a run, made by hand."""

from __future__ import annotations

from typing import Any

from reeval.grade.data.accuracy import with_accuracy
from reeval.schema.record import AttemptFailure, AttemptRecord, EvalRecord, Outcome, RunRecord
from reeval.schema.recorded.data import DataRecord, Reason, ResultSample
from reeval.schema.transcript import Turn
from tests.report.records import attempt, cell, entry, gate, run

FILE = "agents/eval_questions.yml"
ANALYSIS = "The answer has 2 rows, but the ground truth has 1."


def question(name: str, outcome: Outcome, reason: str = "", analysis: str = "", **more: Any) -> EvalRecord:
    counts = {Outcome.PASS: "passed", Outcome.FAIL: "failed", Outcome.REVIEW: "review", Outcome.ERROR: "error"}
    reports = gate(rule="none", holds=None)
    return EvalRecord(
        id=f"auto/{name}",
        file=FILE,
        path=(name,),
        slug=name,
        kind="pass-fail",
        asks=more.pop("asks", f"What is {name}?"),
        cells=[cell("analyst/-/fake", gate=more.pop("gate", reports), **{counts[outcome]: 1})],
        attempts=[entry("analyst/-/fake#1", outcome, reason=reason or None, analysis=analysis)],
        **more,
    )


def asked(*evals: EvalRecord, **more: Any) -> RunRecord:
    settled, accuracy = with_accuracy(evals)
    return run(*settled, accuracy=accuracy, target="dev", **more)


FOUR = (
    question("revenue", Outcome.PASS),
    question("orders", Outcome.FAIL, "Row count mismatch", ANALYSIS),
    question("returns", Outcome.REVIEW, "No query", "The agent ran no query."),
    question("discount", Outcome.ERROR, "Ground truth query failed", "The ground truth does not run: no such column."),
)


def answered(**more: Any) -> DataRecord:
    fields: dict[str, Any] = {
        "space": "auto",
        "question": "orders",
        "truth_sql": "SELECT count(*) AS orders\nFROM orders",
        "agent_sql": "SELECT region, count(*)\nFROM orders\nGROUP BY region",
        "reason": Reason.ROW_COUNT,
        "analysis": ANALYSIS,
        "truth": ResultSample(columns=("orders",), rows=((3,),), row_count=1, column_count=1),
        "agent": ResultSample(columns=("region", "n"), rows=(("north", 2), (None, 1)), row_count=2, column_count=2),
        "differing": (((3,), (2,)), ((), (1,))),
    }
    return DataRecord(**{**fields, **more})


def data_attempt(found: DataRecord | None = None, message: str = "Here **it** is.", **more: Any) -> AttemptRecord:
    failure = AttemptFailure(reason="Row count mismatch", analysis=ANALYSIS)
    return attempt(
        more.pop("outcome", Outcome.FAIL),
        eval="auto/orders",
        attempt="analyst/-/fake#1",
        failure=more.pop("failure", failure),
        turns=[Turn(prompt="What is orders?", message=message)],
        data=[found or answered()],
        **more,
    )

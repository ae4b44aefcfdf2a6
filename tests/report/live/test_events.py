"""``--json``: one object a line, and nothing else."""

from __future__ import annotations

import io
import json
from typing import Any

from reeval.report.live.events import JsonReporter
from reeval.schema.transcript import Turn
from reeval.secrets import Masker
from tests.report.records import (
    HOSTILE,
    cell,
    entry,
    evaluated,
    failed_attempt,
    plan,
    planned,
    planned_attempt,
    run,
    start,
)


def told(masker: Masker) -> list[dict[str, Any]]:
    out = io.StringIO()
    reporter = JsonReporter(out, masker=masker)
    reporter.run_started(plan(planned(runs=2)), start(), ["a fact"])
    reporter.attempt_started(planned_attempt())
    record = failed_attempt(turns=[Turn(prompt="big")], diff="big", log=HOSTILE, eval=HOSTILE)
    reporter.attempt_finished(planned_attempt(), record)
    reporter.attempts_left_out([planned_attempt(number=3), planned_attempt(number=4)])
    reporter.warning(HOSTILE)
    reporter.run_finished(run(evaluated("x", cell(passed=1), attempts=[entry()])), [record])
    reporter.close()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_attempt_that_waits_for_its_judges_is_an_event() -> None:
    out = io.StringIO()
    reporter = JsonReporter(out, masker=Masker())
    reporter.attempt_judging(planned_attempt())
    reporter.close()
    assert json.loads(out.getvalue()) == {
        "event": "attempt_judging",
        "eval": "evals/greet.eval.py::greets by name",
        "attempt": "terse/-/fake#1",
    }


def test_every_event_is_an_object_with_the_records_words() -> None:
    events = told(Masker())
    assert [event["event"] for event in events] == [
        "run_started",
        "attempt_started",
        "attempt_finished",
        "attempts_left_out",
        "warning",
        "run_finished",
    ]
    assert events[0] | {"created_at": 0} == {
        "event": "run_started",
        "run_id": "20261130-142501-x7f3",
        "kind": "pass-fail",
        "evals": 1,
        "attempts": 2,
        "created_at": 0,
        "facts": ["a fact"],
    }
    assert events[1] == {
        "event": "attempt_started",
        "eval": "evals/greet.eval.py::greets by name",
        "attempt": "terse/-/fake#1",
    }
    assert events[2]["record"]["outcome"] == "fail"
    assert events[2]["record"]["checks"][1]["label"] == "mentions Ada"
    assert not {"turns", "diff", "log"} & events[2]["record"].keys()
    assert events[3] == {"event": "attempts_left_out", "eval": "evals/greet.eval.py::greets by name", "count": 2}
    assert events[4]["text"] == HOSTILE
    assert events[5]["record"]["totals"] == {"planned": 1, "passed": 1}
    assert "attempts" not in events[5]["record"]["evals"][0]


def test_secrets_are_masked() -> None:
    assert told(Masker(["a fact"]))[0]["facts"] == ["***"]

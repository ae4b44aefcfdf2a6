"""What earlier attempts tell of a plan."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from reeval.record.forecast.samples import ENOUGH, samples
from reeval.record.format.journal import JOURNAL
from reeval.record.store import RunStore
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness, PlannedSandbox, plan_data
from reeval.schema.record import SCHEMA_VERSION, AttemptRecord, Outcome, RunStart, SpenderUsage
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, Vote
from reeval.schema.transcript import Turn
from reeval.secrets import Masker
from reeval.usage import Usage

GREETS = ("greets", "terse")


def plan(**harness: Any) -> Plan:
    return Plan(
        kind="pass-fail",
        evals=(
            PlannedEval(
                id="greets",
                file="evals/it.eval.py",
                path=("greets",),
                slug="greets",
                line=1,
                kind="pass-fail",
                mode="run",
                cells=(PlannedCell(key="terse/-/fake", harness="terse", environment="-", sandbox="fake"),),
            ),
        ),
        harnesses={"terse": PlannedHarness(id="terse", kind="fake", **{"model": "small", **harness})},
        sandboxes={"fake": PlannedSandbox(id="fake", kind="local", isolated=False)},
        environments={},
        max_concurrent=10,
    )


def attempt(number: int = 1, **more: Any) -> AttemptRecord:
    cost = more.pop("cost", 0.5)
    fields = {
        "eval": "greets",
        "attempt": f"terse/-/fake#{number}",
        "outcome": Outcome.PASS,
        "started_at": 0,
        "duration": 2.0,
        "harness": "terse",
        "sandbox": "fake",
        "run": number,
        "turns": [Turn(prompt="Greet.")],
        "usage": [SpenderUsage(spender="agent", usage=Usage(cost=cost))],
        **more,
    }
    return AttemptRecord(**fields)


def ran(root: Path, of: Plan, *attempts: AttemptRecord, answers: tuple[AnswerRecord | PairRecord, ...] = ()) -> Path:
    with RunStore(root).create(Masker()) as writer:
        start = RunStart(
            schema_version=SCHEMA_VERSION,
            run_id=writer.directory.name,
            created_at=int(time.time() * 1000),
            project="demo",
            reeval_version="0.1.0",
            python_version="3.11",
            platform="linux",
            host="box",
            pid=1,
            command=["reeval", "run"],
            plan=plan_data(of),
        )
        writer.start(start)
        for one in attempts:
            writer.attempt(one)
        for answer in answers:
            writer.answer(answer)
        return writer.directory


def test_setup_is_part_of_an_attempts_time(tmp_path: Path) -> None:
    ran(tmp_path, plan(), attempt(1), attempt(2, start_duration=3.0, cost=None))
    found = samples(RunStore(tmp_path), plan()).ran[GREETS]
    assert sorted(found.seconds) == [2.0, 5.0]
    assert found.costs == [0.5]


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.SKIPPED])
def test_attempts_that_say_nothing_of_the_agent_are_left_out(tmp_path: Path, outcome: Outcome) -> None:
    ran(tmp_path, plan(), attempt(outcome=outcome))
    assert samples(RunStore(tmp_path), plan()).ran == {}


@pytest.mark.parametrize("other", [{"model": "large"}, {"effort": "high"}])
def test_another_model_is_another_agent(tmp_path: Path, other: dict[str, str]) -> None:
    ran(tmp_path, plan(**other), attempt())
    assert samples(RunStore(tmp_path), plan()).ran == {}
    assert list(samples(RunStore(tmp_path), plan(**other)).ran) == [GREETS]


def test_limits_do_not_make_another_agent(tmp_path: Path) -> None:
    ran(tmp_path, plan(), attempt())
    assert samples(RunStore(tmp_path), plan(max_concurrent=1, start_timeout=5.0)).ran


def test_the_newest_attempts_count(tmp_path: Path) -> None:
    ran(tmp_path, plan(), *(attempt(number, duration=1.0) for number in range(1, 40)))
    ran(tmp_path, plan(), *(attempt(number, duration=2.0) for number in range(1, 21)))
    found = samples(RunStore(tmp_path), plan()).ran[GREETS].seconds
    assert len(found) == ENOUGH
    assert found.count(2.0) == 20


def test_answers_and_pairs_are_told_apart(tmp_path: Path) -> None:
    answer = AnswerRecord(
        eval="greets", attempt="terse/-/fake#1", question=1, text="Kind?", model="fake", usage=Usage(cost=0.1)
    )
    pair = PairRecord(
        eval="greets",
        question=2,
        text="Which?",
        model="fake",
        factor="harness",
        left="a",
        right="b",
        left_value="x",
        right_value="y",
        votes=[Vote(shown_first="left", usage=Usage(cost=0.1)), Vote(shown_first="right", usage=Usage(cost=0.2))],
    )
    ran(tmp_path, plan(), attempt(), answers=(answer, pair))
    asked = samples(RunStore(tmp_path), plan()).asked
    assert asked == {("greets", False): [0.1], ("greets", True): [pytest.approx(0.3)]}


def test_what_is_damaged_is_passed_over(tmp_path: Path) -> None:
    journal = ran(tmp_path, plan(), attempt()) / JOURNAL
    with journal.open("ab") as file:
        file.write(b'\xff{"type":"attempt"\n{"type":"attempt","eval":')
    (ran(tmp_path, plan(), attempt()) / JOURNAL).write_bytes(b"nothing that is JSON\n")
    assert samples(RunStore(tmp_path), plan()).ran[GREETS].seconds == [2.0]
    assert samples(RunStore(tmp_path / "elsewhere"), plan()).ran == {}


def test_a_bounded_part_of_a_long_history_is_read(tmp_path: Path) -> None:
    big = "x" * 3000
    ran(tmp_path, plan(), attempt(1, duration=9.0), *(attempt(n, log=big, eval="other") for n in range(2, 3200)))
    assert samples(RunStore(tmp_path), plan()).ran == {}

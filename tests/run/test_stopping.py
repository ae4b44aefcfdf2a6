"""Runs that stop early: what starts, what does not, and that the speed of an attempt decides nothing."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from reeval.grade.early.decided import Decided
from reeval.grade.early.rules import early_of
from reeval.protocols import Recorder
from reeval.run.runner import run_plan
from reeval.run.stopping import Stopping
from reeval.run.tools import Earlier
from reeval.schema.environment import Environment
from reeval.schema.plan import Plan, PlannedCompare, planned_attempts
from reeval.schema.record import AttemptRecord, Outcome
from tests.run.kit import MemoryRecorder, MemoryReporter, Stage

HELPS = """
@evaluate("helps")
async def helps(c):
    c.check(c.cell.environment, equals("house"))
"""
BEST = """
@evaluate("mostly")
async def mostly(c):
    c.check(c.run, not_(equals(1)))
"""
KEY = "evals/it.eval.py::helps@terse/{}/plain#{}"


def compared(stage: Stage, source: str, runs: int = 20) -> Plan:
    stage.environments = {name: Environment(name=name) for name in ("plain", "house")}
    stage.runs = runs
    stage.write(source)
    plan = stage.plan()
    (planned,) = plan.evals
    cells = tuple(
        dataclasses.replace(cell, role="control" if cell.environment == "plain" else "variant")
        for cell in planned.cells
    )
    sides = PlannedCompare(control="plain", variants=("house",), gate="variants")
    decided = dataclasses.replace(planned, cells=cells, until="decided", compare=sides)
    return dataclasses.replace(plan, evals=(decided,))


def best_of(stage: Stage, source: str, runs: int) -> Plan:
    stage.runs = runs
    stage.write(source)
    plan = stage.plan()
    return dataclasses.replace(plan, evals=tuple(dataclasses.replace(it, until="majority") for it in plan.evals))


def runs_of(stage: Stage) -> Counter[str]:
    return Counter(record.environment for record in stage.recorder.records)


def test_nothing_more_starts_once_every_variant_is_told(stage: Stage) -> None:
    stage.max_concurrent = 2
    anyio.run(run_plan, compared(stage, HELPS), stage.tools())
    found = runs_of(stage)
    assert 4 <= found["plain"] <= 7
    assert abs(found["plain"] - found["house"]) <= 1
    assert len(stage.recorder.records) + len(stage.reporter.left_out) == 40
    assert len(set(stage.reporter.left_out)) == len(stage.reporter.left_out)
    assert not {f"{record.eval}@{record.attempt}" for record in stage.recorder.records} & set(stage.reporter.left_out)


def test_what_runs_when_it_is_decided_ends_and_is_recorded(stage: Stage) -> None:
    stage.max_concurrent = 16
    anyio.run(run_plan, compared(stage, HELPS), stage.tools())
    assert sorted(stage.reporter.started) == sorted(stage.reporter.finished)
    assert len(stage.recorder.records) < 40
    assert {record.outcome for record in stage.recorder.records} == {Outcome.PASS, Outcome.FAIL}


def test_what_cannot_be_told_runs_to_its_end(stage: Stage) -> None:
    anyio.run(run_plan, compared(stage, HELPS.replace("house", "other"), runs=6), stage.tools())
    assert runs_of(stage) == {"plain": 6, "house": 6}
    assert stage.reporter.left_out == []


def test_a_cell_stops_at_its_majority(stage: Stage) -> None:
    stage.max_concurrent = 1
    anyio.run(run_plan, best_of(stage, BEST, 9), stage.tools())
    assert [record.run for record in stage.recorder.records] == list(range(1, 7))
    assert len(stage.reporter.left_out) == 3


def test_evals_beside_it_make_all_their_runs(stage: Stage) -> None:
    stage.max_concurrent = 1
    stage.runs = 5
    stage.write(BEST + BEST.replace("mostly", "always"))
    plan = stage.plan()
    evals = (dataclasses.replace(plan.evals[0], until="majority"), plan.evals[1])
    anyio.run(run_plan, dataclasses.replace(plan, evals=evals), stage.tools())
    found = Counter(record.eval.rpartition("::")[2] for record in stage.recorder.records)
    assert found == {"mostly": 4, "always": 5}


# --- going on -------------------------------------------------------------------------------------------


def ended(runs: range, **outcomes: Outcome) -> dict[str, tuple[Outcome, str | None]]:
    return {KEY.format(side, run): (outcome, None) for side, outcome in outcomes.items() for run in runs}


def test_a_resumed_run_that_is_decided_starts_nothing(stage: Stage) -> None:
    plan = compared(stage, HELPS)
    before = ended(range(1, 11), plain=Outcome.FAIL, house=Outcome.PASS)
    stage.changes = {"done": frozenset(before), "earlier": Earlier(attempts=before)}
    anyio.run(run_plan, plan, stage.tools())
    assert stage.recorder.records == []
    assert len(stage.reporter.left_out) == 20


def test_a_resumed_run_goes_on_with_what_its_earlier_attempts_said(stage: Stage) -> None:
    stage.max_concurrent = 1
    plan = compared(stage, HELPS)
    anyio.run(run_plan, plan, stage.tools())
    whole = {f"{record.eval}@{record.attempt}" for record in stage.recorder.records}
    before = ended(range(1, 3), plain=Outcome.FAIL, house=Outcome.PASS)
    stage.recorder, stage.reporter = MemoryRecorder(), MemoryReporter()
    stage.changes = {"done": frozenset(before), "earlier": Earlier(attempts=before)}
    anyio.run(run_plan, plan, stage.tools())
    assert {f"{record.eval}@{record.attempt}" for record in stage.recorder.records} == whole - before.keys()


def test_an_error_that_is_tried_again_holds_back_its_run(stage: Stage) -> None:
    """With ``--retry-errors`` it is neither done nor known, and what came after it is not looked at."""
    plan = compared(stage, HELPS)
    before = ended(range(1, 11), plain=Outcome.FAIL, house=Outcome.PASS)
    again = before.pop(KEY.format("plain", 1))
    assert again
    outcomes = {key: outcome for key, (outcome, _) in before.items()}
    stopping = Stopping(plan, run_id="20261130-000000-test", done=before, earlier=outcomes)
    assert stopping.begin() == []
    (first, *_) = planned_attempts(plan)
    assert stopping.needed(first)
    stopping.started(first)
    left = stopping.ended(first, Outcome.FAIL)
    assert {attempt.run for attempt in left} == set(range(11, 21))


# --- honest at any speed --------------------------------------------------------------------------------


class Drawn:
    """Runs an attempt by drawing whether it passes; passes of the variant take long."""

    def __init__(self, seed: int, rate: float) -> None:
        self._source = random.Random(seed)
        self._rate = rate
        self.now = 0
        self.most = 0

    async def execute(self, plan: Plan, key: str, recorder: Recorder, collected: Any = None) -> AttemptRecord:
        self.now += 1
        self.most = max(self.most, self.now)
        passed = self._source.random() < self._rate
        attempt = key.rpartition("@")[2]
        _, environment, _ = attempt.partition("#")[0].split("/")
        for _ in range(12 if passed and environment == "house" else 1):
            await anyio.lowlevel.checkpoint()
        self.now -= 1
        return recorder.attempt(
            AttemptRecord(
                eval=plan.evals[0].id,
                attempt=attempt,
                outcome=Outcome.PASS if passed else Outcome.FAIL,
                started_at=0,
                duration=0.0,
                harness="terse",
                sandbox="plain",
                environment=environment,
                run=int(attempt.partition("#")[2]),
            )
        )


def test_slow_passes_on_one_side_make_no_claims_with_40_attempts_at_once(tmp_path: Path) -> None:
    """Without a true difference at most 5 % may be told; fed in the order of ending it would be most of them."""
    stage = Stage(tmp_path)
    stage.max_concurrent = 40
    plan = compared(stage, HELPS, runs=50)
    told = 0
    by_ending = 0
    times = 60
    for seed in range(times):
        drawn = Drawn(seed, 0.5)
        stage.recorder, stage.reporter = MemoryRecorder(), MemoryReporter()
        stage.changes = {"executor": drawn}
        anyio.run(run_plan, plan, stage.tools())
        assert drawn.most == 40
        told += is_told(plan, stage.recorder.records)
        assert is_told(plan, stage.recorder.records) or not stage.reporter.left_out
        by_ending += is_told(plan, by_order_of_ending(stage.recorder.records))
    assert told <= 0.05 * times + 2 * (0.05 * 0.95 * times) ** 0.5
    assert by_ending > 3 * told, "the order of ending is what makes the difference"


def is_told(plan: Plan, records: list[AttemptRecord]) -> bool:
    """Say what the run's record says."""
    rule = early_of(plan.evals[0], seed="20261130-000000-test")
    assert isinstance(rule, Decided)
    for record in records:
        rule.add((record.harness, record.environment, record.sandbox), None, record.run, record.outcome)
    return rule.last_run is not None


def by_order_of_ending(records: list[AttemptRecord]) -> list[AttemptRecord]:
    """Return the records as if each side's runs had been numbered when they ended."""
    counts: Counter[str] = Counter()
    numbered = []
    for record in records:
        counts[record.environment] += 1
        run = counts[record.environment]
        numbered.append(replace(record, run=run, attempt=f"{record.attempt.partition('#')[0]}#{run}"))
    return numbered

"""What is recorded of evals that stopped early: what need not run is not missing, and lifts follow their own rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reeval.errors import ExitCode
from reeval.record.compile import compile_record
from reeval.record.store import RunStore
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCompare
from reeval.schema.record import Outcome, RunRecord
from tests.record.compares import recorded
from tests.record.samples import attempt, plan, planned_eval, record

NONE = ResolvedGate(rule="none")
SIDES = {"plain": "f", "house": "p"}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def decided(store: RunStore, control: str, variant: str, **more: Any) -> RunRecord:
    return compile_record(recorded(store, {"plain": control, "house": variant}, runs=20, until="decided", **more))


def test_a_decided_compare_is_complete_and_says_after_how_many_runs(store: RunStore) -> None:
    found = decided(store, "fffff", "ppppp")
    (planned,) = found.evals
    (lift,) = planned.lifts
    assert [cell.planned for cell in planned.cells] == [5, 5]
    assert (found.totals.planned, found.totals.finished, found.exit_code) == (10, 10, ExitCode.OK)
    assert planned.notes[-1].startswith("decided after ")
    assert (lift.said, lift.doubt, lift.p) == ("helped", None, None)
    assert lift.low is not None
    assert lift.low > 0


def test_a_compare_that_is_not_decided_misses_what_is_planned(store: RunStore) -> None:
    found = decided(store, "ff", "pp")
    (planned,) = found.evals
    assert [cell.planned for cell in planned.cells] == [20, 20]
    assert found.totals.planned == 40
    assert found.exit_code == ExitCode.UNDECIDED
    assert planned.notes == ()
    assert (planned.lifts[0].said, planned.lifts[0].doubt) == ("can't tell yet", "few attempts")


def test_a_result_that_a_fixed_number_of_runs_would_tell_is_open_where_one_looked_after_each(store: RunStore) -> None:
    fixed = compile_record(recorded(store, {"plain": "pffff", "house": "ppppp"}, runs=5, gate=NONE))
    assert fixed.evals[0].lifts[0].said == "helped"
    (planned,) = decided(store, "pffff", "ppppp", gate=NONE).evals
    assert (planned.lifts[0].said, planned.lifts[0].p) == ("can't tell yet", None)


def test_runs_after_it_was_told_do_not_count_in_the_lift(store: RunStore) -> None:
    (short,) = decided(store, "ffffff", "pppppp").evals
    (longer,) = decided(store, "ffffffpp", "ppppppff", gate=NONE).evals
    assert longer.lifts[0].variant_passed == short.lifts[0].variant_passed == short.lifts[0].variant_decided
    assert longer.lifts[0].lift == short.lifts[0].lift == 1.0
    assert longer.cells[1].failed == 2


def test_an_error_of_the_body_leaves_what_was_told_open(store: RunStore) -> None:
    (planned,) = decided(store, "ffffffff", "pbpppppp").evals
    assert (planned.lifts[0].said, planned.lifts[0].doubt) == ("can't tell yet", "body errors")


def test_a_min_lift_is_held_by_the_runs_that_count(store: RunStore) -> None:
    compare = PlannedCompare(control="plain", variants=("house",), gate="variants", min_lift=1.0)
    found = decided(store, "ffffffpp", "ppppppff", compare=compare, gate=NONE)
    (lift,) = found.evals[0].lifts
    assert (lift.holds, lift.undecided, found.exit_code) == (True, False, ExitCode.OK)


@pytest.mark.parametrize("evals", [1, 3])
def test_lifts_over_several_early_stops_claim_nothing(store: RunStore, evals: int) -> None:
    sides = {f"{harness}/{name}": 8 * word for harness in ("terse", "chatty") for name, word in SIDES.items()}
    found = compile_record(
        recorded(store, sides, evals=evals, harnesses=("terse", "chatty"), runs=20, until="decided", gate=NONE)
    )
    *alone, stratified = found.evals[0].lifts
    assert [lift.said for lift in alone] == ["helped", "helped"]
    for lift in (stratified, *found.lifts):
        assert (lift.said, lift.doubt, lift.lift) == ("can't tell yet", "stopped early", pytest.approx(1.0))
        assert (lift.low, lift.high, lift.p) == (None, None, None)
    assert len(found.lifts) == (evals > 1)


def test_a_majority_is_the_gate_of_its_cell(store: RunStore) -> None:
    planned = planned_eval(runs=5, until="majority", gate=ResolvedGate(rule="majority"))
    fails = attempt(2, outcome=Outcome.FAIL)
    found = compile_record(record(store, attempt(1), fails, attempt(3), attempt(4), planned=plan(planned)))
    (cell,) = found.evals[0].cells
    assert (cell.gate.rule, cell.gate.holds, cell.planned, found.exit_code) == ("majority", True, 4, ExitCode.OK)
    assert found.evals[0].notes == ("1 of 5 attempts was not needed for a majority",)
    assert found.totals.planned == 4
    short = compile_record(record(store, attempt(1), fails, attempt(3), planned=plan(planned)))
    assert (short.evals[0].cells[0].gate.undecided, short.totals.planned, short.exit_code) == (True, 5, 3)

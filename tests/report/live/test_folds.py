"""Which evals are done while a run goes on."""

from __future__ import annotations

from reeval.report.live.folds import EvalFolds
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedAttempt, PlannedCompare, PlannedEval
from reeval.schema.record import EvalRecord, Outcome
from tests.report.records import attempt, planned


def of(one: PlannedEval, run: int) -> PlannedAttempt:
    return PlannedAttempt(eval=one, cell=one.cells[0], case=None, run=run)


def add(folds: EvalFolds, one: PlannedEval, *outcomes: Outcome) -> EvalRecord | None:
    """Add runs from the first on; return what the last one says."""
    found = None
    for run, outcome in enumerate(outcomes, 1):
        found = folds.add(of(one, run), attempt(outcome, eval=one.id, attempt=of(one, run).id))
    return found


def test_an_eval_is_done_with_its_last_attempt() -> None:
    folds, one = EvalFolds(), planned(runs=2)
    assert add(folds, one, Outcome.PASS) is None
    found = folds.add(of(one, 2), attempt(Outcome.FAIL))
    assert found is not None
    assert (found.cells[0].planned, found.cells[0].gate.holds) == (2, False)
    assert folds.done == {one.id}


def test_an_eval_that_stopped_at_its_majority_is_done_without_what_was_left_out() -> None:
    folds = EvalFolds()
    one = planned(runs=5, until="majority", gate=ResolvedGate(rule="majority"))
    assert add(folds, one, Outcome.PASS, Outcome.FAIL, Outcome.PASS) is None
    folds.leave_out([of(one, 5)])
    assert folds.done == set()
    found = folds.add(of(one, 4), attempt(Outcome.PASS))
    assert found is not None
    assert (found.cells[0].planned, found.cells[0].gate.rule, found.cells[0].gate.holds) == (4, "majority", True)


def test_a_compare_is_told_at_the_end_of_the_run() -> None:
    folds = EvalFolds()
    sides = PlannedCompare(control="-", variants=("house",), gate="variants")
    one = planned(runs=1, compare=sides)
    assert add(folds, one, Outcome.PASS) is None
    assert folds.done == set()

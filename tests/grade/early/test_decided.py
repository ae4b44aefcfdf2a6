"""When a compare is decided, whatever the order in which its attempts end."""

from __future__ import annotations

import random
from itertools import product

import pytest

from reeval.errors import Phase
from reeval.grade.cells import CellFold
from reeval.grade.compared.lifts import Said
from reeval.grade.early.decided import Decided
from reeval.grade.early.early import Place, place_of
from reeval.grade.early.rules import cell_record, early_of, fewest_runs
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import AttemptFailure, AttemptRecord, Outcome

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR


def a_cell(environment: str, harness: str = "terse") -> PlannedCell:
    return PlannedCell(
        key=f"{harness}/{environment}/fake",
        harness=harness,
        environment=environment,
        sandbox="fake",
        role="control" if environment == "plain" else "variant",
    )


def an_eval(*cells: PlannedCell, runs: int = 20, cases: tuple[str, ...] = ()) -> PlannedEval:
    return PlannedEval(
        id="evals/it.eval.py::it",
        file="evals/it.eval.py",
        path=("it",),
        slug="it",
        line=1,
        kind="pass-fail",
        mode="run",
        cases=cases,
        cells=cells or (a_cell("plain"), a_cell("house")),
        runs=runs,
        until="decided",
    )


def decided(planned: PlannedEval) -> Decided:
    rule = early_of(planned, seed="20261130-000000-test")
    assert isinstance(rule, Decided)
    return rule


def add(rule: Decided, run: int, *outcomes: Outcome, case: str | None = None) -> None:
    """Add one run of every cell, in the order of the cells."""
    for cell, outcome in zip(rule.planned.cells, outcomes, strict=True):
        rule.add(place_of(cell), case, run, outcome)


def last_run(rule: Decided) -> int | None:
    return rule.last_run


def test_sides_that_differ_in_every_run_are_told_early_and_sides_that_do_not_never() -> None:
    rule = decided(an_eval())
    for run in range(1, 21):
        add(rule, run, FAIL, PASS)
    last = last_run(rule)
    assert last is not None
    assert 4 <= last <= 6
    assert rule.told()[place_of(a_cell("house"))].said is Said.HELPED
    alike = decided(an_eval())
    for run in range(1, 21):
        add(alike, run, PASS, PASS)
    assert last_run(alike) is None
    assert alike.notes() == ()
    assert alike.closed() == []


def test_what_is_told_does_not_depend_on_the_order_in_which_attempts_end() -> None:
    source = random.Random(7)
    for _ in range(20):
        planned = an_eval(runs=12)
        attempts = [
            (place_of(cell), run, source.choice([PASS, FAIL, FAIL, ERROR]) if cell.role == "control" else PASS)
            for cell, run in product(planned.cells, range(1, 13))
        ]
        found = set()
        for _ in range(4):
            source.shuffle(attempts)
            rule = decided(planned)
            for place, run, outcome in attempts:
                rule.add(place, None, run, outcome)
            found.add((rule.last_run, rule.told()[place_of(a_cell("house"))].evidence))
        assert len(found) == 1


def test_a_run_that_one_side_has_not_settled_holds_back_all_later_ones() -> None:
    rule = decided(an_eval())
    control, variant = map(place_of, rule.planned.cells)
    for run in range(1, 11):
        rule.add(control, None, run, FAIL)
    for run in range(2, 11):
        rule.add(variant, None, run, PASS)
    assert last_run(rule) is None
    assert rule.needed((variant, None), 20)
    rule.add(variant, None, 1, PASS)
    assert last_run(rule) is not None
    assert not rule.needed((variant, None), 20)


@pytest.mark.parametrize("missing", ["other variant", "other harness"])
def test_every_side_of_the_eval_must_have_settled_a_run(missing: str) -> None:
    others = [a_cell("third")] if missing == "other variant" else [a_cell("plain", "chatty"), a_cell("house", "chatty")]
    rule = decided(an_eval(a_cell("plain"), a_cell("house"), *others))
    for run in range(1, 11):
        rule.add(place_of(a_cell("plain")), None, run, FAIL)
        rule.add(place_of(a_cell("house")), None, run, PASS)
    assert rule.told()[place_of(a_cell("house"))].pairs == 0
    for run, other in product(range(1, 11), others):
        rule.add(place_of(other), None, run, PASS if other.role == "variant" else FAIL)
    assert last_run(rule) is not None


def test_a_compare_goes_on_until_every_variant_is_told() -> None:
    rule = decided(an_eval(a_cell("plain"), a_cell("house"), a_cell("third")))
    for run in range(1, 11):
        add(rule, run, FAIL, PASS, FAIL)
    assert last_run(rule) is None
    assert rule.told()[place_of(a_cell("house"))].said is Said.HELPED
    for run in range(11, 21):
        add(rule, run, FAIL, FAIL, PASS)
    last = rule.last_run
    assert last is None or last > 10
    assert rule.told()[place_of(a_cell("house"))].said is Said.HELPED, "what is told stays told"


def test_an_error_drops_its_pair_and_settles_its_run() -> None:
    plain, broken = decided(an_eval()), decided(an_eval())
    for run in range(1, 11):
        add(plain, run, FAIL, PASS)
        add(broken, run, ERROR if run in {2, 3} else FAIL, PASS)
    assert plain.last_run is not None
    assert broken.last_run == plain.last_run + 2


def test_without_sides_nothing_is_ever_decided() -> None:
    rule = decided(an_eval(a_cell("plain"), runs=4))
    for run in range(1, 5):
        add(rule, run, PASS)
    assert last_run(rule) is None
    assert rule.told() == {}


def test_cases_are_looked_at_together_after_the_runs_that_were_planned_for_that() -> None:
    cases = tuple("abcdefgh")
    planned = an_eval(runs=8, cases=cases)
    assert fewest_runs(planned) < 8
    rule = decided(planned)
    for run, case in product(range(1, 9), cases):
        add(rule, run, FAIL, PASS, case=case)
    assert rule.last_run == fewest_runs(planned)
    assert rule.closed() == list(rule.outcomes)
    assert rule.closed() == []


def test_what_the_plan_does_not_have_and_what_comes_twice_is_left_out() -> None:
    rule = decided(an_eval(runs=5))
    rule.add(("other", "plain", "fake"), None, 1, PASS)
    rule.add(place_of(a_cell("plain")), "a case", 1, PASS)
    for run in (0, 6):
        add(rule, run, PASS, PASS)
    add(rule, 1, FAIL, PASS)
    add(rule, 1, PASS, PASS)
    assert {place: runs for (place, _), runs in rule.outcomes.items()} == {
        place_of(a_cell("plain")): {1: FAIL},
        place_of(a_cell("house")): {1: PASS},
    }


# --- what it means for the record -----------------------------------------------------------------------


def a_fold(rule: Decided, place: Place) -> CellFold:
    fold = CellFold()
    for (where, _), runs in rule.outcomes.items():
        for run, outcome in runs.items() if where == place else ():
            failure = AttemptFailure(reason="it broke", phase=Phase.HARNESS) if outcome is ERROR else None
            fold.add(
                AttemptRecord(
                    eval=rule.planned.id,
                    attempt=f"x#{run}",
                    outcome=outcome,
                    started_at=0,
                    duration=1.0,
                    harness=place[0],
                    sandbox=place[2],
                    run=run,
                    failure=failure,
                )
            )
    return fold


def test_what_need_not_run_is_not_missing_and_what_ran_ahead_is_told() -> None:
    rule = decided(an_eval())
    for run in range(1, 9):
        add(rule, run, FAIL, PASS)
    last = rule.last_run
    assert last is not None
    variant = rule.planned.cells[1]
    record = cell_record(rule.planned, variant, a_fold(rule, place_of(variant)), rule)
    assert (record.planned, record.passed, record.gate.holds) == (8, 8, True)
    assert rule.not_run == 24
    ahead = 2 * (8 - last)
    (note,) = rule.notes()
    assert note == (
        f"decided after {last} of at most 20 runs a side; {ahead} of later runs, which had started, are not looked at"
    )


def test_an_error_of_a_run_that_was_not_needed_leaves_nothing_open() -> None:
    rule = decided(an_eval())
    for run in range(1, 8):
        add(rule, run, FAIL, PASS if run < 7 else ERROR)
    assert (last_run(rule) or 7) < 7
    variant = rule.planned.cells[1]
    record = cell_record(rule.planned, variant, a_fold(rule, place_of(variant)), rule)
    assert (record.error, record.gate.holds, record.gate.undecided) == (1, True, False)


def test_before_it_is_decided_everything_planned_is_missing() -> None:
    rule = decided(an_eval())
    add(rule, 1, FAIL, PASS)
    variant = rule.planned.cells[1]
    record = cell_record(rule.planned, variant, a_fold(rule, place_of(variant)), rule)
    assert (record.planned, record.gate.holds, record.gate.undecided) == (20, None, True)

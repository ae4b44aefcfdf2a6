"""When a cell has its majority, and whether it passes by it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reeval.grade.early.early import place_of
from reeval.grade.early.majority import Majority
from reeval.grade.early.rules import early_of, fewest_runs
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedEval
from reeval.schema.record import Outcome

CELL = PlannedCell(key="terse/-/fake", harness="terse", environment="-", sandbox="fake")
WORDS = {"p": Outcome.PASS, "f": Outcome.FAIL, "e": Outcome.ERROR, "s": Outcome.SKIPPED, "r": Outcome.REVIEW}
GATE = ResolvedGate(rule="majority")


def majority(of: int, *cases: str) -> Majority:
    planned = PlannedEval(
        id="evals/it.eval.py::it",
        file="evals/it.eval.py",
        path=("it",),
        slug="it",
        line=1,
        kind="pass-fail",
        mode="run",
        cases=cases,
        cells=(CELL,),
        runs=of,
        until="majority",
        gate=GATE,
    )
    rule = early_of(planned, seed="")
    assert isinstance(rule, Majority)
    assert fewest_runs(planned) == of // 2 + 1
    return rule


def add(rule: Majority, outcomes: str, case: str | None = None) -> Majority:
    for run, word in enumerate(outcomes, 1):
        rule.add(place_of(CELL), case, run, WORDS[word])
    return rule


def says(rule: Majority, *, body_errors: bool = False) -> bool | None:
    found = rule.gate(CELL, GATE, body_errors=body_errors)
    assert found is not None
    assert found.undecided == (found.holds is None)
    return found.holds


SETTLED: Sequence[tuple[int, str, bool, bool | None]] = [
    (3, "p", False, None),
    (3, "pp", True, True),
    (3, "pf", False, None),
    (3, "pfp", True, True),
    (3, "ff", True, False),
    (3, "rr", True, False),
    (5, "ppf", False, None),
    (5, "pppf", True, True),
    (4, "ppf", False, None),
    (4, "ff", True, False),
    (1, "p", True, True),
    (3, "ep", False, None),
    (3, "epp", True, True),
    (3, "epf", True, None),
    (5, "eepp", True, None),
    (3, "eee", False, None),
    (3, "spp", True, True),
    (3, "sp", False, None),
    (3, "spf", True, False),
]


@pytest.mark.parametrize(("of", "outcomes", "settled", "holds"), SETTLED)
def test_a_cell_settles_and_passes_by_its_majority(of: int, outcomes: str, settled: bool, holds: bool | None) -> None:
    rule = add(majority(of), outcomes)
    assert rule.needed((place_of(CELL), None), of) is not settled
    assert bool(rule.closed()) is settled
    assert says(rule) is holds


def test_every_case_needs_a_majority_of_its_own() -> None:
    rule = majority(3, "a", "b")
    add(rule, "pp", "a")
    assert rule.closed() == [(place_of(CELL), "a")]
    assert not rule.needed((place_of(CELL), "a"), 3)
    assert rule.needed((place_of(CELL), "b"), 3)
    assert (says(rule), rule.had_to_run(CELL), rule.notes()) == (None, 5, ())
    add(rule, "fpf", "b")
    assert (says(rule), rule.had_to_run(CELL)) == (False, 5)
    assert rule.notes() == ("1 of 6 attempts was not needed for a majority",)


def test_a_cell_never_passes_around_an_error_of_the_body() -> None:
    assert says(add(majority(3), "epp"), body_errors=True) is None
    assert says(add(majority(3), "eff"), body_errors=True) is False


def test_a_cell_whose_attempts_were_all_skipped_has_no_gate() -> None:
    found = add(majority(3), "sss").gate(CELL, GATE, body_errors=False)
    assert found is not None
    assert (found.holds, found.undecided, found.value) == (None, False, None)


def test_another_gate_is_left_to_the_counts() -> None:
    assert add(majority(3), "pp").gate(CELL, ResolvedGate(rule="none"), body_errors=False) is None

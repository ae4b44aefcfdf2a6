"""Lifts between two runs."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.errors import Phase
from reeval.grade.compared.lifts import Doubt, Said
from reeval.grade.versus.results import Versus, versus
from reeval.schema.observation import CheckStatus
from reeval.schema.plan import PlannedEval
from reeval.schema.record import AttemptFailure, CheckRecord, Outcome
from tests.grade.versus.samples import EARLIER, FILE, LATER, Came, attempt, attempts, plan, planned, run


def compared(one: PlannedEval, earlier: Came, later: Came, **more: Any) -> Versus:
    made = plan(one)
    return versus(run(EARLIER, made, attempts(one, earlier)), run(LATER, made, attempts(one, later, **more)))


OUTCOMES: dict[str, tuple[str, str, Said, Doubt | None, float | None]] = {
    "all passed, then none": ("pppp", "ffff", Said.WORSE, None, -1.0),
    "none passed, then all": ("ffff", "pppp", Said.HELPED, None, 1.0),
    "a review is no pass": ("pppppp", "rrrrrr", Said.WORSE, None, -1.0),
    "all pass": ("pppp", "pppp", Said.OPEN, Doubt.CHANCE, 0.0),
    "all fail": ("ffff", "ffff", Said.OPEN, Doubt.CHANCE, 0.0),
    "few attempts": ("ppp", "fff", Said.OPEN, Doubt.ATTEMPTS, -1.0),
    "errors do not count": ("ppppe", "ffffee", Said.WORSE, None, -1.0),
    "one side all errors": ("pppp", "eeee", Said.OPEN, Doubt.NOTHING, None),
    "nothing ran": ("pppp", "", Said.OPEN, Doubt.NOTHING, None),
    "one side all skipped": ("ssss", "pppp", Said.OPEN, Doubt.NOTHING, None),
    "a small difference": ("pppp", "pppf", Said.OPEN, Doubt.CHANCE, -0.25),
}


@pytest.mark.parametrize(("earlier", "later", "said", "doubt", "lift"), OUTCOMES.values(), ids=OUTCOMES)
def test_the_earlier_run_is_the_control(
    earlier: str, later: str, said: Said, doubt: Doubt | None, lift: float | None
) -> None:
    (cell,) = compared(planned(), earlier, later).evals[0].cells
    assert (cell.lift.said, cell.lift.doubt, cell.lift.lift) == (said.value, doubt and doubt.value, lift)


def test_an_error_of_the_body_leaves_it_open() -> None:
    one = planned()
    made = plan(one)
    broken = attempt(one, "terse/-/fake", 9, Outcome.ERROR, failure=AttemptFailure(reason="KeyError", phase=Phase.BODY))
    found = versus(run(EARLIER, made, attempts(one, "pppp")), run(LATER, made, [*attempts(one, "ffff"), broken]))
    assert found.evals[0].cells[0].lift.doubt == Doubt.BODY_ERRORS
    assert list(found.worse()) == []


def test_attempts_of_a_case_count_as_one() -> None:
    cases = tuple("abcdefgh")
    told = {f"terse/-/fake[{case}]": "ff" for case in cases}
    (cell,) = compared(planned(cases=cases), told | {}, dict.fromkeys(told, "pp")).evals[0].cells
    assert (cell.lift.cases, cell.lift.said) == (8, Said.HELPED)
    few = dict(list(told.items())[:5])
    (cell,) = compared(planned(cases=cases), told, dict.fromkeys(few, "pp")).evals[0].cells
    assert (cell.lift.cases, cell.lift.doubt) == (5, Doubt.CASES)


def test_scored_runs_compare_their_mean_scores() -> None:
    one = planned(kind="scored")
    made = plan(one)
    sides = [
        run(
            id,
            made,
            [attempt(one, "terse/-/fake", n, Outcome.SCORED, score=base + n / 10) for n in range(1, 7)],
        )
        for id, base in ((EARLIER, 1), (LATER, 3))
    ]
    found = versus(sides[0], sides[1])
    (cell,) = found.evals[0].cells
    assert found.scored
    assert cell.lift.lift == pytest.approx(2.0)
    assert cell.lift.said == Said.HELPED


def test_measures_are_compared_where_both_sides_know_them() -> None:
    one = planned()
    made = plan(one)
    old = run(EARLIER, made, attempts(one, "pppppp", tokens=100, duration=1.0))
    new = run(LATER, made, attempts(one, "pppppp", tokens=50, duration=1.0))
    (cell,) = versus(old, new).evals[0].cells
    measures = {one.name: one for one in cell.lift.measures}
    assert list(measures) == ["tokens", "duration", "turns"]
    assert (measures["tokens"].said, measures["tokens"].difference) == ("less", -50)
    assert measures["duration"].said == "can't tell yet"


def checked(name: str, *, holds: bool) -> CheckRecord:
    status = CheckStatus.MATCHED if holds else CheckStatus.MISMATCHED
    return CheckRecord(label=name, match="includes", status=status, gate=True, holds=holds)


def test_a_lift_that_is_told_names_the_checks_that_made_it() -> None:
    one = planned()
    made = plan(one)
    same, little, lot, new = "same", "a little", "a lot", "only now"
    old = [
        attempt(one, "terse/-/fake", n, Outcome.PASS, checks=[checked(it, holds=True) for it in (same, little, lot)])
        for n in range(1, 5)
    ]
    now = [
        attempt(
            one,
            "terse/-/fake",
            n,
            Outcome.FAIL,
            checks=[
                checked(same, holds=True),
                checked(little, holds=n > 1),
                checked(lot, holds=False),
                checked(new, holds=False),
            ],
        )
        for n in range(1, 5)
    ]
    (cell,) = versus(run(EARLIER, made, old), run(LATER, made, now)).evals[0].cells
    assert [(it.label, it.earlier.held, it.later.held, it.change) for it in cell.checks] == [
        (lot, 4, 0, -1.0),
        (little, 4, 3, -0.25),
    ]
    (cell,) = versus(run(EARLIER, made, old[:3]), run(LATER, made, now[:3])).evals[0].cells
    assert cell.checks == ()


@pytest.mark.parametrize(("earlier", "later", "differ"), [("pppp", "ppee", True), ("pe", "pe", False)])
def test_sides_with_far_more_errors_are_flagged(earlier: str, later: str, differ: bool) -> None:
    (cell,) = compared(planned(), earlier, later).evals[0].cells
    assert ("errors" in cell.lift.flags) is differ


def test_several_evals_are_pooled_by_cell_and_over_all() -> None:
    evals = [planned(name, "terse/-/fake", "codex/-/fake") for name in ("a", "b", "c", "d", "e", "f", "g", "h")]
    made = plan(*evals)
    sides = [
        run(id, made, *(attempts(one, {"terse/-/fake": terse, "codex/-/fake": "p"}) for one in evals))
        for id, terse in ((EARLIER, "p"), (LATER, "f"))
    ]
    found = versus(sides[0], sides[1])
    assert {cell.lift.doubt for one in found.evals for cell in one.cells} == {Doubt.ATTEMPTS}
    assert [(it.cell, it.lift.evals, it.lift.lift) for it in found.pooled] == [
        ("terse/-/fake", 8, -1.0),
        ("codex/-/fake", 8, 0.0),
        (None, 8, -0.5),
    ]
    assert [what for what, _ in found.worse()] == ["all evals@terse/-/fake", "all evals"]


def test_one_eval_is_not_pooled() -> None:
    assert compared(planned("a", "terse/-/fake", "codex/-/fake"), {}, {}).pooled == ()


def test_what_got_worse_is_named_so_that_it_can_be_pasted() -> None:
    found = compared(planned(), "pppp", "ffff")
    assert [what for what, _ in found.worse()] == [f"{FILE}::greets@terse/-/fake"]


def test_attempts_that_no_cell_of_the_plan_stands_for_are_passed_over() -> None:
    one = planned()
    stray = attempts(planned("greets", "gone/-/fake"), "ffff")
    made = plan(one)
    found = versus(run(EARLIER, made, attempts(one, "pppp")), run(LATER, made, attempts(one, "pppp"), stray))
    assert [(it.lift.control_decided, it.lift.variant_decided) for it in found.evals[0].cells] == [(4, 4)]

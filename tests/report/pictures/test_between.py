"""The lifts between two runs, as they are drawn."""

from __future__ import annotations

from reeval.grade.versus.results import Versus, versus
from reeval.grade.versus.sides import RunFold, RunSide
from reeval.report.pictures.bars import picture_of
from reeval.report.pictures.between import RUNS, lifts_between
from reeval.schema.plan import Plan, planned_attempts
from reeval.schema.record import AttemptRecord, Outcome
from tests.report.records import CREATED, plan, planned, run


def side(run_id: str, plan_of: Plan, *, passing: int) -> RunSide:
    """Return a run whose first ``passing`` attempts of each eval pass."""
    fold = RunFold(plan_of)
    for one in planned_attempts(plan_of):
        record = AttemptRecord(
            eval=one.eval.id, attempt=one.id, outcome=Outcome.PASS if one.run <= passing else Outcome.FAIL,
            started_at=CREATED, duration=0.1, harness=one.cell.harness, sandbox=one.cell.sandbox, run=one.run,
        )  # fmt: skip
        fold.add(record, tool_calls=None)
    return fold.run(run(run_id=run_id))


def compared(*names: str) -> Versus:
    both = plan(*(planned(name, runs=6) for name in names))
    return versus(side("20261129-120000-aaaa", both, passing=6), side("20261130-120000-bbbb", both, passing=0))


def test_each_cell_has_a_bar_and_the_evals_together_have_one() -> None:
    picture = picture_of(lifts_between(compared("adds", "greets")), sides=RUNS)
    assert picture is not None
    assert picture.title == "Lift over run 20261129-120000-aaaa"
    assert picture.meaning == "pass rate of the later run minus the earlier one's, with its 95 % interval"
    assert [(bar.variant, bar.about, bar.said, bar.point) for bar in picture.bars] == [
        ("terse/-/fake", "2 evals", "made it worse", -1.0),
        ("terse/-/fake", "adds", "made it worse", -1.0),
        ("terse/-/fake", "greets", "made it worse", -1.0),
    ]


def test_numbers_are_those_of_the_table() -> None:
    found = compared("adds")
    ((title, drawn),) = lifts_between(found)
    lift = found.evals[0].cells[0].lift
    assert title == "adds"
    assert (drawn.lift, (drawn.low, drawn.high), drawn.said) == (lift.lift, (lift.low, lift.high), lift.said)


def test_a_side_with_nothing_decided_has_no_numbers() -> None:
    both = plan(planned("adds", runs=4))
    nothing = RunFold(both).run(run(run_id="20261130-120000-bbbb"))
    picture = picture_of(lifts_between(versus(side("20261129-120000-aaaa", both, passing=4), nothing)), sides=RUNS)
    assert picture is not None
    assert picture.bars[0].sentence == "terse/-/fake, adds: nothing decided, can't tell yet"

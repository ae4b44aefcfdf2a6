"""The range in which a plan's time and cost are expected."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from reeval.grade.forecast.estimate import Estimate, Ran, Samples, estimate
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness, PlannedQuestion, PlannedSandbox

SPREAD = [1.0, 2.0, 3.0, 4.0, 5.0]
"""Mean 3, deviation 1.58."""


def planned(name: str = "greets", *, harnesses: tuple[str, ...] = ("terse",), runs: int = 1) -> PlannedEval:
    return PlannedEval(
        id=name,
        file="evals/it.eval.py",
        path=(name,),
        slug=name,
        line=1,
        kind="pass-fail",
        mode="run",
        runs=runs,
        cells=tuple(PlannedCell(key=f"{id}/-/fake", harness=id, environment="-", sandbox="fake") for id in harnesses),
    )


def plan(*evals: PlannedEval, at_once: int = 1, **limits: int) -> Plan:
    ids = {cell.harness for one in evals for cell in one.cells}
    return Plan(
        kind="pass-fail",
        evals=evals,
        harnesses={id: PlannedHarness(id=id, kind="fake", max_concurrent=limits.get(id)) for id in ids},
        sandboxes={
            "fake": PlannedSandbox(id="fake", kind="local", isolated=False, max_concurrent=limits.get("sandbox"))
        },
        environments={},
        max_concurrent=at_once,
    )


def ran(seconds: list[float], costs: list[float] | None = None, *, eval: str = "greets", by: str = "terse") -> Samples:
    return Samples(ran={(eval, by): Ran(seconds=seconds, costs=costs or [])})


def expected(of: Plan, samples: Samples) -> Estimate:
    found = estimate(of, samples)
    assert found is not None
    return found


def test_nothing_is_said_of_what_never_ran() -> None:
    assert estimate(plan(planned()), Samples()) is None
    assert estimate(plan(planned()), ran([1.0], by="another")) is None
    assert estimate(plan(replace(planned(), mode="skip")), ran([1.0])) is None


@pytest.mark.parametrize(
    ("costs", "runs", "cost"),
    [
        ([2.0], 1, (2.0, 2.0)),
        ([2.0], 10, (20.0, 20.0)),
        ([1.0, 3.0], 1, (1.0, 3.0)),
        ([1.0, 1.0, 1.0, 5.0], 10, (10.0, 50.0)),
        # one attempt: 3 ± 1.2816 · 1.5811 · √(1 + 1/5)
        (SPREAD, 1, (0.780, 5.0)),
        # ten: 30 ± 1.2816 · 1.5811 · √(10 + 100/5)
        (SPREAD, 10, (18.901, 41.099)),
        ([3.0] * 30, 10, (30.0, 30.0)),
    ],
)
def test_a_cost_is_the_range_of_a_sum(costs: list[float], runs: int, cost: tuple[float, float]) -> None:
    found = expected(plan(planned(runs=runs)), ran([1.0] * len(costs), costs))
    assert found.cost == pytest.approx((max(cost[0], min(costs) * runs), cost[1]), abs=0.001)


def test_four_of_five_sums_lie_in_the_range() -> None:
    chance, inside = random.Random(4), 0
    for _ in range(400):
        earlier = [chance.gauss(10, 2) for _ in range(20)]
        found = expected(plan(planned(runs=10)), ran([1.0] * 20, earlier))
        assert found.cost is not None
        inside += found.cost[0] <= sum(chance.gauss(10, 2) for _ in range(10)) <= found.cost[1]
    assert 0.74 <= inside / 400 <= 0.86


def test_a_rare_and_dear_attempt_is_in_the_range() -> None:
    found = expected(plan(planned(runs=100)), ran([1.0] * 20, [0.01] * 19 + [10.0]))
    assert found.cost is not None
    assert found.cost[0] < 50 < found.cost[1]


@pytest.mark.parametrize(
    ("runs", "limits", "seconds"),
    [
        (1, {}, (10.0, 10.0)),
        (4, {"at_once": 10}, (10.0, 10.0)),
        (20, {"at_once": 10}, (20.0, 20.0)),
        (21, {"at_once": 10}, (21.0, 30.0)),
        (20, {"at_once": 10, "terse": 2}, (100.0, 100.0)),
        (20, {"at_once": 10, "sandbox": 4}, (50.0, 50.0)),
    ],
)
def test_time_goes_by_the_tightest_limit(runs: int, limits: dict[str, int], seconds: tuple[float, float]) -> None:
    found = expected(plan(planned(runs=runs), **limits), ran([10.0] * 6))
    assert found.seconds == pytest.approx(seconds)


def test_the_longest_attempt_may_begin_last() -> None:
    samples = Samples(ran={("short", "terse"): Ran(seconds=[1.0]), ("long", "terse"): Ran(seconds=[100.0])})
    found = expected(plan(planned("short", runs=20), planned("long"), at_once=10), samples)
    assert found.seconds == pytest.approx((100.0, 12 + 90))


def test_what_never_ran_is_counted_and_left_out() -> None:
    samples = Samples(ran={("a", "terse"): Ran(seconds=[1.0], costs=[2.0]), ("b", "terse"): Ran(seconds=[1.0])})
    evals = (planned("a", harnesses=("terse", "new")), planned("b"), planned("c"), planned("d"))
    found = expected(plan(*evals), samples)
    assert (found.evals, found.new, found.unpriced) == (4, 3, 1)
    assert (found.seconds, found.cost, found.attempts) == ((2.0, 2.0), (2.0, 2.0), 2)


def test_a_cost_that_nobody_ever_said_stays_unknown() -> None:
    assert expected(plan(planned()), ran([1.0])).cost is None


def test_an_eval_that_may_stop_early_may_take_less() -> None:
    early = replace(planned(runs=5), until="majority")
    found = expected(plan(early), ran([10.0], [1.0]))
    assert (found.seconds, found.cost) == ((30.0, 50.0), (3.0, 5.0))


def test_questions_cost_too_and_pairs_may_not_come_to_be() -> None:
    asked = (PlannedQuestion(text="Kind?", count=4), PlannedQuestion(text="Which?", across=("harness",), count=2))
    samples = ran([1.0], [1.0])
    samples.asked = {("greets", False): [0.5], ("greets", True): [0.25]}
    found = expected(plan(replace(planned(runs=4), questions=asked)), samples)
    assert found.cost == pytest.approx((4 + 2, 4 + 2 + 0.5))


def test_several_environments_share_what_is_known_of_an_agent() -> None:
    two = planned(harnesses=("terse", "terse"), runs=5)
    assert expected(plan(two), ran([1.0] * 5, SPREAD)) == expected(plan(planned(runs=10)), ran([1.0] * 5, SPREAD))

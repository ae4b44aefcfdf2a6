from __future__ import annotations

from collections.abc import Iterator

import pytest

from reeval.run.dispatch import Dispatcher, Limits
from reeval.schema.plan import PlannedAttempt, PlannedCell, PlannedEval


def attempts(*cells: tuple[str, str], runs: int) -> Iterator[PlannedAttempt]:
    planned = PlannedEval(
        id="evals/it.eval.py::it",
        file="evals/it.eval.py",
        path=("it",),
        slug="it",
        line=1,
        kind="pass-fail",
        mode="run",
        cells=tuple(
            PlannedCell(key=f"{harness}/-/{sandbox}", harness=harness, environment="-", sandbox=sandbox)
            for harness, sandbox in cells
        ),
        runs=runs,
    )
    for run in range(1, runs + 1):
        for cell in planned.cells:
            yield PlannedAttempt(eval=planned, cell=cell, case=None, run=run)


def taken(dispatcher: Dispatcher) -> list[str]:
    """Take until nothing may start."""
    ids = []
    while (attempt := dispatcher.take()) is not None:
        ids.append(attempt.id)
    return ids


@pytest.mark.parametrize(
    ("limits", "starts"),
    [
        (Limits(run=3), ["slow/-/a#1", "fast/-/a#1", "slow/-/a#2"]),
        (Limits(run=4, harnesses={"slow": 1}), ["slow/-/a#1", "fast/-/a#1", "fast/-/a#2", "fast/-/a#3"]),
        (Limits(run=9, harnesses={"slow": 0}), ["fast/-/a#1", "fast/-/a#2", "fast/-/a#3"]),
        (Limits(run=9, sandboxes={"a": 2}), ["slow/-/a#1", "fast/-/a#1"]),
        (Limits(run=9, harnesses={"slow": 1}, sandboxes={"a": 2}), ["slow/-/a#1", "fast/-/a#1"]),
        (Limits(run=0), []),
    ],
)
def test_the_first_attempts_that_all_limits_have_room_for_start(limits: Limits, starts: list[str]) -> None:
    assert taken(Dispatcher(attempts(("slow", "a"), ("fast", "a"), runs=3), limits)) == starts


def test_what_had_to_wait_comes_before_what_was_planned_later() -> None:
    planned = list(attempts(("slow", "a"), ("fast", "a"), runs=3))
    dispatcher = Dispatcher(planned, Limits(run=2, harnesses={"slow": 1}))
    assert taken(dispatcher) == ["slow/-/a#1", "fast/-/a#1"]
    dispatcher.release(planned[1])
    assert taken(dispatcher) == ["fast/-/a#2"]
    dispatcher.release(planned[0])
    dispatcher.release(planned[3])
    assert taken(dispatcher) == ["slow/-/a#2", "fast/-/a#3"]


def test_nothing_waits_for_a_sandbox_while_holding_a_harness() -> None:
    """A full sandbox must not use up the places of its harness."""
    planned = list(attempts(("one", "full"), ("one", "free"), runs=2))
    dispatcher = Dispatcher(planned, Limits(run=9, harnesses={"one": 2}, sandboxes={"full": 1}))
    assert taken(dispatcher) == ["one/-/full#1", "one/-/free#1"]
    dispatcher.release(planned[1])
    assert taken(dispatcher) == ["one/-/free#2"]


def test_what_is_not_needed_any_more_is_passed_over_also_where_it_waits() -> None:
    planned = list(attempts(("slow", "a"), ("fast", "a"), runs=4))
    dropped: set[str] = set()
    limits = Limits(run=9, harnesses={"slow": 1, "fast": 2})
    dispatcher = Dispatcher(planned, limits, lambda attempt: attempt.id not in dropped)
    assert taken(dispatcher) == ["slow/-/a#1", "fast/-/a#1", "fast/-/a#2"]
    dropped |= {"slow/-/a#2", "slow/-/a#3", "fast/-/a#3"}
    dispatcher.release(planned[0])
    dispatcher.release(planned[1])
    assert taken(dispatcher) == ["slow/-/a#4", "fast/-/a#4"]
    assert dispatcher.running == 3


def test_every_attempt_is_handed_out_once_in_any_order_of_release() -> None:
    planned = list(attempts(("a", "x"), ("b", "x"), ("b", "y"), runs=50))
    dispatcher = Dispatcher(planned, Limits(run=7, harnesses={"a": 2, "b": 4}, sandboxes={"x": 3}))
    running: list[PlannedAttempt] = []
    ids: list[str] = []
    while True:
        attempt = dispatcher.take()
        if attempt is None:
            if not running:
                break
            dispatcher.release(running.pop(len(ids) % len(running)))
            continue
        running.append(attempt)
        ids.append(attempt.id)
        cells = [one.cell for one in running]
        assert len(running) <= 7
        assert sum(cell.harness == "a" for cell in cells) <= 2
        assert sum(cell.harness == "b" for cell in cells) <= 4
        assert sum(cell.sandbox == "x" for cell in cells) <= 3
    assert sorted(ids) == sorted(attempt.id for attempt in planned)
    assert dispatcher.running == 0


def test_the_plan_is_read_only_as_far_as_needed() -> None:
    read = 0

    def endless() -> Iterator[PlannedAttempt]:
        nonlocal read
        for attempt in attempts(("a", "x"), runs=10**9):
            read += 1
            yield attempt

    assert len(taken(Dispatcher(endless(), Limits(run=10)))) == 10
    assert read == 10

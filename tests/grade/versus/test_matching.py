"""Where two runs can be compared."""

from __future__ import annotations

import pytest

from reeval.errors import UsageError
from reeval.grade.versus.matching import match
from reeval.schema.plan import Plan
from tests.grade.versus.samples import FILE, plan, planned


def matched(earlier: Plan, later: Plan) -> tuple[list[str], list[str]]:
    found = match(("run a", earlier), ("run b", later))
    cells = [f"{place.eval.removeprefix(FILE)}@{place.cell}" for _, places in found.evals for place in places]
    return cells, [f"{it.what.removeprefix(FILE)}: {it.why}" for it in found.apart]


def test_cells_of_the_same_task_are_compared_in_the_order_of_the_later_run() -> None:
    earlier = plan(planned("a"), planned("b", "terse/plain/fake", "terse/rich/fake"))
    later = plan(planned("b", "terse/rich/fake", "terse/plain/fake"), planned("a"))
    assert matched(earlier, later) == (
        ["::b@terse/rich/fake", "::b@terse/plain/fake", "::a@terse/-/fake"],
        [],
    )


def test_what_cannot_be_compared_is_listed_with_its_reason() -> None:
    earlier = plan(planned("same", "terse/-/fake", "old/-/fake"), planned("edited"), planned("gone"), planned("stops"))
    later = plan(
        planned("same", "new/-/fake", "terse/-/fake"),
        planned("edited", task="t2"),
        planned("added"),
        planned("stops", until="decided"),
    )
    early = "its runs end as soon as their results say enough (until_decided, best_of)"
    assert matched(earlier, later) == (
        ["::same@terse/-/fake"],
        [
            "::same@new/-/fake: only in run b",
            "::same@old/-/fake: only in run a",
            "::edited: its task changed",
            "::added: only in run b",
            f"::stops: {early}",
            "::gone: only in run a",
        ],
    )


def test_an_eval_that_did_not_run_is_in_no_run() -> None:
    earlier = plan(planned("a"), planned("b", mode="skip"))
    later = plan(planned("a"), planned("b"))
    assert matched(earlier, later) == (["::a@terse/-/fake"], ["::b: only in run b"])


NOTHING: dict[str, tuple[Plan, Plan, str]] = {
    "kinds": (
        plan(planned(kind="scored")),
        plan(planned()),
        "run a is scored and run b is pass-fail: passes and scores cannot be compared; name a pass-fail run",
    ),
    "evals": (
        plan(*(planned(name) for name in "vwxyz")),
        plan(planned("a")),
        f"no eval in common: run b has {FILE}::a; run a has {FILE}::v, {FILE}::w, {FILE}::x and 2 more",
    ),
    "nothing at all": (plan(), plan(planned("a")), "run a has none"),
    "tasks": (
        plan(planned("a"), planned("gone")),
        plan(planned("a", task="t2")),
        f"run b and run a have no task in common: {FILE}::a changed in between",
    ),
    "cells": (
        plan(planned("a", "old/-/fake")),
        plan(planned("a", "new/-/fake")),
        "no cell in common (harness/environment/sandbox): run b has new/-/fake; run a has old/-/fake",
    ),
    "runs of a fixed number": (
        plan(planned("a", until="majority")),
        plan(planned("a")),
        f"whose runs end as soon as their results say enough (until_decided, best_of): {FILE}::a; compare runs with",
    ),
}


@pytest.mark.parametrize(("earlier", "later", "said"), NOTHING.values(), ids=NOTHING)
def test_runs_with_nothing_in_common_are_refused_with_what_there_is(earlier: Plan, later: Plan, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        match(("run a", earlier), ("run b", later))
    assert said in str(caught.value)

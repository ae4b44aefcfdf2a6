"""The sides of a compare, and what a profile, a pin or a flag makes of them."""

import math

import pytest

from reeval.errors import PlanError
from reeval.schema.environment import Environment
from reeval.schema.plan import PlannedCompare
from reeval.schema.spec import CompareSpec
from tests.plan.world import FILE, TWO_HARNESSES, a_group, a_plan, an_eval

PLAIN, HOUSE, OTHER = (Environment(name=name, env={"N": name}) for name in ("plain", "house", "other"))
COMPARE = CompareSpec(baseline=PLAIN, variants=(HOUSE, OTHER))
NO_COMPARE = TWO_HARNESSES + "[profile.ci.limit]\ncompare = false\n"
ONE_HARNESS = TWO_HARNESSES + '[profile.ci.limit]\nharness = "terse"\n'


def planned(root, compare, config=TWO_HARNESSES, options=None, **selection):
    (found,) = a_plan(root, an_eval(compare=compare, options=options or {}), config=config, **selection).evals
    return found


def cells(found) -> list[tuple[str, str | None]]:
    return [(cell.key.removesuffix("/fake"), cell.role) for cell in found.cells]


def refusal(root, compare, **fields) -> str:
    with pytest.raises(PlanError) as caught:
        planned(root, compare, **fields)
    return str(caught.value)


def test_every_harness_runs_the_control_and_the_variants_four_times(tmp_path):
    found = planned(tmp_path, CompareSpec(baseline=PLAIN, variants=(HOUSE,), gate="all", min_lift=0.2))
    assert found.compare == PlannedCompare(control="plain", variants=("house",), gate="all", min_lift=0.2)
    assert cells(found) == [
        ("terse/plain", "control"),
        ("terse/house", "variant"),
        ("chatty/plain", "control"),
        ("chatty/house", "variant"),
    ]
    assert (found.runs, found.attempts, found.sources["runs"]) == (4, 16, "default")


def test_harnesses_outside_the_compare_run_the_control_alone(tmp_path):
    found = planned(tmp_path, CompareSpec(baseline=PLAIN, variants=(HOUSE,), harness=("chatty",)))
    assert cells(found) == [("terse/plain", "control"), ("chatty/plain", "control"), ("chatty/house", "variant")]


CONTROLS = [
    ({}, "baseline"),
    ({"environment": OTHER}, "other"),
]


@pytest.mark.parametrize(("options", "control"), CONTROLS)
def test_without_a_baseline_the_control_is_what_the_eval_would_have_run_in(tmp_path, options, control):
    plan = a_plan(tmp_path, an_eval(compare=CompareSpec(variants=(HOUSE,)), options=options))
    assert plan.evals[0].compare.control == control
    assert set(plan.environments) == {control, "house"}


def test_variants_are_not_layered_on_the_control(tmp_path):
    plan = a_plan(tmp_path, an_eval(compare=COMPARE))
    assert plan.environments["house"] is HOUSE


def test_a_groups_compare_holds_for_its_evals_unless_they_have_their_own(tmp_path):
    own = CompareSpec(baseline=PLAIN, variants=(OTHER,))
    plan = a_plan(tmp_path, a_group("g", an_eval("a"), an_eval("b", compare=own), compare=COMPARE))
    assert [found.compare.variants for found in plan.evals] == [("house", "other"), ("other",)]


def test_environments_of_the_config_may_be_named(tmp_path):
    config = TWO_HARNESSES + "[environment.a]\n[environment.b]\n"
    assert planned(tmp_path, CompareSpec(baseline="a", variants=("b",)), config).compare.variants == ("b",)


# --- turned off ---------------------------------------------------------------------------------------


def test_a_limit_leaves_the_control_alone(tmp_path):
    found = planned(tmp_path, COMPARE, NO_COMPARE, profile="ci")
    assert found.compare is None
    assert cells(found) == [("terse/plain", None), ("chatty/plain", None)]
    assert (found.runs, found.sources["compare"]) == (1, "profile ci")


def test_a_pin_keeps_the_compare_and_is_told(tmp_path):
    found = planned(tmp_path, COMPARE, NO_COMPARE, {"pin": ["compare"]}, profile="ci")
    assert found.compare.variants == ("house", "other")
    assert found.notes == ("compare is pinned: the limit of profile ci does not hold here",)


def test_a_limit_that_allows_compares_changes_nothing(tmp_path):
    config = TWO_HARNESSES + "[profile.ci.limit]\ncompare = true\n"
    assert planned(tmp_path, COMPARE, config, profile="ci") == planned(tmp_path, COMPARE, config)


@pytest.mark.parametrize(
    ("config", "selection", "source"),
    [(ONE_HARNESS, {"profile": "ci"}, "profile ci"), (TWO_HARNESSES, {"harnesses": ("terse",)}, "--harness")],
)
def test_a_compare_is_off_where_none_of_its_harnesses_is_left(tmp_path, config, selection, source):
    compare = CompareSpec(baseline=PLAIN, variants=(HOUSE,), harness=("chatty",))
    found = planned(tmp_path, compare, config, **selection)
    assert (found.compare, found.sources["compare"]) == (None, source)
    assert cells(found) == [("terse/plain", None)]


# --- refused ------------------------------------------------------------------------------------------

REFUSED = [
    (
        CompareSpec(baseline=PLAIN, variants=(HOUSE,), harness=("chaty", "terse")),
        "compare runs on the harness 'chaty', which this eval does not have; did you mean 'chatty'?",
    ),
    (CompareSpec(baseline=PLAIN, variants=()), "compare has no variants; name at least one environment"),
    (
        CompareSpec(baseline=PLAIN, variants=(HOUSE, PLAIN)),
        "two sides of compare are the environment 'plain'; each side needs its own",
    ),
    (
        CompareSpec(baseline=PLAIN, variants=(Environment(name="plain"),)),
        "two environments with different contents are called 'plain'; rename one of them",
    ),
    *(
        (
            CompareSpec(baseline=PLAIN, variants=(HOUSE,), min_lift=lift),
            f"min_lift is {lift!r}; it should be a number of points from -1 to 1",
        )
        for lift in (1.5, -2.0, math.nan, math.inf)
    ),
]


@pytest.mark.parametrize(("compare", "message"), REFUSED)
def test_a_compare_that_cannot_be_run_is_refused(tmp_path, compare, message):
    assert refusal(tmp_path, compare) == f"{FILE}:10: {message}"

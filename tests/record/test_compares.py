"""What a run of compares adds up to: lifts, what is said of them, and what they let the run tell the shell."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reeval.errors import ExitCode
from reeval.record.compile import compile_record
from reeval.record.store import RunStore
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCompare
from reeval.schema.record import Outcome, RunRecord
from reeval.schema.recorded.lifts import LiftRecord
from tests.record.compares import attempts, compared_eval, compared_plan, recorded
from tests.record.samples import big_turn, check, plan, record

HALF = ResolvedGate(rule="pass_rate", minimum=0.5)
SIX = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def of(store: RunStore, sides: dict[str, str], **more: Any) -> RunRecord:
    return compile_record(recorded(store, sides, **more))


def lift_of(store: RunStore, sides: dict[str, str], **more: Any) -> LiftRecord:
    (found,) = of(store, sides, **more).evals[0].lifts
    return found


def least(minimum: float, gate: Any = "variants") -> PlannedCompare:
    return PlannedCompare(control="plain", variants=("house",), gate=gate, min_lift=minimum)


# --- what is said ---------------------------------------------------------------------------------------

SAID = [
    ("ffff", "pppp", 1.0, "helped", None),
    ("pppp", "ffff", -1.0, "made it worse", None),
    ("ffff", "pppf", 0.75, "can't tell yet", "chance"),
    ("pppp", "pppp", 0.0, "can't tell yet", "chance"),
    ("ffff", "ffff", 0.0, "can't tell yet", "chance"),
    ("fff", "ppp", 1.0, "can't tell yet", "few attempts"),
    ("eeee", "pppp", None, "can't tell yet", "nothing decided"),
    ("ffff", "ssss", None, "can't tell yet", "nothing decided"),
    ("ffff", "", None, "can't tell yet", "nothing decided"),
    ("ffffe", "pppp", 1.0, "helped", None),
    ("ffff", "ppppb", 1.0, "can't tell yet", "body errors"),
    ("bffff", "pppp", 1.0, "can't tell yet", "body errors"),
    ("rrrr", "pppp", 1.0, "helped", None),
]


@pytest.mark.parametrize(("control", "variant", "lift", "said", "doubt"), SAID)
def test_a_lift_says_what_its_attempts_can_tell(
    store: RunStore, control: str, variant: str, lift: float | None, said: str, doubt: str | None
) -> None:
    found = lift_of(store, {"plain": control, "house": variant}, runs=5)
    assert (found.lift, found.said, found.doubt) == (lift, said, doubt)


def test_a_lift_is_whole(store: RunStore) -> None:
    found = lift_of(store, {"plain": "fffp", "house": "ppppe"}, runs=5)
    assert (found.variant, found.control, found.harness, found.sandbox) == ("house", "plain", "terse", "fake")
    assert (found.control_passed, found.control_decided, found.variant_passed, found.variant_decided) == (1, 4, 4, 4)
    assert (found.control_mean, found.variant_mean, found.lift) == (0.25, 1.0, 0.75)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.75 < found.high
    assert (found.cases, found.evals, found.min_lift, found.holds) == (None, None, None, None)


def test_each_variant_is_held_against_the_control(store: RunStore) -> None:
    lifts = of(store, {"plain": "ffff", "house": "pppp", "other": "ffff"}).evals[0].lifts
    assert [(one.variant, one.control, one.lift) for one in lifts] == [("house", "plain", 1.0), ("other", "plain", 0.0)]


def test_several_harnesses_have_a_lift_each_and_a_stratified_one(store: RunStore) -> None:
    sides = {"terse/plain": "ffff", "terse/house": "pppp", "chatty/plain": "ffpp", "chatty/house": "ppff"}
    lifts = of(store, sides, harnesses=("terse", "chatty")).evals[0].lifts
    assert [(one.harness, one.lift) for one in lifts] == [("terse", 1.0), ("chatty", 0.0), (None, 0.5)]
    assert (lifts[2].sandbox, lifts[2].control_passed, lifts[2].control_decided) == ("fake", 2, 8)
    assert (lifts[2].measures, lifts[2].alike) == ([], [])


def test_a_harness_that_runs_the_control_alone_has_no_lift(store: RunStore) -> None:
    planned = compared_eval(harnesses=("terse", "chatty"))
    planned = compared_eval(cells=(*planned.cells[:2], planned.cells[2]))
    run = record(store, *attempts(planned, {"plain": "ffff", "house": "pppp"}), planned=plan(planned))
    assert [one.harness for one in compile_record(run).evals[0].lifts] == ["terse"]


def test_cases_count_once_each(store: RunStore) -> None:
    sides = {"plain": "|".join(["f"] * 6), "house": "|".join(["p"] * 6)}
    found = lift_of(store, sides, cases=SIX, runs=1)
    assert (found.lift, found.cases, found.said) == (1.0, 6, "helped")


@pytest.mark.parametrize(("cases", "doubt"), [(1, "few cases"), (5, "few cases")])
def test_few_cases_tell_nothing_however_many_attempts_they_have(store: RunStore, cases: int, doubt: str) -> None:
    sides = {"plain": "|".join(["f" * 8] * cases), "house": "|".join(["p" * 8] * cases)}
    found = lift_of(store, sides, cases=SIX[:cases], runs=8)
    assert (found.lift, found.cases, found.said, found.doubt) == (1.0, cases, "can't tell yet", doubt)


def test_scored_evals_compare_mean_scores(store: RunStore) -> None:
    planned = compared_eval(kind="scored", runs=5)
    scores = {"plain": (0.1, 0.2, 0.15, 0.1), "house": (0.8, 0.9, 0.85, 0.8)}
    made = [
        one
        for name, values in scores.items()
        for number, score in enumerate(values)
        for one in list(attempts(planned, {name: "p" * 4}, score=score, verdict="pass"))[number : number + 1]
    ]
    made = [structs.replace(one, outcome=Outcome.SCORED) for one in made]
    (found,) = compile_record(record(store, *made, planned=plan(planned))).evals[0].lifts
    assert (found.scored, found.said, found.control_passed, found.control_decided) == (True, "helped", 0, 4)
    assert found.lift == pytest.approx(0.7)
    assert found.control_mean == pytest.approx(0.1375)


def test_the_order_in_which_attempts_ended_never_matters(store: RunStore) -> None:
    planned = compared_plan(cases=SIX, runs=2)
    sides = {"plain": "pf|ff|pe|fp|ff|pp", "house": "pp|fp|pp|pp|fe|pp"}
    made = list(attempts(planned.evals[0], sides, tokens={"plain": 10, "house": 20}))
    first = record(store, *made, planned=planned)
    random.Random(1).shuffle(made)
    second = record(store, *made, planned=planned)
    (one,), (other,) = ([_told(lift) for lift in compile_record(run).evals[0].lifts] for run in (first, second))
    assert one == other


def _told(lift: LiftRecord) -> Any:
    """All but the interval, whose resamples are seeded by the run's id."""
    return {name: getattr(lift, name) for name in lift.__struct_fields__ if name not in {"low", "high"}}


# --- over several evals -----------------------------------------------------------------------------------


def test_evals_that_compare_the_same_are_pooled(store: RunStore) -> None:
    found = of(store, {"plain": "ffff", "house": "pppp"}, evals=3)
    (pooled,) = found.lifts
    assert (pooled.variant, pooled.control, pooled.evals, pooled.lift) == ("house", "plain", 3, 1.0)
    assert pooled.said == "helped"


def test_one_eval_is_not_pooled(store: RunStore) -> None:
    assert of(store, {"plain": "ffff", "house": "pppp"}).lifts == []


def test_evals_that_compare_different_things_are_not_pooled(store: RunStore) -> None:
    planned = [compared_eval("a"), compared_eval("b", environments=("plain", "other"))]
    made = [one for each in planned for one in attempts(each, {"plain": "f", "house": "p", "other": "p"})]
    assert compile_record(record(store, *made, planned=plan(*planned))).lifts == []


# --- measures, flags --------------------------------------------------------------------------------------


def test_measures_that_are_not_known_are_left_out(store: RunStore) -> None:
    found = lift_of(store, {"plain": "ffff", "house": "pppp"})
    assert [one.name for one in found.measures] == ["duration", "turns", "tool_calls"]


def test_tool_calls_are_counted_in_transcripts_that_became_files(store: RunStore) -> None:
    found = lift_of(store, {"plain": "ffff", "house": "pppp"}, turns=[big_turn(), big_turn()])
    measures = {one.name: one for one in found.measures}
    assert (measures["tool_calls"].control, measures["turns"].variant) == (2.0, 2.0)


def test_a_transcript_that_is_lost_leaves_the_lift(store: RunStore) -> None:
    run = recorded(store, {"plain": "ffff", "house": "pppp"}, turns=[big_turn()])
    for path in run.path.rglob("turns.ndjson"):
        path.write_bytes(b"lost")
    (found,) = compile_record(run).evals[0].lifts
    assert found.said == "helped"
    assert [one.name for one in found.measures] == ["duration"]


@pytest.mark.parametrize(
    ("control", "variant", "subjects", "flags"),
    [
        ("pppp", "pppp", {"plain": "a", "house": "b"}, []),
        ("pppp", "pppp", {"plain": "a", "house": "a"}, ["identical"]),
        ("pppp", "ppp", {"plain": "", "house": ""}, []),
        ("pppe", "pppp", None, ["errors"]),
        ("eeee", "pppp", None, ["errors"]),
        ("eeee", "eeee", None, []),
        ("pppe", "pppe", None, []),
        ("ssss", "pppe", None, []),
    ],
)
def test_sides_that_are_not_alike_or_all_too_alike_are_flagged(
    store: RunStore, control: str, variant: str, subjects: dict[str, str] | None, flags: list[str]
) -> None:
    assert lift_of(store, {"plain": control, "house": variant}, subjects=subjects).flags == flags


def test_checks_that_tell_no_side_from_the_other_are_named(store: RunStore) -> None:
    planned = compared_eval()
    made = []
    for name, letter in (("plain", "f"), ("house", "p")):
        checks = [
            check("always"),
            check("never", holds=False),
            check("tells", holds=letter == "p"),
            structs.replace(check("measures"), holds=None, status="measured"),
        ]
        made += list(attempts(planned, {name: letter * 4}, checks=checks))
    (found,) = compile_record(record(store, *made, planned=plan(planned))).evals[0].lifts
    assert found.alike == ["always", "never"]


# --- min_lift ---------------------------------------------------------------------------------------------

HOLDS = [
    ("ffff", "pppp", 0.5, True, ExitCode.OK),
    ("ffff", "pppp", 1.0, True, ExitCode.OK),
    ("pppp", "pppp", 0.1, False, ExitCode.GATE),
    ("pppp", "pppp", 0.0, True, ExitCode.OK),
    ("pppp", "pppp", -0.2, True, ExitCode.OK),
    ("fffe", "pppp", 0.5, True, ExitCode.OK),
    ("fffe", "pppp", 0.8, None, ExitCode.UNDECIDED),
    ("fff", "pppp", 0.8, None, ExitCode.UNDECIDED),
    ("pppe", "pppp", 0.5, False, ExitCode.GATE),
    ("eeee", "pppp", 0.5, None, ExitCode.UNDECIDED),
    ("fffs", "pppp", 1.0, True, ExitCode.OK),
    ("ffff", "ssss", 0.5, None, ExitCode.OK),
]


@pytest.mark.parametrize(("control", "variant", "minimum", "holds", "code"), HOLDS)
def test_a_lift_below_min_lift_fails_whatever_its_errors_could_be(
    store: RunStore, control: str, variant: str, minimum: float, holds: bool | None, code: ExitCode
) -> None:
    found = of(store, {"plain": control, "house": variant}, compare=least(minimum))
    (lift,) = found.evals[0].lifts
    assert (lift.min_lift, lift.holds) == (minimum, holds)
    assert lift.undecided == (holds is None and code == ExitCode.UNDECIDED)
    assert found.exit_code == code


def test_rounding_never_fails_a_lift(store: RunStore) -> None:
    found = of(store, {"plain": "ppfff", "house": "pppff"}, runs=5, compare=least(0.2), gate=HALF)
    assert found.evals[0].lifts[0].holds is True


def test_min_lift_holds_for_every_harness_by_itself(store: RunStore) -> None:
    sides = {"terse/plain": "ffff", "chatty/plain": "pppp", "house": "pppp"}
    found = of(store, sides, harnesses=("terse", "chatty"), compare=least(0.5))
    assert [one.holds for one in found.evals[0].lifts] == [True, False, None]
    assert found.exit_code == ExitCode.GATE


def test_a_compare_that_only_reports_fails_no_run(store: RunStore) -> None:
    found = of(store, {"plain": "pppp", "house": "ffff"}, compare=least(0.5, gate="none"))
    assert (found.evals[0].lifts[0].holds, found.exit_code) == (None, ExitCode.OK)


def test_an_error_of_the_body_leaves_min_lift_open(store: RunStore) -> None:
    found = of(store, {"plain": "fffb", "house": "pppp"}, compare=least(0.5))
    assert (found.evals[0].lifts[0].holds, found.exit_code) == (None, ExitCode.UNDECIDED)


def test_a_record_keeps_its_lifts(store: RunStore) -> None:
    first = recorded(store, {"plain": "ffff", "house": "pppp"})
    assert compile_record(first) == compile_record(first)

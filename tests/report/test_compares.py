"""Blocks of compares, compared as whole texts; pass@k."""

from __future__ import annotations

import pytest
from msgspec import structs

from reeval.report.screen.blocks import block, status
from reeval.report.screen.compares import lift_text, pooled_lines
from reeval.report.screen.ink import PLAIN, Ink
from reeval.report.screen.passes import cell_passes, shown_k, split_id
from reeval.report.summary import summary_text
from reeval.report.text import width
from reeval.schema.record import EvalRecord
from tests.report.compares import evaluated, pooled
from tests.report.records import HOSTILE, run

TOKENS = {"plain": 3100, "with-house-greeting": 2800}
HELPED = {"plain": "ffff", "with-house-greeting": "pppp"}
BODY = "can't tell yet: errors of the eval's own code may hide what the agent did"


def shown(record: EvalRecord, cells: int | None = None, *, every: bool = False) -> str:
    return "\n".join(block(record, cells=cells, all_cases=every))


def test_a_compare_has_a_row_for_each_side() -> None:
    assert (
        shown(evaluated(HELPED, tokens=TOKENS), 80)
        == """\
pass greets by name
                       pass    lift                       tokens
  plain                0 of 4  ·                          3.1k
  with-house-greeting  4 of 4  +1.00 [0.31, 1.00] helped  2.8k  −10% (less)"""
    )


def test_where_tokens_do_not_fit_they_stand_below() -> None:
    assert (
        shown(evaluated(HELPED, tokens=TOKENS), 60)
        == """\
pass greets by name
                       pass    lift
  plain                0 of 4  ·
  with-house-greeting  4 of 4  +1.00 [0.31, 1.00] helped
  tokens 3.1k → 2.8k  −10% (less)"""
    )


def test_at_40_columns_sides_are_stacked() -> None:
    assert (
        shown(evaluated(HELPED, tokens=TOKENS), 40)
        == """\
pass greets by name
  plain
    0 of 4
  with-house-greeting
    4 of 4
    +1.00 [0.31, 1.00] helped
  tokens 3.1k → 2.8k  −10% (less)"""
    )


def test_verbose_shows_every_measure_and_pass_at_k() -> None:
    record = evaluated({"plain": "pfff", "with-house-greeting": "pppf"}, tokens=TOKENS)
    assert (
        shown(record, 100, every=True)
        == """\
fail greets by name
                       pass    lift                                tokens
  plain                1 of 4  ·                                   3.1k
  with-house-greeting  3 of 4  +0.50 [−0.14, 0.79] can't tell yet  2.8k  −10% (less)
  duration 0.25 s → 0.25 s
  turns 1 → 1
  tool calls 1 → 1
  can't tell yet: the difference may be chance
  cell                            pass@1  pass@2  pass@4  pass^2  pass^4
  terse/plain/fake                0.25    0.50    1.00    0.00    0.00
  terse/with-house-greeting/fake  0.75    1.00    1.00    0.50    0.00"""
    )


def test_harnesses_have_a_lift_each_and_one_together() -> None:
    sides = {"terse/plain": "ffff", "terse/house": "pppe", "chatty/plain": "ppff", "chatty/house": "pppp"}
    assert (
        shown(evaluated(sides, harnesses=("terse", "chatty")), 80)
        == """\
error greets by name
  harness         pass    lift                                error
  terse    plain  0 of 4  ·                                   ·
  terse    house  3 of 3  +1.00 [0.25, 1.00] can't tell yet   1
  chatty   plain  2 of 4  ·                                   ·
  chatty   house  4 of 4  +0.50 [−0.10, 0.85] can't tell yet  ·
  all      house  7 of 7  +0.75 [0.27, 0.92] helped           ·
  terse: can't tell yet: a side has fewer than 4 attempts with a result
  terse: the sides' error rates differ: what is left may not be alike
  chatty: can't tell yet: the difference may be chance
  all harnesses: the sides' error rates differ: what is left may not be alike"""
    )


@pytest.mark.parametrize(
    ("sides", "lines"),
    [
        (
            {"plain": "pppp", "house": "pppp"},
            ["plain  4 of 4  ·", "house  4 of 4  +0.00 [−0.49, 0.49] can't tell yet"],
        ),
        ({"plain": "pppp", "house": "ffff"}, ["house  0 of 4  −1.00 [−1.00, −0.31] made it worse"]),
        ({"plain": "eeee", "house": "pppp"}, ["house  4 of 4  – can't tell yet  ·"]),
        ({"plain": "ffff", "house": "pppb"}, [BODY]),
    ],
)
def test_a_row_says_what_its_attempts_can_tell(sides: dict[str, str], lines: list[str]) -> None:
    text = shown(evaluated(sides), 100)
    assert all(line in text for line in lines), text


def test_identical_sides_are_told() -> None:
    text = shown(evaluated({"plain": "pppp", "house": "pppp"}, subjects={"plain": "s", "house": "s"}))
    assert "  both sides ran the very same: nothing was varied" in text.splitlines()


def test_a_lift_below_min_lift_fails_the_eval_and_is_told() -> None:
    record = evaluated({"plain": "pppp", "house": "pppp"})
    (lift,) = record.lifts
    small = structs.replace(record, lifts=[structs.replace(lift, min_lift=0.2, holds=False)])
    assert status(small) == "fail"
    assert "the lift is below min_lift 0.2" in shown(small)
    still_open = structs.replace(record, lifts=[structs.replace(lift, min_lift=0.2, undecided=True)])
    assert status(still_open) == "undecided"
    assert "could still change whether min_lift 0.2 holds" in shown(still_open)


def test_scored_evals_show_scores() -> None:
    (lift,) = evaluated(HELPED).lifts
    text = lift_text(structs.replace(lift, scored=True, lift=12.345, low=None, high=None))
    assert text == "+12.35 helped"


def test_a_lift_that_rounds_to_nothing_has_no_minus() -> None:
    (lift,) = evaluated(HELPED).lifts
    assert lift_text(structs.replace(lift, lift=-0.001, low=-0.002, high=0.0)) == "+0.00 [0.00, 0.00] helped"


def test_colors_follow_what_is_said() -> None:
    ink = Ink(color=True)
    helped = block(evaluated(HELPED), ink=ink, cells=80)
    worse = block(evaluated({"plain": "pppp", "house": "ffff"}), ink=ink, cells=80)
    assert helped[-1].startswith("\x1b[32m")
    assert any(line.startswith("\x1b[31m") and "made it worse" in line for line in worse)


@pytest.mark.parametrize("cells", [20, 30, 40, 60, 80, 120])
@pytest.mark.parametrize("name", ["with-house-greeting", "日本語" * 20, "x" * 90])
def test_no_line_is_wider_than_the_page(cells: int, name: str) -> None:
    record = evaluated({"plain": "pfffe", name: "ppppp"}, tokens={"plain": 3100, name: 12}, runs=5)
    lines = block(record, cells=cells, all_cases=True)
    assert max(map(width, lines)) <= cells


def test_hostile_names_of_checks_stay_text() -> None:
    record = evaluated(HELPED)
    hostile = structs.replace(record, lifts=[structs.replace(record.lifts[0], alike=[HOSTILE])])
    assert all(line.isprintable() for line in block(hostile, cells=80))


def test_lifts_over_several_evals_are_told_once() -> None:
    lifts = pooled({"plain": "ffpf", "house": "pppp"}, 3)
    assert pooled_lines(lifts, PLAIN, 80) == [
        "over several evals",
        "",
        "  house over plain, 3 evals  +0.75 [0.37, 0.87] helped",
    ]
    assert pooled_lines([], PLAIN, 80) == []
    assert all(width(line) <= 30 for line in pooled_lines(lifts, PLAIN, 30))


def test_the_summary_lists_lifts_and_pass_at_k() -> None:
    record = evaluated(HELPED)
    text = summary_text(structs.replace(run(record), lifts=pooled(HELPED, 2)), [])
    rows = [line for line in text.splitlines() if "| `plain` | `with-house-greeting` |" in line]
    sides = "`terse` | `plain` | `with-house-greeting`"
    assert rows == [
        f"| `2 evals` | {sides} | 0 of 8 → 8 of 8 | +1.00 | [0.51, 1.00] | helped |  |",
        f"| `evals/greet.eval.py › greets by name` | {sides} | 0 of 4 → 4 of 4 | +1.00 | [0.31, 1.00] | helped |  |",
    ]
    assert "| 1: 1.00 · 2: 1.00 · 4: 1.00 | 1: 1.00 · 2: 1.00 · 4: 1.00 |" in text


# --- pass@k -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "ks"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (100, [1, 2, 4, 8, 100])]
)
def test_few_values_of_k_are_shown(runs: int, ks: list[int]) -> None:
    assert shown_k(runs) == ks


def test_pass_at_k_of_cases_is_their_mean_over_those_with_enough_attempts() -> None:
    record = evaluated({"plain": "pf|ff|pe", "house": "pp|pp|pp"}, cases=("a", "b", "c"), runs=2)
    plain, house = cell_passes(record)
    assert (plain.at, plain.hat) == ({1: 0.5, 2: 0.5}, {1: 0.5, 2: 0.0})
    assert (house.at, house.hat) == ({1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0})


def test_one_attempt_has_no_pass_at_k() -> None:
    assert cell_passes(evaluated({"plain": "p", "house": "f"}, runs=1)) == []
    assert cell_passes(evaluated({"plain": "pe", "house": "fe"}, runs=2)) == []


@pytest.mark.parametrize(
    ("attempt", "parts"),
    [
        ("terse/plain/fake#1", ("terse/plain/fake", None)),
        ("terse/plain/fake[a-b.c]#12", ("terse/plain/fake", "a-b.c")),
    ],
)
def test_an_attempts_id_names_its_cell_and_case(attempt: str, parts: tuple[str, str | None]) -> None:
    assert split_id(attempt) == parts

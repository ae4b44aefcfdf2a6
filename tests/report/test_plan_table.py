"""The dry run, compared as whole text."""

from pathlib import Path

import pytest

from reeval.plan.build import build_plan
from reeval.report.plan_table import plan_table
from reeval.report.text import width
from reeval.schema.environment import Environment
from reeval.schema.plan import Plan, Selection
from reeval.schema.spec import CaseSpec, CompareSpec, Question, TodoSpec
from tests.plan.world import CATALOG, a_config, a_file, a_group, a_plan, an_eval

CONFIG = """
[harness.terse]
kind = "fake"
[harness.chatty]
kind = "fake"
[analysis]
model = "fake"
[profile.ci.limit]
runs = 1
harness = "terse"
"""
PLAIN, HOUSE = Environment(name="plain"), Environment(name="with-house-greeting", env={"A": "b"})
GUIDE = an_eval(
    "greets by name",
    options={"runs": 2},
    questions=(
        Question("Does greet.js handle a missing name?", choices=("yes", "no")),
        Question("How does greet.js treat a missing name?"),
    ),
)
PAIRED = an_eval(
    "greets better",
    options={"runs": 1},
    compare=CompareSpec(baseline=PLAIN, variants=(HOUSE,), min_lift=0.2),
    questions=(Question("Which greet.js handles a missing name better?", across=("environment", "harness")),),
)
OTHERS = [
    an_eval("counts", cases=tuple(CaseSpec(key=key, value=key) for key in "abc"), options={"gate": {"pass_rate": 0.8}}),
    an_eval(
        "decides",
        options={"runs": {"until_decided": 20}, "harness": "terse"},
        compare=CompareSpec(baseline=PLAIN, variants=(HOUSE,)),
    ),
    an_eval("flaky", mode="skip", skip_reason="the server is down"),
    TodoSpec(name="later", line=9),
]


def guide(root: Path) -> Plan:
    return a_plan(root, GUIDE, config=CONFIG)


def everything(root: Path, **selection) -> Plan:
    return a_plan(root, a_group("greetings", GUIDE, PAIRED), *OTHERS, config=CONFIG, **selection)


def test_the_plan_of_the_guide(tmp_path):
    assert (
        plan_table(guide(tmp_path), None)
        == """\
eval                                  harnesses  variants  runs  attempts  notes
evals/greet.eval.py › greets by name  2          —         2     4
  question 1/2  Does greet.js handle a missing name? · after each attempt · shows task, output, diff, transcript \
· each attempt · 4 attempts · yes / no · fake
  question 2/2  How does greet.js treat a missing name? · after each attempt · shows task, output, diff, transcript \
· each attempt · 4 attempts · fake

total: 4 attempts of 1 eval · 8 answers"""
    )


def test_everything_at_80_columns(tmp_path):
    assert (
        plan_table(everything(tmp_path), 80)
        == """\
eval                      harnesses  variants  runs  attempts  notes
evals/greet.eval.py ›     2          —         2     4
greetings › greets by
name
  question 1/2  Does greet.js handle a missing name? · after each attempt ·
    shows task, output, diff, transcript · each attempt · 4 attempts · yes / no
    · fake
  question 2/2  How does greet.js treat a missing name? · after each attempt ·
    shows task, output, diff, transcript · each attempt · 4 attempts · fake
evals/greet.eval.py ›     2          1         1     4         min lift 0.2
greetings › greets
better
  question 1/1  Which greet.js handles a missing name better? · after the run
    · shows task, diff · environment, harness · 4 pairs · fake
evals/greet.eval.py ›     2          —         1     6         3 cases · gate
counts                                                         pass_rate 0.8
evals/greet.eval.py ›     1          1         4–20  8–40      until decided
decides
evals/greet.eval.py ›     —          —         —     0         skipped: the
flaky                                                          server is down
evals/greet.eval.py ›     —          —         —     0         todo
later

compare: 1 a side can't tell any lift; it takes 4: evals/greet.eval.py ›
  greetings › greets better
total: at most 54 attempts of 4 evals · 8 answers · 4 pairs · 1 skipped · 1
  todo"""
    )


def test_everything_at_40_columns(tmp_path):
    assert (
        plan_table(everything(tmp_path), 40)
        == """\
evals/greet.eval.py › greetings ›
  greets by name
  harnesses 2 · runs 2 · attempts 4
  question 1/2  Does greet.js handle a
    missing name? · after each attempt ·
    shows task, output, diff, transcript
    · each attempt · 4 attempts · yes /
    no · fake
  question 2/2  How does greet.js
    treat a missing name? · after each
    attempt · shows task, output, diff,
    transcript · each attempt · 4
    attempts · fake
evals/greet.eval.py › greetings ›
  greets better
  harnesses 2 · variants 1 · runs 1 ·
    attempts 4 · min lift 0.2
  question 1/1  Which greet.js handles
    a missing name better? · after the
    run · shows task, diff ·
    environment, harness · 4 pairs ·
    fake
evals/greet.eval.py › counts
  harnesses 2 · runs 1 · attempts 6 ·
    3 cases · gate pass_rate 0.8
evals/greet.eval.py › decides
  harnesses 1 · variants 1 · runs 4–20
    · attempts 8–40 · until decided
evals/greet.eval.py › flaky
  attempts 0 · skipped: the server is
    down
evals/greet.eval.py › later
  attempts 0 · todo

compare: 1 a side can't tell any lift;
  it takes 4: evals/greet.eval.py ›
  greetings › greets better
total: at most 54 attempts of 4 evals
  · 8 answers · 4 pairs · 1 skipped · 1
  todo"""
    )


def below(table: str) -> str:
    return table.partition("\n\n")[2]


def test_what_a_profile_and_a_flag_changed_is_told_with_its_source(tmp_path):
    assert (
        below(plan_table(everything(tmp_path, profile="ci", runs=3), 80))
        == """\
harness=terse (profile ci): evals/greet.eval.py › greetings › greets by name,
  evals/greet.eval.py › greetings › greets better, evals/greet.eval.py › counts
runs=3 (--runs)
compare: 3 a side can't tell any lift; it takes 4: evals/greet.eval.py ›
  greetings › greets better, evals/greet.eval.py › decides
note: evals/greet.eval.py › greetings › greets better: question 1 is not asked
  across harness: profile ci leaves one harness
total: 24 attempts of 4 evals · 6 answers · 3 pairs · 1 skipped · 1 todo"""
    )


def test_a_value_that_only_some_evals_have_names_them(tmp_path):
    evals = [an_eval(f"e{number}", options={"runs": number}) for number in range(1, 8)]
    plan = a_plan(tmp_path, *evals, config=CONFIG, profile="ci")
    assert (
        below(plan_table(plan, None))
        == """\
harness=terse (profile ci)
runs=1 (profile ci): evals/greet.eval.py › e2, evals/greet.eval.py › e3, evals/greet.eval.py › e4 and 3 more
total: 7 attempts of 7 evals"""
    )


def test_evals_of_the_other_kind_are_counted(tmp_path):
    files = [a_file(an_eval("a", kind="scored")), a_file(an_eval("b"), path="evals/b.eval.py")]
    plan = build_plan(files, a_config(tmp_path, CONFIG), Selection(kind="pass-fail"), CATALOG)
    assert plan_table(plan, None).splitlines()[-2:] == ["left out: 1 scored eval", "total: 2 attempts of 1 eval"]


def test_the_value_of_a_variable_is_never_shown(tmp_path):
    config = CONFIG + '[profile.ci.defaults]\nenv.TOKEN = "hunter2"\n'
    table = plan_table(a_plan(tmp_path, an_eval(), config=config, profile="ci"), None)
    assert "env.TOKEN (profile ci)" in table
    assert "hunter2" not in table


COMPARE = CompareSpec(baseline=PLAIN, variants=(HOUSE,))
CASES = tuple(CaseSpec(key=f"c{number}", value=number) for number in range(12))
TELLS = [
    (3, None, None, "compare: 3 a side can't tell any lift; it takes 4"),
    (
        4,
        None,
        None,
        (
            "compare: 4 a side tell no lift with 80 % power, at a control's rate of 0.5 (a guess); "
            "only 0 of 4 against 4 of 4 can be told"
        ),
    ),
    (
        4,
        None,
        0.0,
        (
            "compare: 4 a side tell a lift from +0.95 on with 80 % power, at the control's last rate of 0.00; "
            "only 0 of 4 against 4 of 4 can be told"
        ),
    ),
    (20, None, 1.0, "compare: 20 a side tell a lift from −0.32 on with 80 % power, at the control's last rate of 1.00"),
    (
        20,
        None,
        None,
        "compare: 20 a side tell a lift from +0.39 or −0.39 on with 80 % power, at a control's rate of 0.5 (a guess)",
    ),
    (9, 5, None, "compare: 9 a side of each of 5 cases can't tell any lift; it takes 6 cases"),
    (
        4,
        12,
        0.1,
        (
            "compare: 4 a side of each of 12 cases tell a lift from +0.58 on with 80 % power, "
            "at the control's last rate of 0.10"
        ),
    ),
]


@pytest.mark.parametrize(("runs", "cases", "rate", "text"), TELLS)
def test_a_dry_run_says_which_lift_its_runs_could_show(tmp_path, runs, cases, rate, text):
    declared = an_eval(compare=COMPARE, options={"runs": runs}, cases=CASES[:cases] if cases else None)
    plan = a_plan(tmp_path, declared, config=CONFIG)
    rates = {} if rate is None else {plan.evals[0].id: rate}
    assert below(plan_table(plan, None, rates)).splitlines()[0] == f"{text}: evals/greet.eval.py › greets"


def test_compares_that_tell_the_same_share_a_line(tmp_path):
    evals = [an_eval(f"e{number}", compare=COMPARE, options={"runs": 3}) for number in range(5)]
    first = below(plan_table(a_plan(tmp_path, *evals, config=CONFIG), None)).splitlines()[0]
    assert first.startswith("compare: 3 a side")
    assert first.endswith("evals/greet.eval.py › e2 and 2 more")


def test_of_scores_and_of_runs_until_decided_no_lift_is_promised(tmp_path):
    scored = a_plan(tmp_path, an_eval(kind="scored", compare=COMPARE), config=CONFIG)
    until = a_plan(tmp_path, an_eval(compare=COMPARE, options={"runs": {"until_decided": 20}}), config=CONFIG)
    assert not any("compare:" in plan_table(plan, None) for plan in (scored, until))


HOSTILE = "a\x1b[31m\x07\nb\u202e日本語" + "x" * 100


@pytest.mark.parametrize("room", [None, 120, 80, 60, 40, 20])
def test_every_line_fits_and_holds_no_control_character(tmp_path, room):
    hostile = an_eval(HOSTILE, questions=(Question(HOSTILE),))
    skipped = an_eval("skipped", mode="skip", skip_reason=HOSTILE)
    plan = a_plan(tmp_path, a_group(HOSTILE, hostile), skipped, *OTHERS, config=CONFIG, profile="ci")
    table = plan_table(plan, room)
    lines = table.split("\n")
    assert all(line.isprintable() for line in lines)
    assert room is None or max(map(width, lines)) <= room
    assert "日本語" in table.replace("\n", "") or room is not None


@pytest.mark.parametrize("room", [None, 80, 62, 40, 20])
def test_the_name_of_an_eval_never_vanishes(tmp_path, room):
    table = plan_table(everything(tmp_path), room)
    for name in ("greets", "better", "counts", "decides", "flaky", "later"):
        assert name in table

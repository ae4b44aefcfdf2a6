"""Two compared runs, compared as a whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reeval.grade.versus.results import Versus, versus
from reeval.report.live.events import compared
from reeval.report.screen.failures import Page
from reeval.report.screen.ink import Ink
from reeval.report.text import width
from reeval.report.versus.screen import versus_screen, worse_lines
from reeval.schema.plan import PlannedHarness
from reeval.schema.record import Outcome, Totals
from tests.grade.versus.samples import EARLIER, LATER, attempt, attempts, plan, planned, run
from tests.report.records import HOSTILE, check

CELLS = ("terse/-/fake", "codex/-/fake")
EVALS = (planned("greets by name", *CELLS), planned("says goodbye", *CELLS))


def two_runs() -> Versus:
    old, new = plan(*EVALS, planned("gone")), plan(*EVALS, planned("added"))
    harness = PlannedHarness(id="terse", kind="fake", model="model-1")
    old.harnesses["terse"], new.harnesses["terse"] = harness, replace(harness, model="model-2")
    before = [
        attempts(EVALS[0], {CELLS[0]: "pppppp", CELLS[1]: "pppf"}, tokens=3000),
        attempts(EVALS[1], {CELLS[0]: "ffffff", CELLS[1]: "pp"}),
    ]
    after = [
        attempts(EVALS[0], {CELLS[0]: "ffffff", CELLS[1]: "pppeee"}, tokens=2700),
        attempts(EVALS[1], {CELLS[0]: "pppppp", CELLS[1]: "pp"}),
    ]
    return versus(
        run(EARLIER, old, *before, git_commit="a1b2c3d4e5", git_branch="main"),
        run(
            LATER,
            new,
            *after,
            git_commit="f6a7b8c9d0",
            git_branch="main",
            git_dirty=True,
            selection="-k greet",
            totals=Totals(planned=20, passed=14),
        ),
    )


def test_two_runs_at_80_columns() -> None:
    assert (
        "\n".join(versus_screen(two_runs(), Page(cells=80)))
        == """\
vs   20261129-142501-aaaa · completed · 2026-11-29 14:25 UTC · main a1b2c3d
run  20261130-142501-bbbb · completed · 2026-11-30 14:25 UTC · 14 of 20 attempts
     · main f6a7b8c and changed files · -k greet

what differs
  · harness terse: model model-1 → model-2

greets by name
              pass    error  lift
  terse  vs   6 of 6  ·      ·
         run  0 of 6  ·      −1.00 [−1.00, −0.45] made it worse
  codex  vs   3 of 4  ·      ·
         run  3 of 3  3      +0.25 [−0.35, 0.70] can't tell yet
  terse: tokens 3.0k → 2.7k  −10% (less)
  codex: tokens 3.0k → 2.7k  −10% (can't tell yet)
  codex: errors 0 of 4 → 3 of 6; rates leave them out and may mislead

says goodbye
              pass    lift
  terse  vs   0 of 6  ·
         run  6 of 6  +1.00 [0.45, 1.00] helped
  codex  vs   2 of 2  ·
         run  2 of 2  +0.00 [−0.66, 0.66] can't tell yet

all evals
             evals  lift
  terse      2      +0.00 [−0.28, 0.28] can't tell yet
  codex      2      +0.12 [−0.32, 0.52] can't tell yet
  all cells  2      +0.06 [−0.20, 0.30] can't tell yet

not compared
  · evals/greet.eval.py::added: only in run 20261130-142501-bbbb
  · evals/greet.eval.py::gone: only in run 20261129-142501-aaaa

4 cells · 1 made it worse · 1 helped · 2 can't tell yet
  · 2 can't be told yet: a side has fewer than 4 attempts with a result"""
    )


def test_two_runs_at_40_columns() -> None:
    assert (
        "\n".join(versus_screen(two_runs(), Page(cells=40)))
        == """\
vs   20261129-142501-aaaa · completed ·
     2026-11-29 14:25 UTC · main a1b2c3d
run  20261130-142501-bbbb · completed ·
     2026-11-30 14:25 UTC · 14 of 20
     attempts · main f6a7b8c and changed
     files · -k greet

what differs
  · harness terse: model model-1 →
    model-2

greets by name
              pass    error
  terse  vs   6 of 6  ·
         run  0 of 6  ·
    −1.00 [−1.00, −0.45] made it worse
  codex  vs   3 of 4  ·
         run  3 of 3  3
    +0.25 [−0.35, 0.70] can't tell yet
  terse: tokens 3.0k → 2.7k  −10%
    (less)
  codex: tokens 3.0k → 2.7k  −10%
    (can't tell yet)
  codex: errors 0 of 4 → 3 of 6; rates
    leave them out and may mislead

says goodbye
              pass
  terse  vs   0 of 6
         run  6 of 6
    +1.00 [0.45, 1.00] helped
  codex  vs   2 of 2
         run  2 of 2
    +0.00 [−0.66, 0.66] can't tell yet

all evals
             evals
  terse      2
    +0.00 [−0.28, 0.28] can't tell yet
  codex      2
    +0.12 [−0.32, 0.52] can't tell yet
  all cells  2
    +0.06 [−0.20, 0.30] can't tell yet

not compared
  · evals/greet.eval.py::added: only in
    run 20261130-142501-bbbb
  · evals/greet.eval.py::gone: only in
    run 20261129-142501-aaaa

4 cells · 1 made it worse · 1 helped
2 can't tell yet
  · 2 can't be told yet: a side has
    fewer than 4 attempts with a result"""
    )


@pytest.mark.parametrize("cells", [20, 30, 40, 60, 80, 100])
def test_no_line_is_wider_than_the_page(cells: int) -> None:
    found = two_runs()
    page = Page(cells=cells, full=True)
    assert max(map(width, [*versus_screen(found, page), *worse_lines(found, page)])) <= cells


def test_a_wide_page_shows_tokens_beside_the_lift() -> None:
    lines = versus_screen(two_runs(), Page(cells=120))
    start = lines.index("greets by name")
    assert lines[start + 1 : start + 6] == [
        "              pass    error  lift                                tokens",
        "  terse  vs   6 of 6  ·      ·                                   3.0k",
        "         run  0 of 6  ·      −1.00 [−1.00, −0.45] made it worse  2.7k  −10% (less)",
        "  codex  vs   3 of 4  ·      ·                                   3.0k",
        "         run  3 of 3  3      +0.25 [−0.35, 0.70] can't tell yet  2.7k  −10% (can't tell yet)",
    ]
    assert not any("tokens 3.0k" in line for line in lines)


def test_everything_is_shown_in_full() -> None:
    lines = versus_screen(two_runs(), Page(full=True))
    assert "  terse: duration 1.0 s → 1.0 s" in lines


def test_the_checks_that_made_a_difference_are_named_and_counted() -> None:
    one = planned()
    made = plan(one)
    labels = [f"check {number}" for number in range(5)]
    sides = [
        [
            attempt(one, "terse/-/fake", n, outcome, checks=[check(it, holds=outcome is Outcome.PASS) for it in labels])
            for n in range(1, 7)
        ]
        for outcome in (Outcome.PASS, Outcome.FAIL)
    ]
    found = versus(run(EARLIER, made, sides[0]), run(LATER, made, sides[1]))
    lines = [line for line in versus_screen(found, Page()) if "check" in line]
    assert lines == [
        "  terse: check 0 holds 6 of 6 → 0 of 6",
        "  terse: check 1 holds 6 of 6 → 0 of 6",
        "  terse: check 2 holds 6 of 6 → 0 of 6",
        "  terse: 2 more checks changed (--full)",
    ]
    assert "  terse: check 4 holds 6 of 6 → 0 of 6" in versus_screen(found, Page(full=True))
    assert len(json.loads(compared(found))["cells"][0]["checks"]) == 5


def test_what_got_worse_is_said_with_its_lift() -> None:
    assert worse_lines(two_runs(), Page()) == [
        "worse than run 20261129-142501-aaaa, so exit 1 (--fail-on worse)",
        "  · evals/greet.eval.py::greets by name@terse/-/fake  −1.00 [−1.00, −0.45] made it worse",
    ]


def test_nothing_worse_says_nothing() -> None:
    made = plan(EVALS[0])
    side = attempts(EVALS[0], {CELLS[0]: "pp"})
    assert worse_lines(versus(run(EARLIER, made, side), run(LATER, made, side)), Page()) == []


def test_runs_that_ran_the_same_say_so() -> None:
    made = plan(EVALS[0])
    side = attempts(EVALS[0], {CELLS[0]: "pp"})
    lines = versus_screen(versus(run(EARLIER, made, side), run(LATER, made, side)), Page())
    assert ("  · nothing that is recorded: a difference in results is chance, or what a provider changed") in lines


def test_scored_runs_show_mean_scores_and_how_many_count() -> None:
    one = planned(kind="scored")
    made = plan(one)
    sides = [
        run(id, made, [attempt(one, "terse/-/fake", n, Outcome.SCORED, score=base + n / 10) for n in range(1, 7)])
        for id, base in ((EARLIER, 1), (LATER, 3))
    ]
    lines = versus_screen(versus(sides[0], sides[1]), Page())
    start = lines.index("greets")
    assert lines[start : start + 4] == [
        "greets",
        "              score     lift",
        "  terse  vs   1.35 (6)  ·",
        "         run  3.35 (6)  +2.00 [1.76, 2.24] helped",
    ]


def test_many_evals_show_what_can_be_told_first_and_count_the_rest() -> None:
    evals = [planned(f"eval {number}") for number in range(60)]
    made = plan(*evals)
    told = {"eval 50": "ffff", "eval 55": "ffff"}
    old = run(EARLIER, made, *(attempts(one, "pppp") for one in evals))
    new = run(LATER, made, *(attempts(one, told.get(one.name, "pppp")) for one in evals))
    lines = versus_screen(versus(old, new), Page())
    names = [line for line in lines if line.startswith("eval ")]
    assert names[:4] == ["eval 50", "eval 55", "eval 0", "eval 1"]
    assert len(names) == 40
    assert "… 20 more evals of which nothing can be told yet (--full)" in lines
    assert "  · if nothing changed, up to 3 cells would still be told by chance: see all evals" in lines
    full = versus_screen(versus(old, new), Page(full=True))
    assert len([line for line in full if line.startswith("eval ")]) == 60


def test_colors_follow_what_is_said_and_change_no_text() -> None:
    found = two_runs()
    plain, colored = (versus_screen(found, Page(cells=80, ink=Ink(color=color))) for color in (False, True))
    assert any("\x1b[31m−1.00 [−1.00, −0.45] made it worse\x1b[0m" in line for line in colored)
    assert any("\x1b[32m+1.00 [0.45, 1.00] helped\x1b[0m" in line for line in colored)
    for code in ("\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"):
        colored = [line.replace(code, "") for line in colored]
    assert colored == plain


def test_hostile_text_is_escaped() -> None:
    one = planned(HOSTILE)
    old, new = (plan(one, harnesses={"terse": PlannedHarness(id="terse", kind=kind)}) for kind in ("a", HOSTILE))
    sides = [
        run(id, made, attempts(one, "pppp" if id == EARLIER else "ffff", model=HOSTILE), selection=HOSTILE)
        for id, made in ((EARLIER, old), (LATER, new))
    ]
    found = versus(sides[0], sides[1])
    for cells in (None, 40):
        text = "".join([*versus_screen(found, Page(cells=cells)), *worse_lines(found, Page(cells=cells))])
        assert text.isprintable()


def test_the_event_for_programs_is_json_with_everything() -> None:
    data = json.loads(compared(two_runs()))
    assert (data["event"], data["vs"], data["run"]) == ("compared", EARLIER, LATER)
    assert data["worse"] == ["evals/greet.eval.py::greets by name@terse/-/fake"]
    assert data["differences"] == ["harness terse: model model-1 → model-2"]
    assert data["not_compared"][0] == {"what": "evals/greet.eval.py::added", "why": f"only in run {LATER}"}
    assert [it["cell"] for it in data["pooled"]] == [*CELLS, None]
    first = data["cells"][0]
    assert (first["eval"], first["cell"]) == ("evals/greet.eval.py::greets by name", "terse/-/fake")
    lift = first["lift"]
    assert [lift[name] for name in ("lift", "said", "control_passed", "control_decided", "variant_decided")] == [
        -1.0,
        "made it worse",
        6,
        6,
        6,
    ]
    assert lift["measures"][0]["relative"] < 0

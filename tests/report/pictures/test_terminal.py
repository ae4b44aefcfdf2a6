"""Lifts in a terminal, compared as a whole."""

from __future__ import annotations

import re

import pytest

from reeval.report.pictures.terminal import no_lifts_lines, plot_lines
from reeval.report.screen.ink import PLAIN, Ink
from reeval.report.text import width
from tests.report.pictures.samples import OPEN, WORSE, drawn, lift
from tests.report.records import HOSTILE


def plot(picture: object = None, cells: int | None = 80, *, unicode: bool = True) -> str:
    lines = plot_lines(picture or drawn(), ink=PLAIN, cells=cells, unicode=unicode)  # type: ignore[arg-type]
    return "\n".join(lines)


def test_a_wide_terminal_shows_a_lift_on_one_line() -> None:
    assert (
        plot(cells=120)
        == """\
Lift over plain
pass rate of the variant minus the control's, with its 95 % interval

                                 −1    −0.5     0     +0.5    +1
house · 2 evals · all harnesses                 │  ├────▲───┤     +0.55 [0.20, 0.80] ▲ helped
house · greets by name · scribe                 │    ├─────────▲  +1.00 [0.31, 1.00] ▲ helped
terse · greets by name · scribe     ├──▼─────┤  │                 −0.62 [−0.83, −0.21] ▼ made it worse · below min_lift
terse · adds · scribe                 ├─────○───┼──┤              −0.25 [−0.70, 0.20] ○ can't tell yet
copy · adds · codex                       ├─────○─────┤           0.00 [−0.42, 0.42] ○ can't tell yet · nothing varied
house · installs · scribe                       │                 nothing decided ○ can't tell yet"""
    )


def test_80_columns() -> None:
    assert (
        plot()
        == """\
Lift over plain
pass rate of the variant minus the control's, with its 95 % interval

  −1      −0.5       0       +0.5      +1
house · 2 evals · all harnesses
                     │   ├─────▲────┤      +0.55 [0.20, 0.80] ▲ helped
house · greets by name · scribe
                     │     ├────────────▲  +1.00 [0.31, 1.00] ▲ helped
terse · greets by name · scribe · below min_lift
     ├───▼───────┤   │                     −0.62 [−0.83, −0.21] ▼ made it worse
terse · adds · scribe
        ├───────○────┼───┤                 −0.25 [−0.70, 0.20] ○ can't tell yet
copy · adds · codex · nothing varied
             ├───────○───────┤             0.00 [−0.42, 0.42] ○ can't tell yet
house · installs · scribe
                     │                     nothing decided ○ can't tell yet"""
    )


def test_40_columns() -> None:
    assert (
        plot(cells=40)
        == """\
Lift over plain
pass rate of the variant minus the
control's, with its 95 % interval

  −1     −0.5       0      +0.5      +1
house · 2 evals · all harnesses
  +0.55 [0.20, 0.80] ▲ helped
                    │   ├─────▲───┤
house · greets by name · scribe
  +1.00 [0.31, 1.00] ▲ helped
                    │     ├───────────▲
terse · greets by name · scribe
  −0.62 [−0.83, −0.21] ▼ made it worse ·
  below min_lift
     ├───▼──────┤   │
terse · adds · scribe
  −0.25 [−0.70, 0.20] ○ can't tell yet
       ├────────○───┼───┤
copy · adds · codex
  0.00 [−0.42, 0.42] ○ can't tell yet ·
  nothing varied
            ├───────○───────┤
house · installs · scribe
  nothing decided ○ can't tell yet
                    │"""
    )


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert (
        plot(unicode=False)
        == """\
Lift over plain
pass rate of the variant minus the control's, with its 95 % interval

  -1      -0.5       0       +0.5      +1
house - 2 evals - all harnesses
                     |   [-----^----]      +0.55 [0.20, 0.80] ^ helped
house - greets by name - scribe
                     |     [------------^  +1.00 [0.31, 1.00] ^ helped
terse - greets by name - scribe - below min_lift
     [---v-------]   |                     -0.62 [-0.83, -0.21] v made it worse
terse - adds - scribe
        [-------o----+---]                 -0.25 [-0.70, 0.20] o can't tell yet
copy - adds - codex - nothing varied
             [-------o-------]             0.00 [-0.42, 0.42] o can't tell yet
house - installs - scribe
                     |                     nothing decided o can't tell yet"""
    )


def test_what_has_no_terminal_is_never_cut() -> None:
    name = "a name that is " + "long " * 30
    text = plot(drawn((name, lift())), None)
    assert f"house · {name.strip()}" in text
    assert text.splitlines()[3].split() == ["−1", "−0.5", "0", "+0.5", "+1"]


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("cells", [*range(20, 60), 79, 80, 100, 130, 200])
def test_no_line_is_wider_than_the_terminal(cells: int, unicode: bool) -> None:
    picture = drawn(
        ("greets", WORSE), (HOSTILE, lift(HOSTILE)), ("名前" * 40, lift(numbers=(-12.25, -1234.0, 99.0), scored=True)),
        ("both", lift(flags=["identical"], holds=False)), *[("adds", OPEN)] * 50,
    )  # fmt: skip
    for line in plot(picture, cells, unicode=unicode).splitlines():
        assert width(line) <= cells
        assert line.isascii() or unicode
        assert line.isprintable()
        assert line == line.rstrip()


@pytest.mark.parametrize("cells", [20, 40, 80, 120])
def test_zero_stands_below_its_number_in_every_bar(cells: int) -> None:
    lines = plot(cells=cells).splitlines()
    zero = next(line for line in lines if line.endswith("+1")).index(" 0 ") + 1
    assert sum(len(line) > zero and line[zero] in "│┼○" for line in lines) == 6


def test_color_is_only_added() -> None:
    colored = "\n".join(plot_lines(drawn(), ink=Ink(color=True), cells=80))
    assert re.sub(r"\x1b\[\d+m", "", colored) == plot()
    assert "\x1b[32m+1.00 [0.31, 1.00] ▲ helped\x1b[0m" in colored
    assert "\x1b[31m−0.62 [−0.83, −0.21] ▼ made it worse\x1b[0m" in colored


def test_an_interval_that_is_a_point_is_its_mark() -> None:
    axis = plot(drawn(("adds", lift(numbers=(1.0, 1.0, 1.0)))), 40).splitlines()[-1]
    assert axis == " " * 20 + "│" + " " * 17 + "▲"


def test_more_lifts_are_counted() -> None:
    assert plot(drawn(*[("adds", OPEN)] * 45)).splitlines()[-2:] == ["", "… 5 more lifts"]


def test_without_lifts_it_says_so_and_how_to_get_one() -> None:
    assert no_lifts_lines("20261130-142501-x7f3", 80) == [
        "run 20261130-142501-x7f3 has no lifts: none of its evals compares anything",
        "to get one, write @compare(variants=[…]) above an eval and run it, with 4 runs a",
        "side or more",
        "or hold the whole run against an earlier one: reeval show 20261130-142501-x7f3",
        "--vs RUN",
    ]
    for line in no_lifts_lines("20261130-142501-x7f3", 40, unicode=False):
        assert line.isascii()
        assert width(line) <= 40
